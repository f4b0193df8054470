extension Partition {
    /// The connections of these peers have ended: what they have sent is answered to nobody, since the next connection of
    /// the same name may be that of another process, which would take it for the answer to its own. It is executed all
    /// the same.
    package func endAnswers(to peers: Set<Peer>) {
        outbound.removeMessages(to: peers)
        flights.removeMessages(to: peers)
        heldAnswers.forget(peers)
        for message in waiting where peers.contains(message.answer.peer) { message.answer.abandon() }
        for line in resting where peers.contains(line.peer) {
            for message in line.messages { message.answer.abandon() }
        }
        if let answer = bulkRest?.answer, peers.contains(answer.peer) { answer.abandon() }
        for job in jobs + (clockTravel.map { [$0.job] } ?? []) where peers.contains(job.peer) {
            job.answer?.message.abandon()
        }
    }
}
