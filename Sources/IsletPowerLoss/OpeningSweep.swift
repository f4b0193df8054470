import Glibc
import IsletJournal

/// Loses what was committed without a sync, stops the opening that follows at each of its calls, and lets another process
/// open the folder: in the same run of the machine, or after the power failed again.
///
/// What is true of the folder because of the first loss, such as that its snapshot may be ahead of its journal (as one of an
/// earlier release may be), must outlast every opening that did not come to its end, and every one that did but whose process
/// was killed then.
package struct OpeningSweep: Sendable {
    package var seed: UInt64
    /// Whether somebody has taken the state's file away before, so that it is made again; each second time its log stays.
    package var removesState = false
    /// How many folders are lost; each loses something else.
    package var losses = 2
    /// Where folders are made.
    package var directory = LossCampaign.temporaryDirectory

    package init(seed: UInt64) {
        self.seed = seed
    }

    /// A segment is full, and with it synced: what replaces a state's file.
    private static let before: [Life.Step] = [.piece(endsRound: true), .fillingBatch]
    /// The snapshot is synced, with the batches that it shows; the last one is not.
    private static let run: [Life.Step] = [
        .piece(endsRound: true), .batch, .batch, .piece(endsRound: true), .batch, .batch, .piece(endsRound: false), .batch,
        .piece(endsRound: true), .batch, .stop,
    ]

    package func run() async throws(LossCampaign.Failure) -> LossTally {
        do {
            return try await LossCampaign.inFolder(of: directory, keepsFailures: true) { folder in
                var tally = LossTally()
                for number in 0..<losses {
                    let path = "\(folder)/\(number)"
                    guard mkdir(path, 0o700) == 0 else { throw LifeFailure("cannot make \(path): error \(errno)") }
                    tally.add(try await sweep(path, seed: seed &+ UInt64(number)))
                }
                return tally
            }
        } catch {
            throw LossCampaign.Failure(seed: seed, message: "\(error)")
        }
    }

    private func sweep(_ folder: String, seed: UInt64) async throws -> LossTally {
        var life = Life(seed: seed, directory: folder) { plan in
            plan.sync = .normal
            plan.retentionBytes = .max
            (plan.fault, plan.syncDelay, plan.hasLargePieces) = (nil, 0, false)
        }
        let disk = try life.makeDisk()
        try await life.run(on: disk, isRestart: false, .steps((removesState ? Self.before : []) + Self.run))
        let lost = try life.loseFolder(disk)
        if removesState {
            unlink("\(lost.path)/state.db")
            if seed % 2 == 0 { unlink("\(lost.path)/state.db-wal") }
            // Its snapshot went with it, and to `verify` it is not whole until it was opened.
            (life.promise.piece, life.live.piece, life.wasOpen) = (0, 0, false)
        }
        let made = CrashDisk(path: lost.path, seed: seed)
        var tally = life.tally
        life.tally = LossTally()
        var call = 1
        while true {
            let isDone = try await stop(life, made, at: call, failsAgain: false)
            tally.add(isDone.tally)
            tally.add(try await stop(life, made, at: call, failsAgain: true).tally)
            if isDone.isDone { return tally }
            call += 1
        }
    }

    /// - Returns: Whether the opening came to its end before that call.
    private func stop(
        _ first: Life, _ made: CrashDisk, at call: Int, failsAgain: Bool
    ) async throws -> (isDone: Bool, tally: LossTally) {
        var life = first
        life.directory += failsAgain ? "/call \(call), again" : "/call \(call)"
        try life.make(life.directory)
        var disk = try life.copyFolder(made)
        do {
            disk.stop(at: call)
            let isDone = try life.open(disk, Progress(), isRestart: false) != nil
            life.tally.kills += 1
            if failsAgain {
                disk = try life.loseFolder(disk)
            } else {
                disk.restart()
            }
            // Twice: who opens it is killed, and everything is as it was.
            for isRestart in [!failsAgain, true] {
                disk.stop(at: .max)
                guard try life.open(disk, Progress(), isRestart: isRestart) != nil else {
                    throw LifeFailure("a disk stopped that goes on")
                }
            }
            try await life.run(on: disk, isRestart: true, .steps([.batch, .piece(endsRound: false), .stop]))
            disk.restart()
            try await life.run(on: disk, isRestart: true, .steps([.batch, .piece(endsRound: true), .batch]))
            try life.verify(disk.path)
            try await life.run(on: try life.loseFolder(disk), isRestart: false, .steps([]))
            LossCampaign.remove(life.directory)
            return (isDone, life.tally)
        } catch {
            throw LifeFailure("opening stopped at call \(call)\(failsAgain ? ", then power lost" : ""): \(error)")
        }
    }
}
