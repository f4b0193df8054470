import IsletCore
import IsletJournal
import IsletServer

/// The way of a message through the partition: scanned, decided, encoded, put into the batch, and ready to leave. What
/// the service does around it, its sockets and its files, is left out.
enum PartitionBench {
    private static let wall: Milliseconds = 1_780_000_000_000
    /// Commands in one turn.
    private static let turn = 64

    static func round(_ meter: inout Meter) throws {
        var service = try Service()
        for number in 0..<meter.count { service.take([SampleFrames.start(number)]) }
        service.endTurn()
        service.beginSnapshot()

        let single = (0..<meter.count).map { SampleFrames.update($0, of: $0) }
        meter.measure("update", step: turn) { first in
            service.beginTurn()
            for number in first..<first + turn { service.take([single[number]]) }
            service.endTurn()
        }
        // With dates of their own: an update without one clears it.
        let dated = (0..<meter.count).map { SampleFrames.update($0 + meter.count, of: $0, staleDate: stale($0)) }
        let messages = stride(from: 0, to: meter.count, by: turn).map { Array(dated[$0..<$0 + turn]) }
        meter.measure("update in batches of 64", step: turn) { first in
            service.beginTurn()
            service.take(messages[first / turn])
            service.endTurn()
        }
        service.pass(until: stale(0) - 1)
        meter.measure("deadline", step: turn) { first in
            service.pass(until: stale(first + turn - 1))
            service.beginTurn()
            service.endTurn()
        }
        // Starts, two updates and a deadline of each.
        precondition(service.events == 4 * meter.count, "\(service.events) events")
    }

    /// A millisecond of its own for each.
    private static func stale(_ number: Int) -> Milliseconds { wall + 3_600_000 + Milliseconds(number) }
}

/// A partition whose journal commits at once and keeps nothing, and whose messages go nowhere.
private struct Service {
    private let partition: Partition
    private let journal = ForgetfulJournal()
    private var elapsed: Milliseconds = 0
    private let begin: Milliseconds = 1_780_000_000_000
    /// Events that were released.
    private(set) var events = 0

    init() throws {
        let configuration = ServeConfiguration()
        let card = ServiceCard(
            configuration, endpoints: ServiceEndpoints(commands: "", events: "", bulk: ""), guarantee: .powerLoss)
        partition = try Partition(
            card: card, rules: .standard, clock: DomainClock(.system, jumpGuard: nil), journal: journal,
            recovering: NoPast(), at: ClockReading(wall: begin, monotonicNanoseconds: 0), random: SplitMix(seed: 4))
    }

    mutating func pass(until wall: Milliseconds) { elapsed = max(elapsed, wall - begin) }

    /// A piece of the snapshot is filled, here and not in the middle of what is measured. It waits for a report of a
    /// commit, which this journal never makes; so no other is begun.
    mutating func beginSnapshot() {
        elapsed += 1_000
        beginTurn()
        endTurn()
    }

    mutating func beginTurn() {
        _ = partition.beginTurn(
            ClockReading(wall: begin + elapsed, monotonicNanoseconds: elapsed * 1_000_000))
    }

    func take(_ commands: [[UInt8]]) {
        partition.inbound.set([Service.route] + commands, isRouted: true)
        partition.takeCommands()
    }

    mutating func endTurn() {
        _ = partition.endTurn()
        if journal.wasSwept() { partition.take(.swept) }
        while let flight = partition.nextReleased() {
            events += flight.batch.events.count
            partition.sent(flight, at: elapsed * 1_000_000)
        }
    }

    private static let route: [UInt8] = [0, 1, 2, 3, 4]
}

private final class ForgetfulJournal: Journal {
    private var isSwept = false

    var guarantee: JournalGuarantee { .powerLoss }

    func append(_ batch: JournalBatch) -> JournalReceipt { .committed }
    func sweep(_ chunk: StateChunk) { isSwept = true }
    func read(_ request: JournalRead) { preconditionFailure("nothing is read here") }
    func timePassed(to time: Int64) {}

    func backUp(_ request: BackupRequest) { preconditionFailure("nothing is backed up here") }
    func close() async {}

    /// Whether a piece of the snapshot came since the last time.
    func wasSwept() -> Bool {
        defer { isSwept = false }
        return isSwept
    }
}

/// A store that was made just now.
private final class NoPast: RecoverySource {
    var summary: RecoverySummary {
        var summary = RecoverySummary()
        (summary.isNew, summary.epoch) = (true, "0198c0de-1c00-7a3e-9f21-3b5c8d7e0a11")
        return summary
    }

    func forEachFact(_ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void) throws {}
    func forEachEntity(_ visit: (RecoveredEntity) throws -> Void) throws {}
    func forEachBatch(after number: UInt64, _ visitor: any RecoveryVisitor) throws {}
    func forEachAnswer(
        since: Int64, _ visit: (_ batch: UInt64, _ at: Int64, _ answer: Span<UInt8>) throws -> Void
    ) throws {}
}
