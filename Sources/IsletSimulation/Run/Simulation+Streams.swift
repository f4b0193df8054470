import IsletOracle
import IsletServer

/// Judging watermarks, joins and chunks.
extension Simulation {
    /// Something was published beside the events.
    func published(_ frames: [[UInt8]]) {
        guard frames.count == 2, let value = JSON(frames[1]) else { return expect(false, "not published as a pair") }
        tally.hash(frames[1])
        if frames[0].first == 0xFF { return joined(frames[0], value) }
        let topic = String(decoding: frames[0], as: UTF8.self)
        guard topic.hasSuffix("/~") else { return expect(false, "an unknown topic \(topic)") }
        let app = String(topic.dropLast(2))
        let stand = ledger.published[app] ?? Ledger.Stand()
        let text = value.text
        expect(value["seq"] == .integer(Int64(stand.seq)), "a watermark at \(stand.seq) is \(text)")
        expect(value["entities"] == .integer(Int64(stand.revisions.count)), "entities of \(text)")
        expect(value["digest"] == .string(stand.digest), "the digest of \(text) should be \(stand.digest)")
        expect(value["epoch"] == .string(String(decoding: epoch, as: UTF8.self)), "the epoch of \(text)")
        for subscriber in subscribers where subscriber.app == app { subscriber.sees(watermark: stand.seq) }
    }

    /// An entity as a subscriber can know it: signs of life move `next` without an event.
    func asFollowed(_ entity: [String: JSON]) -> [String: JSON] {
        guard mix.rules.silenceStale != nil || mix.rules.silenceEnds != nil else { return entity }
        var followed = entity
        followed["next"] = nil
        return followed
    }

    /// The topic of a join to one app, with a number as its nonce.
    static func joinTopic(_ nonce: Int, _ app: String) -> [UInt8] {
        let hex = String(nonce, radix: 16)
        return [0xFF] + Array(("join/" + String(repeating: "0", count: 32 - hex.count) + hex + "/" + app).utf8)
    }

    /// A command of a subscriber comes to the bulk socket.
    func sendBulk(_ frame: String, from routingID: [UInt8]) {
        partition.inbound.set([routingID, [], Array(frame.utf8)], isRouted: true)
        partition.takeBulk()
    }

    /// The merge patch of an event, whatever family it is of.
    static func patch(of event: JSON) -> [String: JSON]? {
        (event["activity"] ?? event["control"] ?? event["widget"] ?? event["group"])?.object
    }

    /// Whether an entity is listed no more behind an event.
    static func isLast(_ event: JSON) -> Bool { ["dismissed", "removed"].contains(event["to"]?.string) }

    /// All of an app as its subscribers can know it, by topic.
    func followed(_ app: String) -> [String: [String: JSON]] {
        var followed: [String: [String: JSON]] = [:]
        for handle in oracle.listed(app) {
            guard let topic = oracle.topic(handle), let shape = oracle.shape(handle) else { continue }
            followed[topic] = asFollowed(oracle.entity(handle, shape, isRead: true))
        }
        for (topic, key) in oracle.listedGroupKeys(app) { followed[topic] = asFollowed(key.object ?? [:]) }
        for (topic, control) in witness.listed(app) { followed[topic] = asFollowed(control.entity) }
        for (topic, widget) in widgetWitness.listed(app) { followed[topic] = asFollowed(widget.entity) }
        return followed
    }

    /// The entity in a snapshot's row, which is to be as it once was; nil where the row is nobody's.
    func judgedRow(_ topic: String, _ bytes: [UInt8]) -> [String: JSON]? {
        let row = JSON(bytes)
        if let control = row?["control"]?.object {
            let isKnown = witness.controls[topic]?.everWas(control, isRead: false) == true
            expect(isKnown, "a row shows what never was: \(JSON.object(control).text)")
            return control
        }
        if let key = row?["group"] {
            expect(oracle.everWas(key, topic: topic), "a row shows what never was: \(key.text)")
            return key.object
        }
        if let widget = row?["widget"]?.object {
            let isKnown = widgetWitness.widgets[topic]?.everWas(widget, isRead: false) == true
            expect(isKnown, "a row shows what never was: \(JSON.object(widget).text)")
            return widget
        }
        guard let entity = row?["activity"]?.object, let id = entity["id"]?.string, let handle = oracle.handle(id: id),
            let shape = oracle.shape(handle, revision: Int(entity["revision"]?.integer ?? 0))
        else {
            expect(false, "a row of nobody: \(String(decoding: bytes, as: UTF8.self))")
            return nil
        }
        let wanted = oracle.entity(handle, shape, isRead: true)
        let isSame = asFollowed(entity) == asFollowed(wanted)
        expect(isSame, "a row is \(JSON.object(entity).text)\n  not \(JSON.object(wanted).text)")
        expect(oracle.topic(handle) == topic, "a row's topic \(topic)")
        return entity
    }

    private func joined(_ topic: [UInt8], _ value: JSON) {
        tally.joins += 1
        guard let apps = value["apps"]?.object else { return expect(false, "a join without apps: \(value.text)") }
        for (app, position) in apps.sorted(by: { $0.key < $1.key }) {
            let seq = ledger.published[app]?.seq ?? 0
            expect(position["seq"] == .integer(Int64(seq)), "a join at \(app) \(seq) says \(position.text)")
            expect(position["epoch"] == .string(String(decoding: epoch, as: UTF8.self)), "a join says \(position.text)")
        }
        for subscriber in subscribers where subscriber.topic == topic {
            let seq = Int(apps[subscriber.app]?["seq"]?.integer ?? 0)
            expect(seq == ledger.published[subscriber.app]?.seq ?? 0, "the join leaves out \(subscriber.app)")
            subscriber.joined(at: seq, self)
        }
        for reader in prefixReaders where reader.topic == topic { reader.joined() }
    }

    /// Something came from the bulk socket.
    func bulk(_ frames: [[UInt8]]) {
        if frames[0] == Array("digest".utf8) { return digestAnswered(frames) }
        let subscriber = subscribers.first { $0.routingID == frames[0] }
        let reader = prefixReaders.first { $0.routingID == frames[0] }
        guard frames.count > 2, subscriber != nil || reader != nil else { return expect(false, "a chunk to nobody") }
        for frame in frames.dropFirst(2) { tally.hash(frame) }
        guard let header = JSON(frames[2]) else { return expect(false, "a chunk without a header") }
        subscriber?.got(header, Array(frames.dropFirst(3)), self)
        reader?.got(header, Array(frames.dropFirst(3)), self)
    }
}
