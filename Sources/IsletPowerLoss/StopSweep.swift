import Glibc
import IsletJournal
import Synchronization

/// Kills the same run of a journal at each of its calls, lets another process open the folder, and lets the power fail
/// at many calls of that: what was read must not depend on what was not synced.
///
/// Chance finds this rarely: the kill must fall between the write and the sync of one transaction, and the power must
/// fail before the next sync of the same file.
package struct StopSweep: Sendable {
    package var seed: UInt64
    /// Whether commits are synced (`sync=full`).
    package var syncsCommits = true
    /// Whether it is killed at syncs alone: then most is there that was never synced.
    package var isAtSyncs = false
    /// Of a hundred calls with which another process opens the folder, so many are met by a loss of power.
    package var share = 60
    /// Where folders are made.
    package var directory = LossCampaign.temporaryDirectory

    package init(seed: UInt64) {
        self.seed = seed
    }

    /// Three full segments and a closed folder; nothing is trimmed.
    private static let before: [Life.Step] = [
        .piece(endsRound: true), .batch, .fillingBatch, .piece(endsRound: false), .batch, .fillingBatch,
        .piece(endsRound: true), .fillingBatch, .piece(endsRound: false), .batch,
    ]
    /// Everything that may be is trimmed, twice, and segments are made and filled.
    private static let run: [Life.Step] = [
        .piece(endsRound: false), .batch, .fillingBatch, .piece(endsRound: true), .batch, .piece(endsRound: false),
        .fillingBatch, .piece(endsRound: true), .batch,
    ]

    package func run() async throws(LossCampaign.Failure) -> LossTally {
        do {
            return try await LossCampaign.inFolder(of: directory, keepsFailures: true) { folder in
                try await sweep(folder)
            }
        } catch {
            throw LossCampaign.Failure(seed: seed, message: "\(error)")
        }
    }

    private func sweep(_ folder: String) async throws -> LossTally {
        var first = Life(seed: seed, directory: folder) { plan in
            plan.sync = syncsCommits ? .full : .normal
            plan.segmentBytes = 48 << 10
            plan.retentionBytes = .max
            (plan.fault, plan.syncDelay, plan.hasLargePieces) = (nil, 0, false)
        }
        try await first.run(on: first.makeDisk(), isRestart: false, .steps(Self.before))
        // All of it is durable: each run begins with the same files, and its calls are the same.
        let made = CrashDisk(path: first.path(1), seed: seed)
        guard first.isClosed else { throw LifeFailure("the folder to begin with was not closed") }
        first.plan.retentionBytes = 0
        var tally = first.tally
        first.tally = LossTally()
        for call in try await calls(first, made) {
            var (life, disk) = try begin(first, made, seed: seed &+ UInt64(call))
            disk.stop(at: call)
            try await life.run(on: disk, isRestart: false, .steps(Self.run))
            do {
                // The very last calls need not be the same.
                if disk.isStopped { try await goOn(&life, on: disk) }
            } catch {
                throw LifeFailure("killed at call \(call): \(error)")
            }
            tally.add(life.tally)
            LossCampaign.remove(disk.path)
        }
        return tally
    }

    /// The calls of a run that nobody kills.
    private func calls(_ first: Life, _ made: CrashDisk) async throws -> [Int] {
        let calls = CallList()
        var (life, disk) = try begin(first, made, seed: seed)
        disk.watch { isSync in calls.list.withLock { $0.append(isSync) } }
        try await life.run(on: disk, isRestart: false, .steps(Self.run))
        disk.watch(nil)
        LossCampaign.remove(disk.path)
        return calls.list.withLock { list in list.indices.filter { !isAtSyncs || list[$0] }.map { $0 + 1 } }
    }

    /// A copy of the folder. The steps are the same each time; what survives is not.
    private func begin(_ first: Life, _ made: CrashDisk, seed: UInt64) throws -> (Life, CrashDisk) {
        var life = first
        life.dice = Dice(seed: seed)
        let disk = try life.loseFolder(made)
        life.dice = Dice(seed: self.seed)
        return (life, disk)
    }

    private final class CallList: Sendable {
        /// Whether each was a sync.
        let list = Mutex<[Bool]>([])
    }

    // MARK: After the kill

    /// As often when the folder is open: others look at that.
    private static let shareOfWork = 2

    /// Folders of machines whose power failed while a process went on.
    private final class Survivors: Sendable {
        struct Found {
            var paths: [(path: String, call: Int)] = []
            var losses: [CrashDisk.Losses] = []
            var dice: Dice
            var failure: LifeFailure?
            var calls = 0
            var share: Int
        }

        let found: Mutex<Found>

        init(_ dice: Dice, share: Int) {
            found = Mutex(Found(dice: dice, share: share))
        }

        /// Perhaps one more.
        func look(at disk: CrashDisk) {
            found.withLock { found in
                found.calls += 1
                guard found.dice.below(100) < found.share, found.failure == nil else { return }
                let path = "\(disk.path)-\(found.calls)"
                do throws(LifeFailure) {
                    guard mkdir(path, 0o700) == 0 else { throw LifeFailure("cannot make \(path): error \(errno)") }
                    found.losses.append(try disk.survive(into: path))
                    found.paths.append((path, found.calls))
                } catch {
                    found.failure = error
                }
            }
        }
    }

    /// Another process opens what was left, and begins its work; the power fails meanwhile.
    private func goOn(_ life: inout Life, on disk: CrashDisk) async throws {
        disk.restart()
        life.tally.kills += 1
        let survivors = Survivors(Dice(seed: seed &+ UInt64(disk.calls)), share: share)
        // The disk holds this until it goes.
        disk.watch { [unowned disk] _ in survivors.look(at: disk) }
        var opened = life
        let progress = Progress()
        guard let store = try opened.open(disk, progress, isRestart: true) else {
            throw LifeFailure("a disk stopped that goes on")
        }
        let callsOfOpening = survivors.found.withLock { found in
            found.share = Self.shareOfWork
            return found.calls
        }
        progress.begin(after: opened.ledger.lastBatch)
        let journal = try store.startJournal(after: opened.ledger.lastBatch, report: progress.report)
        try await opened.follow([.piece(endsRound: true), .batch], store, journal, progress, disk)
        await journal.close()
        disk.watch(nil)
        life.tally.openings += 1

        let (paths, losses, failure) = survivors.found.withLock { ($0.paths, $0.losses, $0.failure) }
        if let failure { throw failure }
        for (survivor, loss) in zip(paths, losses) {
            life.tally.add(loss)
            life.tally.stoppedOpenings += survivor.call <= callsOfOpening ? 1 : 0
            do {
                try check(survivor.path, survivor.call <= callsOfOpening ? life : opened)
            } catch {
                throw LifeFailure("power lost before call \(survivor.call) of \(callsOfOpening) of opening: \(error)")
            }
            life.tally.openings += 1
            LossCampaign.remove(survivor.path)
        }
    }

    /// The machine was switched on again.
    private func check(_ path: String, _ life: Life) throws {
        var life = life
        (life.boot, life.lostPower) = (life.boot + 1, true)
        try life.verify(path)
        let disk = CrashDisk(path: path, seed: seed)
        guard try life.open(disk, Progress(), isRestart: false) != nil else {
            throw LifeFailure("a disk stopped that goes on")
        }
    }
}
