import IsletClient

/// The service's side of events and bulk, as in the contract, for one peer, without sockets and without a clock.
struct PlayedService {
    /// By which connection a message goes.
    enum Way: Int {
        case events, bulk, commands
    }

    /// What goes to the peer.
    struct Message {
        var way: Way
        var frames: [[UInt8]]
    }

    /// A pull of the peer, which goes on as long as it has credit.
    private struct Pull {
        var isSnapshot: Bool
        var app: String
        var prefix: String
        var from: UInt64
        var topics: [String]
        var credit: Int
        var chunk = 0
        /// Whether the next chunk is on its way to being made.
        var isAwaited = false
    }

    static let rowsPerChunk = 3

    private(set) var models: [String: ModelStream]
    private var life = 1
    private var topics: [[UInt8]] = []
    private var pulls: [String: Pull] = [:]
    private var generator: SplitMix
    private var lastID = 0
    /// Pulls whose next chunk is to be made a little later, for `chunk`.
    var awaited: [String] = []

    init(apps: [String], seed: UInt64) {
        models = Dictionary(uniqueKeysWithValues: apps.map { ($0, ModelStream(app: $0)) })
        generator = SplitMix(state: seed)
    }

    var epoch: String { "e\(life)" }

    // MARK: Living

    /// One more event of an app: an activity of one of two types is started, updated or dismissed.
    mutating func change(_ app: String) -> [Message] {
        guard var model = models.removeValue(forKey: app) else { return [] }
        let living = model.entities.keys.sorted()
        let event: StreamEvent
        let dice = Int.random(in: 0..<100, using: &generator)
        if let topic = living.randomElement(using: &generator), dice >= 40 {
            let parts = topic.split(separator: "/")
            let (type, id) = (String(parts[2]), String(parts[3]))
            event = dice >= 85 ? model.dismiss(id, type: type) : model.update(id, type: type, eta: dice)
        } else {
            lastID += 1
            event = model.start("\(lastID)", type: lastID.isMultiple(of: 3) ? "Order" : "Ride")
        }
        models[app] = model
        return publish(Array(event.topic.utf8), event.bytes)
    }

    func marks() -> [Message] {
        models.values.filter { $0.seq > 0 }.sorted { $0.app < $1.app }.flatMap { model in
            var body = position(of: model)
            body["at"] = .integer(0)
            return publish(Array("\(model.app)/~".utf8), body.json.bytes)
        }
    }

    /// All begins anew, as a store in memory does.
    mutating func forget() {
        life += 1
        let epoch = epoch
        for app in models.keys {
            models[app] = ModelStream(app: app)
            models[app]?.epoch = epoch
        }
    }

    /// Replays reach back no further than the last event.
    mutating func trim() {
        for app in models.keys {
            let seq = models[app]?.seq ?? 0
            models[app]?.oldestKept = max(1, seq)
        }
    }

    private func publish(_ topic: [UInt8], _ body: [UInt8]) -> [Message] {
        topics.contains { topic.starts(with: $0) } ? [Message(way: .events, frames: [topic, body])] : []
    }

    private func position(of model: ModelStream, prefix: String = "") -> RawObject {
        let mark = model.watermark(prefix: prefix)
        let digest = String(mark.digest ?? 0, radix: 16)
        return [
            "epoch": .string(model.epoch), "seq": .integer(model.seq), "entities": .integer(mark.entities),
            "digest": .string(String(repeating: "0", count: 16 - digest.count) + digest),
        ]
    }

    // MARK: Connections

    /// The peer's pulls are lost.
    mutating func loseBulk() {
        pulls = [:]
    }

    /// A new connection of the peer's subscriptions.
    mutating func connected(_ wanted: [[UInt8]]) -> [Message] {
        topics = []
        return wanted.flatMap { subscribe($0, isBusy: false) }
    }

    mutating func subscribe(_ topic: [UInt8], isBusy: Bool) -> [Message] {
        topics.append(topic)
        guard topic.first == 0xFF else { return [] }
        guard !isBusy else { return publish(topic, Array(#"{"at":0,"error":"busy"}"#.utf8)) }
        let parts = String(decoding: topic.dropFirst(), as: UTF8.self).split(separator: "/")
        let known = models.values.filter { $0.seq > 0 && (parts.count < 3 || parts[2] == $0.app) }
        let apps = known.map { model in
            RawObject.Member(
                model.app, .object([.init("epoch", .string(model.epoch)), .init("seq", .integer(model.seq))]))
        }
        let answer: RawObject = ["at": .integer(0), "apps": .object(apps), "epoch": .string(epoch)]
        return publish(topic, answer.json.bytes)
    }

    mutating func unsubscribe(_ topic: [UInt8]) {
        if let index = topics.firstIndex(of: topic) { topics.remove(at: index) }
    }

    // MARK: Bulk

    mutating func asked(_ command: RawObject, isBusy: Bool) -> [Message] {
        guard let op = command["op"]?.string, let req = command["req"]?.string else { return [] }
        let app = command["app"]?.string ?? ""
        let prefix = command["prefix"]?.string ?? ""
        switch op {
        case "bulk.cancel":
            pulls[req] = nil
        case "bulk.credit":
            pulls[req]?.credit += 1
            awaitChunk(req)
        case _ where isBusy:
            return refuse(req, "busy", retry: "later")
        case "bulk.digest":
            var body = position(of: models[app] ?? ModelStream(app: app), prefix: prefix)
            body["req"] = .string(req)
            return [Message(way: .bulk, frames: [body.json.bytes])]
        case _ where pulls[req] != nil:
            return refuse(req, "requestReused", retry: "never")
        default:
            let model = models[app]
            pulls[req] = Pull(
                isSnapshot: op == "bulk.snapshot", app: app, prefix: prefix,
                from: command["from"]?.unsigned ?? model?.seq ?? 0, topics: model?.entities.keys.sorted() ?? [],
                credit: Int(command["credit"]?.integer ?? 0))
            awaitChunk(req)
        }
        return []
    }

    private func refuse(_ req: String, _ code: String, retry: String) -> [Message] {
        let error: RawObject = [
            "code": .string(code), "message": .string(""), "retry": .string(retry), "retryAfter": .integer(100),
        ]
        let body: RawObject = ["req": .string(req), "ok": .bool(false), "error": error.json]
        return [Message(way: .bulk, frames: [body.json.bytes])]
    }

    /// One chunk for each credit, with a little time between them, in which more may happen.
    private mutating func awaitChunk(_ req: String) {
        guard let pull = pulls[req], pull.credit > 0, !pull.isAwaited else { return }
        pulls[req]?.isAwaited = true
        awaited.append(req)
    }

    /// The next chunk of a pull.
    mutating func chunk(_ req: String) -> [Message] {
        guard var pull = pulls[req], pull.isAwaited, let model = models[pull.app] else { return [] }
        var header: RawObject = ["req": .string(req), "chunk": .integer(pull.chunk), "epoch": .string(model.epoch)]
        var rows: [BulkChunk.Row] = []
        let isLast: Bool
        if pull.isSnapshot {
            if pull.chunk == 0 { header["fromSeq"] = .integer(pull.from) }
            rows = model.rows(pull.topics.prefix(Self.rowsPerChunk).filter { $0.hasPrefix(pull.prefix) })
            pull.topics.removeFirst(min(Self.rowsPerChunk, pull.topics.count))
            isLast = pull.topics.isEmpty
        } else {
            guard pull.from <= model.seq else {
                pulls[req] = nil
                let error: RawObject = ["code": .string("badField"), "message": .string(""), "retry": .string("never")]
                header["end"] = .bool(true)
                header["error"] = error.json
                return [Message(way: .bulk, frames: [header.json.bytes])]
            }
            let whole = model.replay(from: pull.from)
            guard whole.error == nil else {
                pulls[req] = nil
                let detail: RawObject = ["oldest": .integer(model.oldestKept)]
                let error: RawObject = [
                    "code": .string("tooOld"), "message": .string(""), "retry": .string("refresh"),
                    "detail": detail.json,
                ]
                header["end"] = .bool(true)
                header["error"] = error.json
                return [Message(way: .bulk, frames: [header.json.bytes])]
            }
            rows = Array(whole.rows.prefix(Self.rowsPerChunk))
            pull.from += UInt64(rows.count)
            isLast = pull.from >= model.seq
        }
        header["rows"] = .integer(rows.count)
        if isLast {
            header["end"] = .bool(true)
            for member in position(of: model, prefix: pull.prefix).members { header[member.name] = member.value }
        }
        pull.chunk += 1
        pull.credit -= 1
        pull.isAwaited = false
        pulls[req] = isLast ? nil : pull
        awaitChunk(req)
        let pairs = rows.flatMap { [Array($0.topic.utf8), $0.bytes] }
        return [Message(way: .bulk, frames: [header.json.bytes] + pairs)]
    }
}
