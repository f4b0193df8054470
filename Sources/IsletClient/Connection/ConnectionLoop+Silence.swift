import ZeroMQ

/// Connections that stand and lead nowhere, such as through a proxy whose other side is gone: TCP itself never tells,
/// and another one may be well. So each by which nothing comes though something is waited for is made anew.
extension ConnectionLoop {
    /// So long a connection may be silent at first, though something is waited for.
    static let shortestSilence = Duration.seconds(15)
    /// Doubled with each connection in a row that has brought nothing, up to here: by a slow one a large answer, behind which
    /// that to a ping stands, takes longer to come in.
    static let longestSilence = Duration.seconds(240)
    /// Some commands take longer, such as a backup. So the service is asked meanwhile whether it is there, and has so long.
    static let probeTime = Duration.seconds(5)

    /// When ``mendSilentConnections(_:)`` has something to do.
    var silenceEnd: ContinuousClock.Instant? {
        [
            isProbing ? nil : commands.silentSince.map { $0 + commandsSilence - Self.probeTime },
            bulk.silentSince.map { $0 + bulkSilence }, deafSince.map { $0 + Self.shortestSilence },
        ].compactMap(\.self).min()
    }

    /// Does what the silence of each connection asks for.
    func mendSilentConnections(_ now: ContinuousClock.Instant) {
        if !isProbing, let since = commands.silentSince, since + commandsSilence - Self.probeTime <= now { probe(now) }
        if let since = bulk.silentSince, since + bulkSilence <= now {
            bulkSilence = min(bulkSilence * 2, Self.longestSilence)
            bulk.reconnect(now: now)
        }
        // Nobody waits for the answer to a join any more.
        if readers.isEmpty { deafSince = nil }
        if let since = deafSince, since + Self.shortestSilence <= now {
            deafSince = now
            subscription.giveUp(now: now)
            perform(table.disconnected(now: now))
        }
    }

    private func probe(_ now: ContinuousClock.Instant) {
        switch begin(Command("service.ping"), timeout: Self.probeTime) {
        case .failure: giveCommandsUp(now)
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
        guard case .failure(.timedOut) = result, let since = commands.silentSince, since + commandsSilence <= now
        else { return }
        giveCommandsUp(now)
    }

    private func giveCommandsUp(_ now: ContinuousClock.Instant) {
        commandsSilence = min(commandsSilence * 2, Self.longestSilence)
        commands.reconnect(now: now)
    }
}
