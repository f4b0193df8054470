import IsletJournal

/// Closes a journal whose commits are not synced (`sync=normal`) while the disk is full for one call, or two, or more; then
/// the power fails. A folder that says that it was closed must have everything.
package struct GoodbyeSweep: Sendable {
    package var seed: UInt64
    /// Times for each number of calls; each time something else is lost.
    package var losses = 8
    /// Where folders are made.
    package var directory = LossCampaign.temporaryDirectory

    package init(seed: UInt64) {
        self.seed = seed
    }

    /// More calls than a goodbye has.
    private static let maximumCalls = 12

    package func run() async throws(LossCampaign.Failure) -> LossTally {
        do {
            return try await LossCampaign.inFolder(of: directory, keepsFailures: true) { folder in
                var life = Life(seed: seed, directory: folder) { plan in
                    plan.sync = .normal
                    // None becomes full: making the next one, or its own sync, would take the place of the goodbye too.
                    plan.segmentBytes = 64 << 20
                    (plan.fault, plan.syncDelay, plan.hasLargePieces) = (.noSpace, 0, false)
                }
                var disk = try life.makeDisk()
                for calls in 0...Self.maximumCalls {
                    for _ in 0..<losses {
                        // The piece comes after a segment was made ahead, which would take the place of the goodbye.
                        let steps: [Life.Step] = [.piece(endsRound: true), .batch, .batch, .fullDisk(calls: calls)]
                        try await life.run(on: disk, isRestart: false, .steps(steps))
                        if calls == 0, !life.isClosed { throw LifeFailure("there was room, and it said no goodbye") }
                        if calls == 1, life.isClosed { throw LifeFailure("what was not synced was said to be") }
                        disk = try life.loseFolder(disk)
                    }
                }
                return life.tally
            }
        } catch {
            throw LossCampaign.Failure(seed: seed, message: "\(error)")
        }
    }
}
