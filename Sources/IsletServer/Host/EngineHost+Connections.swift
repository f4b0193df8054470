import ZeroMQ

/// Connections and subscriptions are counted, and who has one too many is cut.
extension EngineHost {
    /// How many changes of one socket's connections a turn looks at.
    private static let changesPerTurn = 4_096

    /// Takes what the sockets tell of their connections, and shuts those that are too many; true where more may wait.
    func watchConnections() -> Bool {
        var isBusy = false
        for bound in ServiceSockets.Bound.allCases where watchConnections(of: bound) { isBusy = true }
        return isBusy
    }

    func watchConnections(of bound: ServiceSockets.Bound) -> Bool {
        // A ROUTER takes no second connection of a name: what is here is the former one's.
        var ended: Set<Peer> = []
        defer { if !ended.isEmpty { partition.endAnswers(to: ended) } }
        for _ in 0..<Self.changesPerTurn {
            guard let change = sockets.monitors.next(bound, into: &change) else { return false }
            switch change {
            case .accepted(let descriptor):
                if bound == .events { partition.subscriptions.lost(descriptor) }
                if !connections.accepted(descriptor, at: bound.rawValue) { _ = kickPeer(descriptor: descriptor) }
            case .lost(let descriptor):
                connections.lost(descriptor, at: bound.rawValue)
                if let peer = speakers[bound.rawValue].lost(descriptor) {
                    outbox.connectionHasEnded(descriptor, of: peer)
                    // Where this is told late, it may speak over another one by now.
                    if peer.isNamed, speakers[bound.rawValue].descriptor(of: peer) == nil { ended.insert(peer) }
                }
                if bound == .commands { partition.connectionHasEnded(descriptor) }
                if bound == .events {
                    partition.subscriptions.lost(descriptor)
                    partition.clientIsGone(Peer(subscriberAt: descriptor))
                } else if let peer = waitingPeers[bound.rawValue].removeValue(forKey: descriptor) {
                    partition.clientIsGone(peer)
                }
            }
        }
        return true
    }

    /// Notes whether the connection of the present message has ended by now.
    func noteEnd(at bound: ServiceSockets.Bound) {
        guard let descriptor = partition.inbound.connection, !connections.isOpen(descriptor, at: bound.rawValue) else { return }
        partition.inbound.connectionHasEnded()
    }

    /// Messages of peers that named themselves were received: takes notice of the connections that have ended, also of
    /// those whose names and descriptors others have by now. False where not all that ended is known.
    func knowsEnds(at bound: ServiceSockets.Bound) -> Bool { !watchConnections(of: bound) }

    /// The present message was taken. Where its connection had ended, nobody gets its answer: the next one of the name
    /// has said nothing yet.
    func endAnswersOfCutOff(at bound: ServiceSockets.Bound) {
        guard partition.inbound.isCutOff, partition.inbound.isNamed else { return }
        partition.endAnswers(to: [presentPeer(at: bound)])
    }

    private func presentPeer(at bound: ServiceSockets.Bound) -> Peer {
        Peer(destination: bound == .bulk ? .bulk : .commands, routingID: partition.inbound.frame(0))
    }

    /// Notes over which connection the peer of the present message speaks. What other connections of its name did not
    /// read is dropped, and a peer that is cut is shut.
    func noteSpeaker(at bound: ServiceSockets.Bound) {
        let descriptor = partition.inbound.connection
        let isUnknown = descriptor.map { descriptor in
            !partition.inbound.withFrame(0) { speakers[bound.rawValue].knows($0, over: descriptor) }
        }
        let isNews = isUnknown ?? false
        guard isNews || !outbox.isEmpty else { return }
        let peer = presentPeer(at: bound)
        guard isNews || outbox.holds(peer) else { return }
        // Its number may have been another connection's before, also of the same name.
        _ = watchConnections(of: bound)
        let open = descriptor.flatMap { connections.isOpen($0, at: bound.rawValue) ? $0 : nil }
        if let open {
            let ended = speakers[bound.rawValue].endedBy(peer, over: open)
            if !ended.isEmpty { partition.endAnswers(to: ended) }
            speakers[bound.rawValue].spoke(peer, over: open)
        }
        guard outbox.holds(peer) else { return }
        let cut = outbox.heard(from: peer, descriptor: open, at: partition.now.monotonic)
        if let cut { _ = kickPeer(descriptor: cut) }
    }

    /// The connection that a peer spoke over last, where it is known.
    func descriptor(of peer: Peer) -> Int32? {
        let bound: ServiceSockets.Bound
        switch peer.destination {
        case .commands: bound = .commands
        case .bulk: bound = .bulk
        case .events: return nil
        }
        return speakers[bound.rawValue].descriptor(of: peer)
    }

    /// Where something waits for the peer of the present message, notes its connection, so that its end gives that back. Of
    /// many messages that were received together not all connections are known; then it is a later one that tells.
    func noteWaiting(at bound: ServiceSockets.Bound) {
        guard partition.hasUnlocatedPeers else { return }
        let peer = presentPeer(at: bound)
        guard partition.isUnlocated(peer) else { return }
        if partition.inbound.isCutOff { return partition.clientIsGone(peer) }
        guard let descriptor = partition.inbound.connection else { return }
        // Its number may have been another connection's before.
        _ = watchConnections(of: bound)
        if connections.isOpen(descriptor, at: bound.rawValue) {
            waitingPeers[bound.rawValue][descriptor] = peer
            partition.located(peer)
        } else {
            partition.clientIsGone(peer)
        }
    }

    /// Counts the subscription that was received; false: its peer is cut, and nothing comes of it.
    func isWithinLimits() -> Bool {
        // The end of a connection's subscriptions is nobody's.
        guard let descriptor = received.sourceDescriptor else { return true }
        // Its number may have been another connection's before.
        _ = watchConnections(of: .events)
        // What a connection sent before it ended counts for nobody, and would stay counted for good.
        guard connections.isOpen(descriptor, at: ServiceSockets.Bound.events.rawValue) else { return false }
        received.withUnsafeBytes { bytes in
            let topic = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            switch bytes.first {
            case 1:
                let cut = partition.subscriptions.subscribed(descriptor, to: topic, at: partition.now.monotonic)
                if let cut { _ = kickPeer(descriptor: cut) }
            case 0: partition.subscriptions.unsubscribed(descriptor, from: topic)
            default: break
            }
        }
        return !partition.subscriptions.isCut(descriptor)
    }
}
