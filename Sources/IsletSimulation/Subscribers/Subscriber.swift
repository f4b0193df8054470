import IsletOracle
import IsletServer

/// Somebody who follows one app's stream as the contract says: joins, replays, snapshots; loses events and goes away.
final class Subscriber: CustomStringConvertible {
    enum Phase: Equatable {
        case away
        case joining
        case following
        /// A replay or snapshot is wanted, or under way.
        case wanting(snapshot: Bool)
        case pulling(snapshot: Bool)
    }

    let index: Int
    let app: String
    private let losing: Int
    private(set) var phase = Phase.away
    /// While everything is compared it loses nothing.
    var isCareful = false
    private var isGone = false
    private var random: SimRandom
    private var nonce = 0
    private var pull = 0
    private var patience = 0
    private var chunk = 0
    private var creditOwed = 0
    /// Where it is; nil before its first join.
    private(set) var seq: Int?
    private(set) var entities: [String: [String: JSON]] = [:]
    /// Events that wait behind a gap or a pull.
    private var buffer: [Int: (topic: String, event: JSON)] = [:]
    /// A snapshot under way: where it began, and its rows.
    private var fromSeq = 0
    private var rows: [String: [String: JSON]] = [:]
    /// Until there the snapshot's rows may be ahead of the events.
    private var fuzzyUntil = 0

    init(_ index: Int, app: String, losing: Int) {
        self.index = index
        self.app = app
        self.losing = losing
        random = SimRandom(seed: UInt64(index) &+ 99)
    }

    var routingID: [UInt8] { Array("sub\(index)".utf8) }
    var topic: [UInt8] { Simulation.joinTopic(nonce &+ index &* 1_000_000, app) }
    var description: String { "\(app): \(phase) at \(seq ?? -1), \(buffer.count) buffered" }

    // MARK: Disturbances

    /// It goes away, comes back, or forgets what it knew.
    func isDisturbed(_ random: inout SimRandom) {
        switch random.below(4) {
        case 0:
            isGone = true
            disconnect()
        case 1: isGone = false
        case 2:
            disconnect()
            forget()
        default: if phase == .following { phase = .wanting(snapshot: true) }
        }
    }

    /// The connection is gone; what it holds stays.
    func disconnect() {
        phase = .away
        buffer.removeAll()
    }

    /// It knows nothing any more.
    func forget() {
        seq = nil
        entities.removeAll()
        fuzzyUntil = 0
    }

    // MARK: Talking

    /// What it sends in this turn.
    func speak(to simulation: Simulation) {
        patience += 1
        switch phase {
        case .away:
            if !isGone || isCareful { join(simulation) }
        case .joining: if patience > 60 { join(simulation) }
        case .following: break
        case .wanting(let snapshot): begin(snapshot: snapshot, simulation)
        case .pulling(let snapshot):
            if creditOwed > 0 {
                ask("bulk.credit", "\"credit\":\(min(16, creditOwed))", simulation)
                creditOwed = 0
            }
            if patience > 120 {
                ask("bulk.cancel", nil, simulation)
                phase = .wanting(snapshot: snapshot)
            }
        }
    }

    private func join(_ simulation: Simulation) {
        nonce += 1
        patience = 0
        buffer.removeAll()
        phase = .joining
        simulation.partition.subscribed(to: topic.span)
    }

    private func begin(snapshot: Bool, _ simulation: Simulation) {
        pull += 1
        patience = 0
        chunk = 0
        creditOwed = 0
        rows.removeAll()
        phase = .pulling(snapshot: snapshot)
        let credit = 1 + random.below(4)
        if snapshot {
            simulation.tally.snapshots += 1
            ask("bulk.snapshot", "\"app\":\"\(app)\",\"credit\":\(credit)", simulation)
        } else {
            simulation.tally.replays += 1
            ask("bulk.replay", "\"app\":\"\(app)\",\"from\":\(seq ?? 0),\"credit\":\(credit)", simulation)
        }
    }

    private func ask(_ op: String, _ fields: String?, _ simulation: Simulation) {
        let rest = fields.map { "," + $0 } ?? ""
        let frame = "{\"op\":\"\(op)\",\"req\":\"p\(pull)\"\(rest)}"
        simulation.sendBulk(frame, from: routingID)
    }

    // MARK: Listening

    func hear(_ number: Int, _ topic: [UInt8], _ json: [UInt8], _ simulation: Simulation) {
        guard phase != .away else { return }
        if !isCareful, random.percent(losing) { return }
        guard let event = JSON(json) else { return }
        buffer[number] = (String(decoding: topic, as: UTF8.self), event)
        if phase == .following { drain(simulation) }
    }

    func sees(watermark number: Int) {
        if phase == .following, let seq, number > seq { phase = .wanting(snapshot: false) }
    }

    func joined(at number: Int, _ simulation: Simulation) {
        guard phase == .joining else { return }
        guard let seq else {
            if number == 0 || random.oneIn(3) { seq = 0 }
            phase = number == 0 ? .following : .wanting(snapshot: seq == nil)
            return drain(simulation)
        }
        simulation.expect(seq <= number, "\(app) was followed up to \(seq) and stands at \(number) after a join")
        phase = seq == number ? .following : .wanting(snapshot: false)
        if phase == .following { drain(simulation) }
    }

    /// Applies what is next; a gap is replayed.
    private func drain(_ simulation: Simulation) {
        while let at = seq, let next = buffer.removeValue(forKey: at + 1) {
            apply(next.topic, next.event, simulation)
            seq = at + 1
        }
        guard let at = seq else { return }
        buffer = buffer.filter { $0.key > at }
        if phase == .following, !buffer.isEmpty { phase = .wanting(snapshot: false) }
    }

    private func apply(_ topic: String, _ event: JSON, _ simulation: Simulation) {
        if event["notification"] != nil { return }
        guard let patch = Simulation.patch(of: event), let revision = patch["revision"]?.integer else {
            return simulation.expect(false, "an event without an entity")
        }
        let number = Int(event["seq"]?.integer ?? 0)
        guard var entity = entities[topic] ?? (event["from"] == nil ? [:] : nil) else {
            return simulation.expect(number <= fuzzyUntil, "\(topic) is not there for event \(number)")
        }
        if let known = entity["revision"]?.integer {
            if revision <= known { return simulation.expect(number <= fuzzyUntil, "\(topic) \(revision) comes twice") }
            simulation.expect(revision == known + 1, "\(topic) \(revision) comes after \(known)")
        }
        Simulation.patch(&entity, with: patch)
        entities[topic] = Simulation.isLast(event) ? nil : entity
    }

    /// Whether a pull is refused or ended because the disk is full, or the service stops.
    static func isUnavailable(_ error: JSON) -> Bool {
        let reason = error["detail"]?["reason"]
        return reason == .string("diskFull") || reason == .string("stopping")
    }

    // MARK: Chunks

    func got(_ header: JSON, _ frames: [[UInt8]], _ simulation: Simulation) {
        guard case .pulling(let isSnapshot) = phase, header["req"] == .string("p\(pull)") else { return }
        patience = 0
        if header["ok"] == .bool(false), header["error"].map(Self.isUnavailable) == true {
            // It did not even begin.
            phase = .wanting(snapshot: isSnapshot)
            return
        }
        creditOwed += 1
        simulation.expect(header["chunk"] == .integer(Int64(chunk)), "chunk \(chunk) is \(header.text)")
        simulation.expect(header["rows"] == .integer(Int64(frames.count / 2)), "rows of \(header.text)")
        if isSnapshot, chunk == 0 { fromSeq = Int(header["fromSeq"]?.integer ?? 0) }
        chunk += 1
        for index in stride(from: 0, to: frames.count - 1, by: 2) {
            let topic = String(decoding: frames[index], as: UTF8.self)
            if isSnapshot {
                rows[topic] = simulation.judgedRow(topic, frames[index + 1])
            } else {
                replayed(topic, frames[index + 1], simulation)
            }
        }
        if header["end"] == .bool(true) { ended(header, isSnapshot: isSnapshot, simulation) }
    }

    private func replayed(_ topic: String, _ bytes: [UInt8], _ simulation: Simulation) {
        let next = (seq ?? 0) + 1
        guard let line = simulation.ledger.line(app, next) else {
            return simulation.expect(false, "\(app) \(next) is replayed and was never journalled")
        }
        simulation.expect(
            line.topic == Array(topic.utf8) && line.json == bytes, "\(app) \(next) is replayed with other bytes")
        simulation.expect(line.batch <= simulation.journal.committed, "\(app) \(next) is replayed before its commit")
        if let event = JSON(bytes) { apply(topic, event, simulation) }
        seq = next
    }

    private func ended(_ header: JSON, isSnapshot: Bool, _ simulation: Simulation) {
        if let error = header["error"] {
            let isTooOld = error["code"] == .string("tooOld")
            if isTooOld { simulation.tally.tooOlds += 1 }
            simulation.expect(
                isTooOld && !isSnapshot || error["code"] == .string("busy") || Self.isUnavailable(error),
                "a pull ends with \(error.text)")
            // Where a fuzzy snapshot needs events that are gone, only another snapshot helps.
            phase = .wanting(snapshot: isTooOld || isSnapshot)
            return
        }
        let end = Int(header["seq"]?.integer ?? 0)
        if isSnapshot {
            entities = rows
            seq = fromSeq
            fuzzyUntil = end
        } else {
            simulation.expect(end == seq, "a replay up to \(seq ?? 0) ends at \(end)")
        }
        phase = .following
        drain(simulation)
        if let seq, seq < end, phase == .following { phase = .wanting(snapshot: false) }
        if seq == end { prove(header, simulation) }
    }

    /// The digest at a pull's end proves that it holds the same.
    private func prove(_ header: JSON, _ simulation: Simulation) {
        var digest = StreamDigest()
        for (topic, entity) in entities { digest.toggle(topic: topic, revision: Int(entity["revision"]?.integer ?? 0)) }
        simulation.expect(
            header["entities"] == .integer(Int64(entities.count)) && header["digest"] == .string(digest.text),
            "a pull ends with \(header.text), and there are \(entities.count) with \(digest.text)")
    }

    // MARK: Comparing

    func isSettled(at number: Int) -> Bool { phase == .following && seq == number && buffer.isEmpty }

    /// It holds what the oracle lists.
    func compare(with simulation: Simulation) {
        let wanted = simulation.followed(app)
        simulation.expect(Set(entities.keys) == Set(wanted.keys), "a subscriber of \(app) holds other entities")
        for (topic, entity) in entities {
            guard let listed = wanted[topic] else { continue }
            simulation.expect(
                simulation.asFollowed(entity) == listed,
                "a subscriber holds \(JSON.object(entity).text)\n  and not \(JSON.object(listed).text)")
        }
    }
}
