import Glibc
import IsletJournal

/// A data folder from its making through several losses of power and kills, with the real store, journal and SQLite.
///
/// Each run of the journal goes on until the disk stops at a drawn call, which may be in the middle of opening the
/// folder. Then either another process goes on with the folder as it is, or the power failed, and the folder is what
/// survived.
struct Life {
    /// How many runs a life has.
    static let maximumRuns = 6

    var plan: LifePlan
    /// An empty folder of its own.
    var directory: String
    var dice: Dice
    var ledger = Ledger()
    var tally = LossTally()
    /// What happened, for whoever looks into a failure.
    var history: [String] = []
    /// What must be there after loss of power.
    var promise = Ledger.Promise()
    /// What must be there after a kill; all of this somebody was told of.
    var live = Ledger.Promise()
    /// What the present run was asked, by the number of the read.
    var questions: [UInt64: Question] = [:]
    /// The run of the machine.
    var boot = 1
    /// Whether the last journal was closed and said goodbye.
    var isClosed = false
    /// Whether the power failed since the folder was open.
    var lostPower = false
    /// Whether the folder was ever open: until then it may be unfinished.
    var wasOpen = false
    private var folders = 1
    /// As the store is told of it.
    var bootID: String { "boot-\(boot)" }

    init(seed: UInt64, directory: String, _ change: (inout LifePlan) -> Void = { _ in }) {
        var dice = Dice(seed: seed)
        var plan = LifePlan(&dice)
        change(&plan)
        self.plan = plan
        self.dice = dice
        self.directory = directory
    }

    /// Lives it to its end.
    mutating func live() async throws {
        var disk = try makeDisk()
        var isRestart = false
        for number in 1...Self.maximumRuns {
            prepare(disk, isRestart: isRestart)
            try await run(on: disk, isRestart: isRestart)
            disk.stop(at: 0)
            // The kernel takes pages for clean that it could not write: after such an error only another start of the
            // machine tells what there is.
            let mayRestart = disk.failures == 0 || plan.fault != .syncError
            // Rarely twice in a row: what the first of them did not sync is to meet loss of power.
            isRestart = dice.oneIn(isRestart ? 8 : 3) && mayRestart
            history.append(
                "run \(number): batches \(ledger.lastBatch), committed \(live), on disk \(promise), closed \(isClosed), then "
                    + (isRestart ? "killed" : "power lost") + " at call \(disk.calls)")
            if isRestart {
                tally.kills += 1
                disk.restart()
            } else {
                disk = try loseFolder(disk)
            }
        }
        // One last time without any loss: everything goes on, and everything is in order.
        try await run(on: disk, isRestart: isRestart, .last)
        try verify(disk.path)
        tally.lives += 1
    }

    /// Draws when the disk stops and what fails before that.
    private mutating func prepare(_ disk: CrashDisk, isRestart: Bool) {
        if plan.ignoresSyncs { disk.ignoreSyncs() }
        if plan.syncDelay > 0 { disk.delaySyncs(microseconds: dice.below(plan.syncDelay)) }
        // Opening a new folder takes some eighty calls. Who goes on after a kill has read what was not synced: often the
        // power fails before, or just when, it is done with opening.
        let isEarly = isRestart ? !dice.oneIn(4) : dice.oneIn(3)
        disk.stop(at: isEarly ? 1 + dice.below(100) : 60 + dice.spread(bits: plan.callBits))
        if let fault = plan.fault, dice.oneIn(2) {
            let times = fault.isLack ? 1 + dice.below(40) : 1
            disk.fail(fault, at: dice.spread(bits: plan.callBits - 1), times: times)
        }
    }

    func verify(_ path: String) throws {
        let report = try Store.verify(directory: path, bootID: bootID)
        guard report.isSound else {
            throw LifeFailure("verify finds: \(report.findings.map(\.description).joined(separator: "; "))")
        }
    }

    // MARK: Folders

    func path(_ number: Int) -> String { "\(directory)/\(number)" }

    func makeDisk() throws(LifeFailure) -> CrashDisk {
        try make(path(folders))
        return CrashDisk(path: path(folders), seed: plan.seed)
    }

    func make(_ path: String) throws(LifeFailure) {
        guard mkdir(path, 0o700) == 0 else { throw LifeFailure("cannot make \(path): error \(errno)") }
    }

    /// The same files in a folder of their own, all of them durable.
    mutating func copyFolder(_ disk: CrashDisk) throws -> CrashDisk {
        folders += 1
        let target = path(folders)
        try make(target)
        _ = try disk.survive(into: target)
        return CrashDisk(path: target, seed: dice.next())
    }

    /// The power fails, and the machine is switched on again.
    mutating func loseFolder(_ disk: CrashDisk) throws -> CrashDisk {
        folders += 1
        let target = path(folders)
        try make(target)
        tally.add(try disk.survive(into: target))
        (boot, lostPower) = (boot + 1, true)
        if wasOpen { try verify(target) }
        return CrashDisk(path: target, seed: dice.next())
    }
}
