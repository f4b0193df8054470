import IsletClient

/// What a test believes one app's stream to be: a list of events and the entities after each, kept in the plainest way.
struct ModelStream {
    let app: String
    var epoch = "e1"
    /// All events ever; the first has the seq 1.
    private(set) var events: [StreamEvent] = []
    private(set) var entities: [String: RawObject] = [:]
    /// The highest revision that each topic has had, in any life.
    var lastRevisions: [String: UInt64] = [:]
    /// The oldest event that a replay still has.
    var oldestKept: UInt64 = 1

    init(app: String = "com.example.pizza") {
        self.app = app
    }

    var seq: UInt64 { UInt64(events.count) }
    var position: StreamPosition { StreamPosition(epoch: epoch, seq: seq) }

    func topic(_ id: String, type: String = "Delivery") -> String { "\(app)/activity/\(type)/\(id)" }

    // MARK: Living

    @discardableResult
    mutating func start(_ id: String, type: String = "Delivery") -> StreamEvent {
        publish(
            "started", id, type, from: nil, to: "active",
            ["id": .string(id), "state": .string("active"), "revision": .integer(1), "contentState": .object([])])
    }

    @discardableResult
    mutating func update(_ id: String, type: String = "Delivery", eta: Int = 0) -> StreamEvent {
        publish(
            "updated", id, type, from: "active", to: "active",
            [
                "id": .string(id), "revision": nextRevision(id, type),
                "contentState": .object([.init("eta", .integer(eta))]),
            ])
    }

    @discardableResult
    mutating func dismiss(_ id: String, type: String = "Delivery") -> StreamEvent {
        publish(
            "dismissed", id, type, from: "active", to: "dismissed",
            ["id": .string(id), "state": .string("dismissed"), "revision": nextRevision(id, type)])
    }

    private func nextRevision(_ id: String, _ type: String) -> RawJSON {
        .integer((entities[topic(id, type: type)]?["revision"]?.unsigned ?? 0) + 1)
    }

    private mutating func publish(
        _ name: String, _ id: String, _ type: String, from: String?, to: String, _ patch: RawObject
    ) -> StreamEvent {
        var object = head("activity.\(name)")
        if let from { object["from"] = .string(from) }
        object["to"] = .string(to)
        object["cause"] = .string("command")
        object["activity"] = patch.json
        let event = append(topic(id, type: type), object)
        var entity = entities[event.topic] ?? [:]
        entity.merge(patch)
        entities[event.topic] = to == "dismissed" ? nil : entity
        return event
    }

    /// What every event begins with.
    func head(_ name: String) -> RawObject {
        [
            "epoch": .string(epoch), "seq": .integer(seq + 1), "at": .integer(1_767_225_600_000 + Int(seq)),
            "event": .string(name),
        ]
    }

    mutating func append(_ topic: String, _ object: RawObject) -> StreamEvent {
        guard let event = StreamEvent(topic: topic, bytes: object.json.bytes) else {
            preconditionFailure("the model makes events that can be read")
        }
        events.append(event)
        return event
    }

    mutating func setEntity(_ entity: RawObject?, at topic: String) {
        entities[topic] = entity
    }

    // MARK: Being asked

    /// The digest, from the contract's text.
    func digest(prefix: String = "") -> UInt64 {
        entities.filter { $0.key.hasPrefix(prefix) }.reduce(into: 0) { sum, entry in
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in entry.key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            var bits = hash ^ (entry.value["revision"]?.unsigned ?? 0) &* 0x9E37_79B9_7F4A_7C15
            bits ^= bits >> 33
            bits &*= 0xFF51_AFD7_ED55_8CCD
            bits ^= bits >> 33
            bits &*= 0xC4CE_B9FE_1A85_EC53
            sum ^= bits ^ bits >> 33
        }
    }

    func watermark(prefix: String = "") -> Watermark {
        let count = entities.keys.count { $0.hasPrefix(prefix) }
        return Watermark(position: position, entities: count, digest: digest(prefix: prefix))
    }

    /// The rows of these topics as they are now.
    func rows(_ topics: some Sequence<String>) -> [BulkChunk.Row] {
        topics.compactMap { topic in
            entities[topic].map {
                let family = String(topic.split(separator: "/")[1])
                return .init(topic: topic, bytes: RawObject(dictionaryLiteral: (family, $0.json)).json.bytes)
            }
        }
    }

    /// A whole snapshot in one chunk.
    func snapshot(prefix: String = "") -> BulkChunk {
        let mark = watermark(prefix: prefix)
        var chunk = BulkChunk(req: "")
        chunk.epoch = epoch
        chunk.fromSeq = seq
        chunk.rows = rows(entities.keys.filter { $0.hasPrefix(prefix) })
        chunk.end = .complete(seq: seq, entities: mark.entities, digest: mark.digest)
        return chunk
    }

    /// A whole replay in one chunk.
    func replay(from: UInt64) -> BulkChunk {
        var chunk = BulkChunk(req: "")
        chunk.epoch = epoch
        guard from + 1 >= oldestKept else {
            chunk.end = .failed(
                ServiceError(code: .tooOld, message: "too old", detail: ["oldest": .integer(oldestKept)]))
            return chunk
        }
        chunk.rows = events.dropFirst(Int(from)).map { .init(topic: $0.topic, bytes: $0.bytes) }
        chunk.end = .complete(seq: seq, entities: nil, digest: nil)
        return chunk
    }
}

/// A chunk of nothing.
extension BulkChunk {
    static func failure(_ code: ErrorCode) -> BulkChunk {
        var chunk = BulkChunk(req: "")
        chunk.end = .failed(ServiceError(code: code, message: ""))
        return chunk
    }
}

extension [ReplicaEffect] {
    /// What is delivered, in short: `synced(joined)`, `1`, `2` …, with a bar where it is no news.
    var told: [String] {
        compactMap { effect in
            guard case .deliver(let delivery) = effect else { return nil }
            switch delivery {
            case .joined: return "joined"
            case .synced(let state): return "synced(\(state.reason))"
            case .event(let event, let context): return context.isNews ? "\(event.seq)" : "\(event.seq)|"
            case .closing: return "closing"
            }
        }
    }

    /// What is to be done beside delivering.
    var asked: [ReplicaEffect] {
        filter { effect in
            if case .deliver = effect { false } else { true }
        }
    }
}
