import IsletClient
import IsletFilter

/// The first line of a recording that begins with a snapshot.
struct RecordedHeader {
    /// What a recording of this form begins with.
    static let version: Int64 = 1

    /// When it was made, in milliseconds of the recorded service's domain time.
    var at: Int64
    /// What its topics begin with; empty: it has everything.
    var prefix: String
    /// Where the streams stood.
    var apps: [String: StreamPosition] = [:]
    /// The service's, as `service.info` says it.
    var ruleSet: RawJSON?

    init(at: Int64, prefix: String) {
        self.at = at
        self.prefix = prefix
    }

    /// Whether it has less than whole apps.
    var isOfPart: Bool { prefix.firstIndex(of: "/").map { prefix.index(after: $0) < prefix.endIndex } ?? false }

    /// Reads one; nil where it is of a later form, or none.
    init?(_ object: RawObject) {
        guard object["recording"]?.integer == Self.version, let at = object["at"]?.integer,
            Moment.plausible.contains(at), let apps = object["apps"]?.object
        else { return nil }
        self.at = at
        prefix = object["prefix"]?.string ?? ""
        for member in apps.members {
            guard let position = member.value.object, let epoch = position["epoch"]?.string,
                let seq = position["seq"]?.unsigned
            else { return nil }
            self.apps[member.name] = StreamPosition(epoch: epoch, seq: seq)
        }
        ruleSet = object["ruleSet"]
    }

    var json: RawJSON {
        let positions = apps.sorted { $0.key < $1.key }.map { app, position in
            RawObject.Member(
                app, .object([.init("epoch", .string(position.epoch)), .init("seq", .integer(position.seq))]))
        }
        var members: [RawObject.Member] = [
            .init("recording", .integer(Self.version)), .init("at", .integer(at)), .init("apps", .object(positions)),
        ]
        if !prefix.isEmpty { members.append(.init("prefix", .string(prefix))) }
        if let ruleSet { members.append(.init("ruleSet", ruleSet)) }
        return .object(members)
    }
}

/// One line of a recording's snapshot: a listed entity.
struct RecordedRow {
    let topic: String
    /// As a snapshot has it: `{"activity":{…}}`.
    let row: [UInt8]
    /// The last event of its app that it knows of.
    let seq: UInt64

    init(topic: String, row: [UInt8], seq: UInt64) {
        self.topic = topic
        self.row = row
        self.seq = seq
    }

    /// Reads one; nil where it is none.
    init?(_ object: RawObject) {
        guard let topic = object["topic"]?.string, let row = object["row"], row.object != nil,
            let seq = object["seq"]?.unsigned
        else { return nil }
        self.init(topic: topic, row: row.bytes, seq: seq)
    }

    var bytes: [UInt8] {
        let row = RawObject(row)?.json ?? .null
        return RawJSON.object([.init("topic", .string(topic)), .init("row", row), .init("seq", .integer(seq))]).bytes
    }

    /// The event by which a replay begins the entity; nil where the row has none.
    ///
    /// - Parameters:
    ///   - at: when the snapshot was taken.
    ///   - epoch: of its app's stream.
    func start(at: Int64, epoch: String) -> StreamEvent? {
        guard let (name, value) = RawObject(row)?.members.first.map({ ($0.name, $0.value) }),
            let family = EntityTopic.Family(rawValue: name), EntityTopic(topic).family == family,
            let entity = value.object, entity["revision"]?.unsigned != nil
        else { return nil }
        let verb =
            switch family {
            case .activity: "started"
            case .control, .widget: "added"
            case .group: "set"
            }
        var members: [RawObject.Member] = [
            .init("epoch", .string(epoch)), .init("seq", .integer(seq)), .init("at", .integer(at)),
            .init("event", .string("\(name).\(verb)")),
        ]
        if let state = entity["state"] { members.append(.init("to", state)) }
        members.append(.init(name, value))
        return StreamEvent(topic: topic, bytes: RawJSON.object(members).bytes)
    }
}

/// The line that ends a recording's snapshot.
struct RecordedEnd {
    /// The moment of an app's part, and what it has there.
    struct Part: Equatable {
        var seq: UInt64
        var entities: Int
        /// The contract's digest over its rows.
        var digest: UInt64
    }

    private(set) var parts: [String: Part] = [:]

    init(_ cuts: [String: SnapshotCut]) {
        parts = cuts.mapValues { Part(seq: $0.knownTo, entities: $0.count, digest: $0.digest) }
    }

    /// Reads one; nil where it is none.
    init?(_ object: RawObject) {
        guard let apps = object["snapshotEnd"]?.object else { return nil }
        for member in apps.members {
            guard let part = member.value.object, let seq = part["seq"]?.unsigned,
                let entities = part["entities"]?.unsigned,
                let digest = part["digest"]?.string.flatMap({ UInt64($0, radix: 16) })
            else { return nil }
            parts[member.name] = Part(seq: seq, entities: Int(clamping: entities), digest: digest)
        }
    }

    var bytes: [UInt8] {
        let apps = parts.sorted { $0.key < $1.key }.map { app, part in
            let digest = String(part.digest, radix: 16)
            return RawObject.Member(
                app,
                .object([
                    .init("seq", .integer(part.seq)), .init("entities", .integer(part.entities)),
                    .init("digest", .string(String(repeating: "0", count: 16 - digest.count) + digest)),
                ]))
        }
        return RawJSON.object([.init("snapshotEnd", .object(apps))]).bytes
    }
}

extension StreamEvent {
    /// The event's own bytes beside its topic, as a recording has it.
    var withTopic: [UInt8] {
        RawObject(dictionaryLiteral: ("topic", .string(topic)), ("event", object.json)).json.bytes
    }
}
