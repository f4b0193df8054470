import IsletOracle
import IsletServer

/// Somebody who follows what stands under a prefix of an app's topics: takes a filtered snapshot, applies what comes after
/// it, and sees by the revisions, which are dense within an entity, where something is missing.
final class PrefixReader: CustomStringConvertible {
    private enum Phase: Equatable {
        case away
        case joining
        case wanting
        case pulling
        case following
    }

    let app: String
    private let prefix: String
    private let index: Int
    private let losing: Int
    private var phase = Phase.away
    private var random: SimRandom
    private var number = 0
    private var patience = 0
    private var chunk = 0
    private var creditOwed = 0
    private var entities: [String: [String: JSON]] = [:]
    /// What was heard since the join, by sequence number, until the snapshot is there.
    private var heard: [Int: (topic: String, event: JSON)] = [:]
    private var rows: [String: [String: JSON]] = [:]
    private var fromSeq = 0
    /// Until there a row of the snapshot may be ahead of an event.
    private var fuzzyUntil = 0
    /// While everything is compared it loses nothing, and begins with a snapshot.
    private var isCareful = false

    init(_ index: Int, app: String, prefix: String, losing: Int) {
        self.index = index
        self.app = app
        self.prefix = prefix
        self.losing = losing
        random = SimRandom(seed: UInt64(index) &+ 4_711)
    }

    var routingID: [UInt8] { Array("prefix\(index)".utf8) }
    var topic: [UInt8] { Simulation.joinTopic(number &+ (index + 1_000) &* 1_000_000, app) }
    var description: String { "\(prefix): \(phase), \(heard.count) heard" }
    var isSettled: Bool { phase == .following }

    func disconnect() { phase = .away }

    func beCareful() {
        isCareful = true
        // What was lost until now, another snapshot brings.
        if phase == .following || phase == .pulling { phase = .wanting }
    }

    func beCareless() { isCareful = false }

    /// What it sends in this turn.
    func speak(to simulation: Simulation) {
        patience += 1
        switch phase {
        case .away: join(simulation)
        case .joining: if patience > 60 { join(simulation) }
        case .wanting: begin(simulation)
        case .pulling:
            if creditOwed > 0 {
                ask("bulk.credit", ",\"credit\":\(min(16, creditOwed))", simulation)
                creditOwed = 0
            }
            if patience > 120 {
                ask("bulk.cancel", "", simulation)
                phase = .wanting
            }
        case .following: break
        }
    }

    private func join(_ simulation: Simulation) {
        number += 1
        patience = 0
        heard.removeAll()
        phase = .joining
        simulation.partition.subscribed(to: topic.span)
    }

    func joined() {
        if phase == .joining { phase = .wanting }
    }

    private func begin(_ simulation: Simulation) {
        number += 1
        patience = 0
        chunk = 0
        creditOwed = 0
        rows.removeAll()
        phase = .pulling
        simulation.tally.filtered += 1
        ask("bulk.snapshot", ",\"app\":\"\(app)\",\"prefix\":\"\(prefix)\",\"credit\":\(1 + random.below(4))", simulation)
    }

    private func ask(_ op: String, _ fields: String, _ simulation: Simulation) {
        let frame = "{\"op\":\"\(op)\",\"req\":\"f\(number)\"\(fields)}"
        simulation.sendBulk(frame, from: routingID)
    }

    func hear(_ seq: Int, _ topic: [UInt8], _ json: [UInt8], _ simulation: Simulation) {
        let topic = String(decoding: topic, as: UTF8.self)
        guard phase != .away, topic.hasPrefix(prefix) else { return }
        if !isCareful, random.percent(losing) { return }
        guard let event = JSON(json) else { return }
        if phase == .following { apply(seq, topic, event) } else { heard[seq] = (topic, event) }
    }

    /// A part of the snapshot.
    func got(_ header: JSON, _ frames: [[UInt8]], _ simulation: Simulation) {
        guard phase == .pulling, header["req"] == .string("f\(number)") else { return }
        patience = 0
        if let error = header["error"] {
            let isExpected = error["code"] == .string("busy") || Subscriber.isUnavailable(error)
            simulation.expect(isExpected, "a filtered snapshot ends with \(error.text)")
            phase = .wanting
            return
        }
        creditOwed += 1
        simulation.expect(header["chunk"] == .integer(Int64(chunk)), "chunk \(chunk) is \(header.text)")
        if chunk == 0 { fromSeq = Int(header["fromSeq"]?.integer ?? 0) }
        chunk += 1
        for index in stride(from: 0, to: frames.count - 1, by: 2) {
            let topic = String(decoding: frames[index], as: UTF8.self)
            simulation.expect(topic.hasPrefix(prefix), "a snapshot of \(prefix) has \(topic)")
            rows[topic] = simulation.judgedRow(topic, frames[index + 1])
        }
        if header["end"] == .bool(true) { ended(header, simulation) }
    }

    private func ended(_ header: JSON, _ simulation: Simulation) {
        let end = Int(header["seq"]?.integer ?? 0)
        let stand = simulation.ledger.stand(app, at: end).under(prefix)
        simulation.expect(
            header["entities"] == .integer(Int64(stand.revisions.count)) && header["digest"] == .string(stand.digest),
            "a snapshot of \(prefix) ends with \(header.text), and there are \(stand.revisions.count) with \(stand.digest)")
        entities = rows
        fuzzyUntil = end
        phase = .following
        let waiting = heard.filter { $0.key > fromSeq }.sorted { $0.key < $1.key }
        heard.removeAll()
        for (seq, next) in waiting where phase == .following { apply(seq, next.topic, next.event) }
    }

    /// Where something is missing, only another snapshot helps.
    private func apply(_ seq: Int, _ topic: String, _ event: JSON) {
        if event["notification"] != nil { return }
        guard let patch = Simulation.patch(of: event), let revision = patch["revision"]?.integer else { return }
        guard var known = entities[topic] ?? (event["from"] == nil ? [:] : nil) else {
            if seq > fuzzyUntil { phase = .wanting }
            return
        }
        if let last = known["revision"]?.integer {
            if revision <= last, seq <= fuzzyUntil { return }
            guard revision == last + 1 else {
                phase = .wanting
                return
            }
        }
        Simulation.patch(&known, with: patch)
        entities[topic] = Simulation.isLast(event) ? nil : known
    }

    /// It holds what a reader of the whole app should, as far as it stands under the prefix.
    func compare(_ wanted: [String: [String: JSON]], _ simulation: Simulation) {
        let own = wanted.filter { $0.key.hasPrefix(prefix) }
        simulation.expect(Set(entities.keys) == Set(own.keys), "a reader of \(prefix) holds other entities")
        for (topic, entity) in entities {
            guard let listed = own[topic] else { continue }
            simulation.expect(
                simulation.asFollowed(entity) == listed,
                "a reader holds \(JSON.object(entity).text)\n  and not \(JSON.object(listed).text)")
        }
    }
}
