import IsletCore
import IsletJournal

/// The snapshot's file: entities by slot and facts by key.
struct SimSnapshot {
    struct Entity {
        var header: StateChunk.Entity
        /// id, app, kind, key, device, attributes, content and image, one after another.
        var bytes: [UInt8] = []
        var parts: [Range<Int>] = []
    }

    private(set) var entities: [UInt64: Entity] = [:]
    private(set) var facts: [[UInt8]: [UInt8]] = [:]
    private(set) var holdsThrough: UInt64 = 0
    /// The latest domain time at which a piece was filled: what it shows as forgotten was so by then.
    private(set) var at: Int64 = 0
    /// Whether anything was ever written.
    var isEmpty: Bool { entities.isEmpty && facts.isEmpty && holdsThrough == 0 }

    /// Until when it says that answers are remembered for longer; nil where it says nothing.
    var retryHoldEnd: Int64? {
        guard let value = facts[[UInt8(ascii: "v")]] else { return nil }
        return try? ImageReader.read(value.span) { reader throws(ImageError) in
            _ = try reader.instant()
            return try reader.instant().milliseconds
        }
    }

    mutating func apply(_ chunk: StateChunk) {
        for entity in chunk.entities {
            var stored = Entity(header: entity)
            let slices = [
                entity.id, entity.app, entity.kind, entity.key, entity.device, entity.attributes, entity.content,
                entity.image,
            ]
            for slice in slices {
                let start = stored.bytes.count
                // An empty slice is one of no chunk's bytes.
                if slice.count > 0 { stored.bytes += chunk.bytes(slice) }
                stored.parts.append(start..<stored.bytes.count)
            }
            entities[entity.slot] = stored
        }
        for slot in chunk.freed { entities[slot] = nil }
        for fact in chunk.facts { facts[chunk.bytes(fact.key)] = fact.value.map { chunk.bytes($0) } }
        at = max(at, chunk.at)
        if let through = chunk.holdsThrough { holdsThrough = through }
    }
}

extension StateChunk {
    /// A copy of some of its bytes.
    func bytes(_ slice: Slice) -> [UInt8] {
        withBytes(of: slice) { span in span.withUnsafeBytes { Array($0) } }
    }
}
