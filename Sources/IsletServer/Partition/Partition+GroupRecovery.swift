import IsletCore
import IsletJournal
import IsletProtocol

/// App groups on their way into the snapshot, and back.
extension Partition {
    /// A row of the snapshot.
    func add(groupItem slot: Slot, to chunk: inout StateChunk) {
        let place = EntityPlace(.group, slot).number
        guard let record = engine.groups.record(at: slot) else { return chunk.free(place) }
        var entity = StateChunk.Entity(slot: place)
        let group = engine.groups[record.group]
        entity.app = chunk.store(engine.apps[group.owner].name.span)
        entity.kind = chunk.store(group.name.span)
        entity.key = engine.withBytes(of: record.key) { chunk.store($0.bindMemory(to: UInt8.self).span) }
        entity.content = engine.withBytes(of: record.value) { chunk.store($0.bindMemory(to: UInt8.self).span) }
        let state = Array("present".utf8)
        entity.state = chunk.store(state.span)
        entity.revision = UInt64(record.revision)
        entity.seq = record.lastSeq
        image.removeAll()
        image.image(of: record, in: engine)
        entity.image = image.withSpan { chunk.store($0) }
        chunk.append(entity)
    }

    func restoreGroupItem(_ entity: RecoveredEntity, at slot: Slot) throws(ImageError) {
        let key = Engine.RestoredKey(
            owner: entity.copy(entity.parts.app), group: entity.copy(entity.parts.kind),
            key: entity.copy(entity.parts.key))
        let bytes = entity.bytes.bindMemory(to: UInt8.self).span
        try engine.restoreGroupItem(
            key, at: slot, seq: entity.seq, try GroupImage(bytes.extracting(entity.parts.image)),
            value: bytes.extracting(entity.parts.content))
    }

    /// Takes an event of a group back; false where the topic is of another family.
    ///
    /// - Throws: `ImageError` or `ScanError`.
    func restoreGroupEvent(topic: Span<UInt8>, seq: UInt64, json: Span<UInt8>, image: Span<UInt8>) throws -> Bool {
        guard let parts = GroupTopic(topic) else { return false }
        let image = try GroupImage(image)
        let key = Engine.RestoredKey(
            owner: Array(topic.extracting(parts.owner)), group: Array(topic.extracting(parts.group)),
            key: Array(topic.extracting(parts.key)))
        let value = image.name == .set ? try GroupEventValue.range(in: json) : nil
        try engine.restoreGroupEvent(key, seq: seq, image, value: value, of: json)
        return true
    }
}
