import IsletCore
import IsletJournal
import IsletProtocol

/// What waits for room on the disk: reads do not wait for it, and changes that are not going to happen, since the service
/// stops, are told to those who asked for them.
extension Partition {
    /// Refuses the reads whose answers wait for a commit, as they may show something of it.
    func refuseWaitingReads() {
        for flight in flights.waiting {
            for parts in flight.outbound.takeReads() {
                let frames = flight.outbound.writer.withSpan { bytes in
                    parts.map { bytes.extracting($0.range).withUnsafeBytes { Array($0) } }
                }
                refuse(frames, .diskFull)
            }
        }
    }

    /// Lets an answer wait for room with the batch of which it shows something.
    func withhold(_ answer: PendingAnswer) {
        guard heldAnswers.admit(answer) else { return }
        if let flight = flights.waiting(for: answer.shows) { return flight.outbound.add(answer, with: flight.batch.number) }
        leaveNow()
        outbound.add(answer, with: batch.number)
        guard !batch.isEmpty else { return flights.hold(flights.board(&outbound)) }
        batch.usesReserve = true
        flights.hold(closeFlight())
    }

    /// Gives up what the journal was never given, since it cannot write what it has.
    func refuseUncommitted() {
        hasGivenUp = true
        flights.hold(batch.isEmpty ? flights.board(&outbound) : closeFlight())
        refuseHeld()
    }

    /// Gives up what was never handed to the journal. What was may be there at the next start or not: nobody knows, and it
    /// gets no answer, nor does a message with a command that was executed before.
    func refuseHeld() {
        for flight in flights.takeAllHeld() {
            let parts = flight.outbound.parts
            flight.outbound.writer.withSpan { bytes in
                var first = 0
                while first < parts.count {
                    var last = first
                    while parts[last].more { last += 1 }
                    if parts[first].destination == .commands {
                        let frames = parts[first...last].map { bytes.extracting($0.range).withUnsafeBytes { Array($0) } }
                        if !flight.outbound.mayBeExecutedBefore(frames) { refuse(frames, .stopping) }
                    }
                    first = last + 1
                }
            }
        }
    }

    /// Answers a message's commands again, as refused.
    ///
    /// - Parameter frames: Routing id, envelope, answers.
    private func refuse(_ frames: [[UInt8]], _ reason: Refusal.Unavailable) {
        var route = 1
        if frames.count > 1, frames[1].isEmpty { route = 2 }
        if frames.count > 2, frames[1].count == 4, frames[2].isEmpty { route = 3 }
        for frame in frames.prefix(route) { outbound.add(copying: frame, to: .commands, more: true) }
        for frame in frames.dropFirst(route) {
            var envelope = Envelope()
            envelope.req = PendingAnswer.req(of: frame)
            let start = outbound.beginFrame()
            outbound.writer.refused(envelope, frame.span, .unavailable(reason))
            outbound.endFrame(from: start, to: .commands, more: true)
        }
        outbound.endMessage()
    }
}
