import IsletClient
import Testing

/// A replica against a service that loses, delays and restarts, by chance. Whatever happens: it ends with what the
/// service has, and the reader got every event once, except those that it was told are missed.
@Suite struct ReplicaScenarioTests {
    @Test(arguments: [StreamReplica.Interest.events, .wholeApp], 0..<150)
    func `a reader loses nothing in silence`(interest: StreamReplica.Interest, run: Int) {
        let seed = UInt64.random(in: .min ... .max)
        var scenario = Scenario(interest: interest, seed: seed)
        scenario.run(steps: 400)
        scenario.settle()
        #expect(scenario.problems == [], "seed \(seed)")
    }
}

/// The service, the connections and the reader of one run.
private struct Scenario {
    private var generator: SplitMix
    private var model = ModelStream()
    private var replica: StreamReplica
    /// Published and not yet received, in order: events and watermarks of one connection.
    private var stream: [Published] = []
    private var pull: Pull?
    private var joinAsked = true
    private var lastID = 0

    // What the reader knows
    private var next: UInt64?
    private var epoch: String?
    private var seen: [String: Entity] = [:]
    private(set) var problems: [String] = []

    enum Published {
        case event(StreamEvent)
        case watermark(Watermark)
    }

    /// A pull that goes on over several steps, its rows read at each.
    struct Pull {
        var isSnapshot: Bool
        var from: UInt64
        var topics: [String] = []
        var isFirst = true
    }

    init(interest: StreamReplica.Interest, seed: UInt64) {
        generator = SplitMix(state: seed)
        replica = StreamReplica(app: model.app, interest: interest)
    }

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<35: publish()
            case 35..<40: stream.append(.watermark(model.watermark()))
            case 40..<70: receive()
            case 70..<73: lose()
            case 73..<76: reconnect()
            case 76..<77: restart()
            case 77..<79: model.oldestKept = max(1, model.seq > 20 ? model.seq - 10 : 1)
            case 79..<82: failPull()
            case 82..<84: perform(replica.pause())
            case 84..<87: perform(replica.resumed())
            default: chunk()
            }
            if joinAsked, Bool.random(using: &generator) { join() }
        }
    }

    /// Everything arrives, and a last watermark shows what is missing.
    mutating func settle() {
        for _ in 0..<12 {
            perform(replica.resumed())
            if joinAsked { join() }
            while !stream.isEmpty { receive() }
            var turns = 0
            while pull != nil, turns < 10_000 {
                turns += 1
                chunk()
            }
            stream.append(.watermark(model.watermark()))
        }
        if !(replica.state == .following) { note("it does not follow but is \(replica.state)") }
        if !(replica.seq == model.seq) { note("it is at \(replica.seq) of \(model.seq)") }
        if !(next == model.seq + 1) { note("the reader waits for \(next ?? 0) of \(model.seq)") }
        guard replica.interest == .wholeApp else { return }
        if !(replica.entities.byTopic.mapValues(\.members) == model.entities) { note("the entities differ") }
        if !(replica.entities.digest == model.digest()) { note("the digest differs") }
        if !(seen.mapValues(\.members) == model.entities) { note("the reader has other entities") }
    }

    // MARK: The service

    private mutating func publish() {
        let living = model.entities.keys.sorted()
        let event: StreamEvent
        if living.isEmpty || Int.random(in: 0..<4, using: &generator) == 0 {
            lastID += 1
            event = model.start("\(lastID)")
        } else {
            let id = String(living.randomElement(using: &generator)?.split(separator: "/").last ?? "")
            event = Int.random(in: 0..<5, using: &generator) == 0 ? model.dismiss(id) : model.update(id, eta: lastID)
        }
        stream.append(.event(event))
    }

    private mutating func chunk() {
        guard var pull else { return }
        var chunk = BulkChunk(req: "")
        chunk.epoch = model.epoch
        if pull.isSnapshot {
            if pull.isFirst {
                pull.topics = model.entities.keys.sorted()
                pull.from = model.seq
                pull.isFirst = false
                chunk.fromSeq = model.seq
            }
            chunk.rows = model.rows(pull.topics.prefix(3))
            pull.topics.removeFirst(min(3, pull.topics.count))
            if pull.topics.isEmpty {
                // What was started since the beginning is not in the rows, or is: both are allowed.
                if Bool.random(using: &generator) {
                    chunk.rows += model.rows(
                        model.entities.keys.filter { topic in
                            !chunk.rows.contains { $0.topic == topic }
                                && (model.entities[topic]?["revision"]?.integer ?? 0) == 1
                        })
                }
                let mark = model.watermark()
                chunk.end = .complete(seq: model.seq, entities: mark.entities, digest: mark.digest)
            }
        } else {
            let whole = model.replay(from: pull.from)
            chunk.rows = Array(whole.rows.prefix(4))
            pull.from += UInt64(chunk.rows.count)
            if case .failed = whole.end { chunk.end = whole.end }
            if whole.rows.count <= 4 { chunk.end = whole.end }
        }
        self.pull = chunk.end == nil ? pull : nil
        perform(replica.received(chunk))
    }

    // MARK: The connection

    private mutating func receive() {
        guard !stream.isEmpty else { return }
        switch stream.removeFirst() {
        case .event(let event): perform(replica.received(event))
        case .watermark(let mark): perform(replica.received(mark))
        }
    }

    /// The subscriber was too slow: some messages in the middle are gone.
    private mutating func lose() {
        guard !stream.isEmpty else { return }
        let start = Int.random(in: stream.indices, using: &generator)
        stream.removeSubrange(start..<min(stream.count, start + 5))
    }

    private mutating func reconnect() {
        stream = []
        joinAsked = true
    }

    private mutating func restart() {
        reconnect()
        pull = nil
        perform(replica.pullTimedOut())
        model.epoch += "'"
    }

    private mutating func failPull() {
        guard pull != nil else { return }
        pull = nil
        perform(Bool.random(using: &generator) ? replica.pullTimedOut() : replica.received(.failure(.busy)))
    }

    private mutating func join() {
        joinAsked = false
        perform(replica.joined(model.seq == 0 ? nil : model.position))
        // The answer stands in the stream at the position it names: what was published before it came before it.
        // Here it overtakes what is under way, which is as if that had been lost.
        stream = []
    }

    // MARK: The reader

    private mutating func perform(_ effects: [ReplicaEffect]) {
        for effect in effects {
            switch effect {
            case .join: joinAsked = true
            case .snapshot: pull = Pull(isSnapshot: true, from: 0)
            case .replay(_, let from, _): pull = Pull(isSnapshot: false, from: from)
            case .cancelPull: pull = nil
            case .credit: break
            case .deliver(let delivery): deliver(delivery)
            case .subscribe, .unsubscribe, .digest, .fail: problems.append("unexpected: \(effect)")
            }
        }
    }

    private mutating func deliver(_ delivery: Delivery) {
        switch delivery {
        case .synced(let state):
            seen = Dictionary(uniqueKeysWithValues: state.entities.map { ($0.topic, $0) })
            let position = state.position?.seq ?? 0
            if let missed = state.missed {
                if !(missed.lowerBound == next) { note("missed \(missed), but \(next ?? 0) was awaited") }
                next = missed.upperBound + 1
            } else if state.reason == .joined || state.reason == .epochChanged {
                next = position + 1
            }
            if !(next == position + 1) { note("synced at \(position), but \(next ?? 0) was awaited") }
            epoch = state.position?.epoch
        case .event(let event, let context):
            if !(event.seq == next) { note("got \(event.seq), but \(next ?? 0) was awaited") }
            next = event.seq + 1
            if let entity = context.entity, context.isNews {
                seen[event.topic] = entity.state == .dismissed ? nil : entity
            }
        case .joined, .closing:
            break
        }
    }

    private mutating func note(_ problem: String) {
        if problems.count < 5 { problems.append(problem) }
    }
}

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }
}
