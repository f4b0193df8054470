import IsletJournal

/// A journal whose disk is simulated and whose time passes with ``tick()``: how many turns each step of its work takes is
/// drawn.
final class SimJournal: Journal {
    /// How slow it is.
    struct Pace {
        /// At most as many turns from appending to writing, and from writing to syncing.
        var write = 1
        var sync = 1
        var sweep = 3
        var read = 3
    }

    let disk: SimDisk
    var pace: Pace
    var random: SimRandom
    /// Told of each batch as it is appended.
    var appended: ((JournalBatch) -> Void)?
    /// Told of each piece of the snapshot as it is handed over, and as it is written.
    var filled: ((StateChunk) -> Void)?
    var swept: ((StateChunk) -> Void)?
    private var writeIn = 0
    private var syncIn = 0
    private var sweeping: [(chunk: StateChunk, turns: Int)] = []
    private var reads: [(request: JournalRead, turns: Int)] = []
    private(set) var committed: UInt64
    private(set) var isFull = false
    private var hasRefused = false
    private var fullFor = 0
    /// The journal's owner broke a rule.
    private(set) var complaint: String?

    init(_ disk: SimDisk, pace: Pace, random: SimRandom) {
        self.disk = disk
        self.pace = pace
        self.random = random
        committed = disk.lastNumber
    }

    var guarantee: JournalGuarantee { .powerLoss }

    /// Batches that were appended and not reported yet.
    var inFlight: Int { disk.batches.count { $0.stage != .synced } }
    var isIdle: Bool { inFlight == 0 && reads.isEmpty && sweeping.isEmpty && !isFull && !hasRefused }

    func append(_ batch: JournalBatch) -> JournalReceipt {
        let last = disk.batches.last?.batch.number ?? disk.lastNumber
        if batch.number != last + 1 { complain("batch \(batch.number) is appended after \(last)") }
        if inFlight >= JournalBatch.maximumInFlight { complain("more than two batches are in flight") }
        if inFlight == 0 { writeIn = random.below(pace.write) }
        disk.append(batch)
        appended?(batch)
        return .pending
    }

    func sweep(_ chunk: StateChunk) {
        if !sweeping.isEmpty { complain("a piece of the snapshot came before the one before was written") }
        filled?(chunk)
        sweeping.append((chunk, random.below(pace.sweep)))
    }

    func read(_ request: JournalRead) {
        if reads.count >= JournalRead.maximumInFlight { complain("more reads than are allowed") }
        reads.append((request, random.below(pace.read)))
    }

    func timePassed(to time: Int64) {}

    func backUp(_ request: BackupRequest) { complain("nobody asked for a backup") }

    func close() async {}

    func complain(_ message: String) { complaint = complaint ?? message }

    /// There is no room for so many turns.
    func fill(for turns: Int) {
        isFull = true
        fullFor = turns
    }

    /// A turn's time passes.
    func tick() -> [JournalNotice] {
        var notices: [JournalNotice] = []
        if isFull {
            fullFor -= 1
            if fullFor > 0 {
                if !hasRefused, inFlight > 0 || random.oneIn(4) {
                    hasRefused = true
                    notices.append(.isFull(free: random.below(1 << 20)))
                }
                finishReads(&notices)
                return notices
            }
            isFull = false
        }
        if hasRefused {
            hasRefused = false
            notices.append(.hasRoom)
        }
        work(&notices)
        finishReads(&notices)
        return notices
    }

    private func work(_ notices: inout [JournalNotice]) {
        if let index = disk.first(before: .written) {
            if writeIn > 0 {
                writeIn -= 1
            } else {
                disk.promote(index, to: .written)
                writeIn = random.below(pace.write)
                syncIn = random.below(pace.sync)
            }
        }
        if let index = disk.first(before: .synced), disk.batches[index].stage == .written {
            if syncIn > 0 {
                syncIn -= 1
            } else {
                disk.promote(index, to: .synced)
                syncIn = random.below(pace.sync)
                committed = disk.batches[index].batch.number
                notices.append(.committed(through: committed, microseconds: 100))
            }
        }
        if let first = sweeping.first {
            if first.turns > 0 {
                sweeping[0].turns -= 1
            } else {
                disk.write(first.chunk)
                swept?(first.chunk)
                sweeping.removeFirst()
                if random.oneIn(2) || first.chunk.holdsThrough != nil { disk.syncChunks() }
                notices.append(.swept)
            }
        }
    }

    private func finishReads(_ notices: inout [JournalNotice]) {
        var waiting: [(request: JournalRead, turns: Int)] = []
        for (request, turns) in reads {
            if turns > 0 {
                waiting.append((request, turns - 1))
            } else {
                notices.append(.read(JournalReadResult(id: request.id, outcome: disk.answer(request))))
            }
        }
        reads = waiting
    }
}
