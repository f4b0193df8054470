/// A fresh engine takes back what a journal kept: the snapshot's facts and activities, then the events behind it, and at
/// last ``finishRestoring(at:)``, which makes everything that follows from them and compares it with what was written.
extension Engine {
    /// No slot lies beyond this: a bit that flipped in a file must not ask for all memory.
    static let maximumSlot = Slot(1 << 26)

    /// An activity's names and payloads, in the bytes that they stand in.
    package struct RestoredParts {
        package var app: FrameRange
        package var kind: FrameRange
        package var key: FrameRange?
        package var device: FrameRange?
        package var attributes: FrameRange
        package var content: FrameRange

        package init(
            app: FrameRange, kind: FrameRange, key: FrameRange?, device: FrameRange?, attributes: FrameRange,
            content: FrameRange
        ) {
            self.app = app
            self.kind = kind
            self.key = key
            self.device = device
            self.attributes = attributes
            self.content = content
        }
    }

    /// An activity of the snapshot comes back to its slot. Those of a lower slot must have come before.
    package mutating func restore(
        _ id: EntityID, at slot: Slot, seq: UInt64, _ image: ActivityImage, _ parts: RestoredParts,
        of bytes: Span<UInt8>
    ) throws(ImageError) {
        guard seq < ActivityRecord.numberLimit else { throw .contradiction("a sequence number of \(seq)") }
        guard slot < Engine.maximumSlot else { throw .contradiction("an activity in slot \(slot)") }
        guard !activities.isUsed(slot) else { throw .contradiction("two activities in slot \(slot)") }
        if let other = self.slot(of: id) {
            // The id was used again, perhaps by another app, and the slot of its first life was not written since. The
            // order of starting tells which life is the newer one; sequence numbers are only within an app.
            guard activities[other].ordinal < image.ordinal else { return changedSlots.insert(slot) }
            removeRestored(other)
        }
        let record = try makeRecord(id, seq: seq, image, parts, of: bytes)
        activities.restore(record, at: slot)
        setRelevanceScore(image.relevanceScore, of: slot)
        byID.insert(id.keyedHash, slot)
        keepLinks(image.links, at: slot)
    }

    /// All activities of the snapshot are back: from now on, new ones take slots that are free.
    package mutating func finishSnapshot() {
        activities.rebuildFreeList()
        controls.slab.rebuildFreeList()
        groups.slab.rebuildFreeList()
        widgets.slab.rebuildFreeList()
    }

    /// An event that began an activity.
    package mutating func restoreStart(
        _ id: EntityID, seq: UInt64, _ image: ActivityImage, _ parts: RestoredParts, of bytes: Span<UInt8>
    ) throws(ImageError) {
        if let slot = slot(of: id) {
            guard activities[slot].ordinal < image.ordinal else { return }
            removeRestored(slot)
        }
        guard seq < ActivityRecord.numberLimit else { throw .contradiction("a sequence number of \(seq)") }
        let slot = activities.insert(try makeRecord(id, seq: seq, image, parts, of: bytes))
        setRelevanceScore(image.relevanceScore, of: slot)
        byID.insert(id.keyedHash, slot)
        keepLinks(image.links, at: slot)
        changedSlots.insert(slot)
    }

    /// An event of an activity; one that the snapshot holds, or of one that was forgotten since, changes nothing.
    ///
    /// - Parameter content: its new content, where the image says that it brought one.
    package mutating func restoreChange(
        _ id: EntityID, seq: UInt64, _ image: ActivityImage, content: FrameRange?, of bytes: Span<UInt8>
    ) {
        // An event of a life before this one has a lower place in the order of starting.
        guard let slot = slot(of: id), activities[slot].ordinal <= image.ordinal, activities[slot].lastSeq < seq,
            seq < ActivityRecord.numberLimit
        else {
            return
        }
        activities[slot].machine = image.machine
        activities[slot].revision = image.revision
        activities[slot].stateAt = image.stateAt
        setRelevanceScore(image.relevanceScore, of: slot)
        activities[slot].ordinal = image.ordinal
        activities[slot].frequentPushes = image.frequentPushes
        activities[slot].lastSeq = seq
        if image.machine.state == .dismissed {
            releasePayloads(slot)
        } else if image.contentChanged, let content, content.count <= PayloadPair.maximumCount {
            payloads.replaceSecond(of: &activities[slot].payload, by: content, of: bytes)
        }
        keepLinks(image.links, at: slot)
        changedSlots.insert(slot)
    }

    /// A sign of life, or a setting that it runs under, which made no event.
    package mutating func restoreSign(_ id: EntityID, _ image: ActivityImage) {
        guard let slot = slot(of: id), activities[slot].revision == image.revision,
            activities[slot].ordinal == image.ordinal
        else { return }
        activities[slot].machine = image.machine
        activities[slot].frequentPushes = image.frequentPushes
        changedSlots.insert(slot)
    }

    /// The app of a name, made where it is new; nil where there is no room for another.
    package mutating func restoredApp(_ name: Span<UInt8>) -> AppID? {
        apps.app(FrameRange(offset: 0, count: name.count), of: name)
    }

    /// How far an app's stream is, with its listed activities and their digest there; the snapshot's next round writes it.
    package mutating func restoreStreamEnd(_ app: AppID, seq: UInt64, entities: Int, digest: UInt64) {
        restoreStream(app, seq: seq, entities: entities, digest: digest)
        appChanged(app)
    }

    mutating func restoreStream(_ app: AppID, seq: UInt64, entities: Int, digest: UInt64) {
        guard seq >= apps[app].seq else { return }
        apps[app].seq = seq
        apps[app].restored = AppRecord.Restored(seq: seq, entities: entities, digest: digest)
    }

    private mutating func makeRecord(
        _ id: EntityID, seq: UInt64, _ image: ActivityImage, _ parts: RestoredParts, of bytes: Span<UInt8>
    ) throws(ImageError) -> ActivityRecord {
        guard let app = apps.app(parts.app, of: bytes), let kind = apps.kind(app, parts.kind, of: bytes) else {
            throw .contradiction("more apps or kinds than there may be")
        }
        var device: DeviceID?
        if let name = parts.device {
            guard let known = devices.device(name, of: bytes) else {
                throw .contradiction("more devices than there may be")
            }
            device = known
        }
        let keyCount = parts.key?.count ?? 0
        guard keyCount <= UInt8.max, image.pushType.count <= ActivityRecord.maximumPushTypeCount else {
            throw .contradiction("a name that is too long")
        }
        let isGone = image.machine.state == .dismissed
        let content = isGone ? FrameRange(offset: 0, count: 0) : parts.content
        let count = Int(parts.attributes.count) + Int(keyCount) + image.pushType.count + image.alert.count
        guard count <= PayloadPair.maximumCount, content.count <= PayloadPair.maximumCount else {
            throw .contradiction("a payload that is too long")
        }
        let payload = payloads.insertPair(counts: (count, Int(content.count))) { target in
            var offset = 0
            for case let part? in [parts.attributes, parts.key] {
                bytes.copy(part, to: UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + Int(part.count)]))
                offset += Int(part.count)
            }
            for part in [image.pushType, image.alert] {
                UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + part.count]).copyBytes(from: part)
                offset += part.count
            }
            bytes.copy(content, to: UnsafeMutableRawBufferPointer(rebasing: target[offset...]))
        }
        var record = ActivityRecord(
            id: id, machine: image.machine, payload: payload, revision: image.revision, kind: kind, device: device,
            ordinal: image.ordinal, attributesCount: parts.attributes.count, keyCount: UInt8(keyCount),
            pushTypeCount: image.pushType.count)
        record.frequentPushes = image.frequentPushes
        record.lastSeq = seq
        record.stateAt = image.stateAt
        return record
    }

    private mutating func keepLinks(_ links: RenewalLinks, at slot: Slot) {
        guard links != RenewalLinks() else { return }
        renewals[slot] = links
        activities[slot].hasRenewalLinks = true
    }

    private mutating func removeRestored(_ slot: Slot) {
        let record = activities[slot]
        byID.remove(record.id.keyedHash, slot)
        renewals[slot] = nil
        payloads.remove(record.payload)
        activities.remove(slot)
        changedSlots.insert(slot)
    }
}
