import IsletCore
import IsletJournal
import IsletProtocol
import IsletServer

/// A partition without sockets: commands go in as text, answers and events come out as text.
final class PartitionService {
    let partition: Partition
    let journal: KeptJournal
    private var elapsed: Int64 = 0
    /// By how much somebody has set the wall clock forward, in milliseconds.
    private var step: Int64 = 0
    /// What was published beside answers: topic and JSON.
    private(set) var events: [(topic: String, json: String)] = []
    private var answers: [String] = []
    private var chunks: [(peer: String, frames: [String])] = []
    private var calls: [(peer: String, frame: String)] = []
    private var streamMessages: [(topic: String, json: String)] = []
    /// Whether the journal keeps to itself that batches are committed.
    var holdsCommits = false
    private static let begin: Int64 = 1_800_000_000_000

    /// - Parameters:
    ///   - state: what an earlier process left behind.
    ///   - clock: nil: one that is set, and stands.
    ///   - order: draws in which order recovery reads the apps of a batch.
    init(
        _ state: KeptJournal.State = KeptJournal.State(), rules: RuleSet = .standard, clock: ClockMode? = nil,
        order: SeededGenerator? = nil
    ) throws {
        let journal = KeptJournal(state)
        self.journal = journal
        var configuration = ServeConfiguration()
        configuration.clock = clock ?? .manual(from: Instant(Self.begin))
        let recovery = KeptRecovery(state, order: order)
        partition = try Partition(
            card: ServiceCard(
                configuration, endpoints: ServiceEndpoints(commands: "c", events: "e", bulk: "b"),
                guarantee: .powerLoss),
            rules: rules,
            clock: DomainClock(configuration.clock, notBefore: Instant(recovery.summary.clock)), journal: journal,
            recovering: recovery, at: ClockReading(wall: Self.begin, monotonicNanoseconds: 0),
            random: SeededGenerator(seed: 7))
    }

    /// Sends a command and gives its answer.
    @discardableResult
    func send(_ command: String) -> String {
        turn { $0.take(command) }
        for _ in 0..<20 where answers.isEmpty { turn { _ in } }
        defer { answers.removeAll() }
        return answers.joined(separator: "\n")
    }

    /// Tells what became of something in the journal, and gives the answers that leave then.
    func tell(_ notice: JournalNotice) -> [String] {
        turn { $0.take(notice) }
        defer { answers.removeAll() }
        return answers
    }

    /// The answers that leave in one turn, in which this happens: the last frame of each message's.
    func answers(_ body: (Partition) -> Void) -> [String] {
        turn(body)
        defer { answers.removeAll() }
        return answers
    }

    /// The joins that were answered and the watermarks since this was asked last.
    func takeStreamMessages() -> [(topic: String, json: String)] {
        defer { streamMessages.removeAll() }
        return streamMessages
    }

    /// Pulls a snapshot or a digest: all frames of the answer.
    func pull(_ command: String) -> [String] {
        chunks = []
        turn { partition in
            partition.takeBulk(command)
        }
        for _ in 0..<20 where chunks.isEmpty { turn { _ in } }
        return chunks.flatMap(\.frames)
    }

    /// The answers that have left since this was asked last.
    func takeAnswers() -> [String] {
        defer { answers.removeAll() }
        return answers
    }

    /// What was said to providers since this was asked last.
    func takeCalls() -> [(peer: String, frame: String)] {
        defer { calls.removeAll() }
        return calls
    }

    /// What has left the bulk socket since this was asked last, by peer: of each message the frames behind its envelope.
    func takeChunks() -> [(peer: String, frames: [String])] {
        defer { chunks.removeAll() }
        return chunks
    }

    /// - Returns: whether there is more to do at once.
    @discardableResult
    func turn(_ body: (Partition) -> Void) -> Bool {
        elapsed += 1
        _ = partition.beginTurn(
            ClockReading(wall: now, monotonicNanoseconds: elapsed * 1_000_000))
        body(partition)
        let isBusy = partition.endTurn()
        if !holdsCommits { partition.take(.committed(through: journal.state.lastBatch, microseconds: 0)) }
        while let flight = partition.nextReleased() {
            for event in flight.batch.events {
                events.append((text(flight.batch.copy(event.topic)), text(flight.batch.copy(event.json))))
            }
            collect(flight)
            partition.sent(flight)
        }
        _ = partition.continueCalls { peer, frame in
            calls.append((text(peer), text(frame.withUnsafeBytes { Array($0) })))
            return .sent
        }
        return isBusy
    }

    /// The wall clock at the last turn, in milliseconds since 1970.
    var now: Int64 { Self.begin + elapsed + step }

    /// Somebody sets the wall clock forward.
    func setForward(milliseconds: Int64) { step += milliseconds }

    /// Nothing happens for that long.
    func pass(milliseconds: Int64) { elapsed += milliseconds }

    /// Time passes in which it is at work, and hears nothing: a turn comes each second.
    func work(milliseconds: Int64) {
        var left = milliseconds
        while left > 0 {
            let step = min(left, 1_000)
            pass(milliseconds: step - 1)
            turn { _ in }
            left -= step
        }
    }

    /// Time passes, and the snapshot goes on.
    func sweep() {
        elapsed += 1_000
        turn { _ in }
        partition.take(.swept)
        turn { _ in }
        partition.take(.swept)
    }

    private func collect(_ flight: Flight) {
        var frames: [[UInt8]] = []
        for part in flight.outbound.parts {
            flight.outbound.writer.withSpan { bytes in
                frames.append(bytes.extracting(part.range).withUnsafeBytes { Array($0) })
            }
            guard !part.more else { continue }
            switch part.destination {
            case .commands: answers.append(text(frames[frames.count - 1]))
            case .bulk: chunks.append((text(frames[0]), frames.dropFirst(2).map { text($0) }))
            case .events: streamMessages.append((text(frames[0]), text(frames[1])))
            }
            frames = []
        }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension Partition {
    /// Takes a command of a peer's.
    func take(_ command: String, from peer: String = "peer") { take([command], from: peer) }

    /// Takes a message of a peer's.
    func take(_ commands: [String], from peer: String = "peer") {
        inbound.set([Array(peer.utf8), [0, 0, 0, 1], []] + commands.map { Array($0.utf8) }, isRouted: true)
        takeCommands()
    }

    /// The same of the bulk socket.
    func takeBulk(_ command: String, from peer: String = "peer") { takeBulk([command], from: peer) }

    /// Takes a message of many commands there.
    func takeBulk(_ commands: [String], from peer: String = "peer") {
        inbound.set([Array(peer.utf8), []] + commands.map { Array($0.utf8) }, isRouted: true)
        takeBulk()
    }
}
