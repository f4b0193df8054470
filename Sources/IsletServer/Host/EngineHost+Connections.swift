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

    private func watchConnections(of bound: ServiceSockets.Bound) -> Bool {
        for _ in 0..<Self.changesPerTurn {
            guard let change = sockets.monitors.next(bound, into: &change) else { return false }
            switch change {
            case .accepted(let descriptor):
                if bound == .events { subscriptions.lost(descriptor) }
                if !connections.accepted(descriptor, at: bound.rawValue) { _ = kickPeer(descriptor: descriptor) }
            case .lost(let descriptor):
                if bound == .events { subscriptions.lost(descriptor) }
                connections.lost(descriptor, at: bound.rawValue)
            }
        }
        return true
    }

    /// Counts the subscription that was received; false: its peer is cut, and nothing comes of it.
    func isWithinLimits() -> Bool {
        // The end of a connection's subscriptions is nobody's.
        guard let descriptor = received.sourceDescriptor else { return true }
        // Its number may have been another connection's before.
        _ = watchConnections(of: .events)
        let size = received.count - 1
        let (isStart, isEnd) = received.withUnsafeBytes { ($0.first == 1, $0.first == 0) }
        if isEnd { subscriptions.unsubscribed(descriptor, bytes: size) }
        guard isStart else { return true }
        let wasCut = subscriptions.isCut(descriptor)
        let isWithin = subscriptions.subscribed(descriptor, bytes: size)
        if !isWithin, !wasCut { _ = kickPeer(descriptor: descriptor) }
        return isWithin
    }
}
