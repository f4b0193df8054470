import ZeroMQ

/// Connections that stand and lead nowhere, such as through a proxy whose other side is gone: TCP itself never tells,
/// and another one may be well. So each by which nothing comes though something is waited for is made anew.
extension ConnectionLoop {
    /// So long a connection may be silent, though something is waited for.
    static let longestSilence = Duration.seconds(15)
    /// Some commands take longer, such as a backup. So the service is asked meanwhile whether it is there, and has from
    /// here on.
    static let probeAfter = Duration.seconds(10)

    /// When ``mendSilentConnections(_:)`` has something to do.
    var silenceEnd: ContinuousClock.Instant? {
        [
            isProbing ? nil : commands.silentSince.map { $0 + Self.probeAfter },
            bulk.silentSince.map { $0 + Self.longestSilence }, deafSince.map { $0 + Self.longestSilence },
        ].compactMap(\.self).min()
    }

    /// Does what the silence of each connection asks for.
    func mendSilentConnections(_ now: ContinuousClock.Instant) {
        if !isProbing, let since = commands.silentSince, since + Self.probeAfter <= now { probe(now) }
        if let since = bulk.silentSince, since + Self.longestSilence <= now { bulk.reconnect(now: now) }
        // Nobody waits for the answer to a join any more.
        if readers.isEmpty { deafSince = nil }
        if let since = deafSince, since + Self.longestSilence <= now {
            deafSince = now
            subscription.giveUp(now: now)
            perform(table.disconnected(now: now))
        }
    }

    private func probe(_ now: ContinuousClock.Instant) {
        switch begin(Command("service.ping"), timeout: Self.longestSilence - Self.probeAfter) {
        case .failure: commands.reconnect(now: now)
        case .success(let (req, frame)):
            isProbing = true
            waiters[req] = .probe
            commands.send(.init(frames: [frame], requests: [req]))
        }
    }

    /// What came of that. Any other answer would do, too, and so does a connection that was made meanwhile.
    func probed(_ result: Result<Answer, IsletError>) {
        isProbing = false
        let now = ContinuousClock.now
        guard case .failure(.timedOut) = result, let since = commands.silentSince, since + Self.longestSilence <= now
        else { return }
        commands.reconnect(now: now)
    }
}
