/// How far a stream, which is the events of one app, has been read.
public struct StreamPosition: Sendable, Hashable {
    /// Opaque; sequence numbers can be compared within one epoch only.
    public var epoch: String
    /// The last event that was taken in; the next one has the next number.
    public var seq: UInt64

    /// A position of these two.
    public init(epoch: String, seq: UInt64) {
        self.epoch = epoch
        self.seq = seq
    }
}

/// What the service answers to a join: where each stream stood when the earlier subscriptions were active.
package struct JoinAnswer: Sendable, Hashable {
    /// By app; an app that is absent has no events yet.
    package var positions: [String: StreamPosition]
    /// That of streams which begin now; nil where the service is too old to name it.
    package var epoch: String?

    /// Reads the answer's frame; nil for what is none, such as the warning that a subscriber lags behind.
    package static func read(_ bytes: [UInt8]) -> Result<JoinAnswer, IsletError>? {
        guard let object = RawObject(bytes) else {
            return .failure(.unreadable("a join answer that is no JSON object"))
        }
        if let error = object["error"] {
            return .failure(ServiceError(error).map(IsletError.refused) ?? .unreadable("a join error without a code"))
        }
        guard let apps = object["apps"]?.object else { return nil }
        var positions: [String: StreamPosition] = [:]
        for member in apps.members {
            guard let position = member.value.object, let epoch = position["epoch"]?.string,
                let seq = position["seq"]?.sequenceNumber
            else { return .failure(.unreadable("a join answer without positions")) }
            positions[member.name] = StreamPosition(epoch: epoch, seq: seq)
        }
        return .success(JoinAnswer(positions: positions, epoch: object["epoch"]?.string))
    }
}

/// How a stream stands by the service's own account, published beside its events.
package struct Watermark: Sendable, Hashable {
    package var position: StreamPosition
    /// How many entities are listed.
    package var entities: Int
    /// The digest over them; nil where it cannot be read.
    package var digest: UInt64?

    /// Reads a watermark's frame, or the answer to `bulk.digest`, which has the same members.
    package init?(_ object: RawObject) {
        guard let epoch = object["epoch"]?.string, let seq = object["seq"]?.sequenceNumber,
            let entities = object["entities"]?.unsigned
        else { return nil }
        position = StreamPosition(epoch: epoch, seq: seq)
        self.entities = Int(clamping: entities)
        digest = object["digest"]?.string.flatMap { $0.utf8.count == 16 ? UInt64($0, radix: 16) : nil }
    }

    /// A watermark of these parts.
    package init(position: StreamPosition, entities: Int, digest: UInt64?) {
        self.position = position
        self.entities = entities
        self.digest = digest
    }
}
