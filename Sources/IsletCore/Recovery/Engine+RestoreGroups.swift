/// The way back of app groups: from a snapshot's rows and facts, from the images of events, and what follows from them.
extension Engine {
    /// Where a key belongs, as its topic says.
    package struct RestoredKey {
        package var owner: [UInt8]
        package var group: [UInt8]
        package var key: [UInt8]

        package init(owner: [UInt8], group: [UInt8], key: [UInt8]) {
            self.owner = owner
            self.group = group
            self.key = key
        }
    }

    /// A key of the snapshot, in its slot.
    package mutating func restoreGroupItem(
        _ key: RestoredKey, at slot: Slot, seq: UInt64, _ image: GroupImage, value: Span<UInt8>
    ) throws(ImageError) {
        guard slot < Engine.maximumSlot else { throw .contradiction("a key of a group in slot \(slot)") }
        guard image.name == .set else { throw .contradiction("a deleted key of a group in slot \(slot)") }
        guard !groups.slab.isUsed(slot) else { throw .contradiction("two keys of groups in slot \(slot)") }
        // A group of this name was removed and made by another app, of which the snapshot wrote one part before the other:
        // the events behind it tell the rest.
        guard let group = try restoredGroup(key.group, owner: key.owner) else { return groups.changedSlots.insert(slot) }
        if let other = key.key.withUnsafeBytes({ groupSlot(group, $0) }) {
            // It was deleted and set again, and the slot of its first life was not written since.
            guard groups.slab[other].lastSeq < seq else { return groups.changedSlots.insert(slot) }
            forgetRestored(groupItem: other)
        }
        groups.slab.restore(try makeGroupItem(group, key.key, seq: seq, image, value: value), at: slot)
        index(groupItem: slot)
    }

    /// An event of a group; one that the snapshot holds changes nothing.
    ///
    /// - Parameter value: where the value that was set stands in the event's JSON; nil where none was.
    package mutating func restoreGroupEvent(
        _ key: RestoredKey, seq: UInt64, _ image: GroupImage, value: FrameRange?, of json: Span<UInt8>
    ) throws(ImageError) {
        // Of a group that was removed since, and made by another app.
        guard let group = try restoredGroup(key.group, owner: key.owner) else { return }
        guard image.name != .notified else { return }
        if let slot = key.key.withUnsafeBytes({ groupSlot(group, $0) }) {
            guard groups.slab[slot].lastSeq < seq else { return }
            forgetRestored(groupItem: slot)
        }
        switch image.name {
        case .set:
            guard let value else { throw .contradiction("a key that was set to nothing") }
            let slot = groups.slab.insert(
                try makeGroupItem(group, key.key, seq: seq, image, value: json.extracting(value.indices)))
            index(groupItem: slot)
            groups.changedSlots.insert(slot)
        case .deleted:
            groups[group].highestDeleted = max(groups[group].highestDeleted, image.revision)
            groups.changed(group)
        case .notified: break
        }
    }

    private mutating func makeGroupItem(
        _ group: GroupID, _ key: [UInt8], seq: UInt64, _ image: GroupImage, value: Span<UInt8>
    ) throws(ImageError) -> GroupItem {
        guard let app = apps.app(FrameRange(0..<image.by.count), of: image.by.span) else {
            throw .contradiction("more apps than there may be")
        }
        guard value.count <= PayloadStore.maximumCount, key.count <= PayloadStore.maximumCount else {
            throw .contradiction("a payload that is too long")
        }
        return GroupItem(
            group: group, by: app, updatedAt: image.updatedAt, revision: image.revision, lastSeq: seq,
            key: payloads.insert(bytes: key),
            value: payloads.insert(FrameRange(0..<value.count), of: value))
    }

    private mutating func forgetRestored(groupItem slot: Slot) {
        unindex(groupItem: slot)
        free(groupItem: slot)
    }

    /// The group of a name; where its fact is still to come, its members are not known yet. nil: another app owns it.
    private mutating func restoredGroup(_ name: [UInt8], owner: [UInt8]) throws(ImageError) -> GroupID? {
        guard let app = apps.app(FrameRange(0..<owner.count), of: owner.span) else {
            throw .contradiction("more apps than there may be")
        }
        if let known = groups.find(name) {
            return groups[known].owner == app ? known : nil
        }
        // There may be more than `maximumGroups` meanwhile: the snapshot, and a batch's notes, are ahead of the events, and
        // have the group already that was made in the place of a removed one.
        return groups.make(name, owner: app, named: owner, isRestored: true)
    }

    /// Everything was taken back: counts, digests, lists. Before the streams are proven.
    ///
    /// - Throws: `contradiction` for a group without a member. Where commits may be lost, its owner is one.
    mutating func indexRestoredGroups(isProven: Bool) throws(ImageError) {
        for slot in 0..<groups.slab.capacity {
            guard let record = groups.record(at: slot) else { continue }
            // The snapshot was ahead with it.
            guard !groups[record.group].isRemoved else {
                forgetRestored(groupItem: slot)
                continue
            }
            let owner = groups[record.group].owner
            apps[owner].seq = max(apps[owner].seq, record.lastSeq)
            apps[owner].digest.toggle(topicHash: groupTopicHash(of: record), revision: UInt64(record.revision))
            apps[owner].entities += 1
            entityCount += 1
            groups[record.group].bytes += record.value.count
            groups[record.group].keys.append(slot)
        }
        for index in groups.records.indices where !groups.records[index].isRemoved {
            let group = GroupID(index)
            var keys = groups[group].keys
            groups[group].keys = []
            keys.sort { one, other in
                payloads.withBytes(groups.slab[one].key) { one in
                    payloads.withBytes(groups.slab[other].key) { one.lexicographicallyPrecedes($0) }
                }
            }
            groups[group].keys = keys
            guard groups[group].members.isEmpty else { continue }
            guard !isProven else { throw .contradiction("a group of which nobody is a member") }
            groups[group].members = [groups[group].owner]
            groups.restoredWithoutMembers.append(group)
            groups.changed(group)
        }
    }
}

/// Groups as facts: who their members are, and how far the revisions of deleted keys had come.
extension Engine {
    private static let groupTag = UInt8(ascii: "g")

    /// The key of a group's fact.
    package func factKey(group: GroupID) -> [UInt8] { factKey(group: groups[group].name) }

    /// The key of a group's fact, by its name.
    package func factKey(group name: [UInt8]) -> [UInt8] { [Engine.groupTag] + name }

    /// The key of the fact about all removed groups.
    package static let removedGroupsKey = [UInt8(ascii: "h")]

    /// How far the revisions of removed groups' keys had come.
    package func writeRemovedGroupsFact(to writer: inout ImageWriter) {
        writer.write(byte: GroupImage.version)
        writer.write(groups.highestRemoved)
    }

    /// A group was removed.
    ///
    /// - Returns: the group's name, nil where the key is of another fact.
    package mutating func restoreGroupRemoval(_ key: Span<UInt8>) -> [UInt8]? {
        guard key.count > 1, key[0] == Engine.groupTag else { return nil }
        let name = key.bytes(FrameRange(1..<key.count))
        forgetRestored(group: name)
        return name
    }

    /// Events of a batch, which come behind its notes, may have brought back the group that one of those removed.
    package mutating func finishGroupRemoval(_ name: [UInt8]) {
        guard let group = groups.find(name), groups[group].members.isEmpty else { return }
        forgetRestored(group: name)
    }

    private mutating func forgetRestored(group name: [UInt8]) {
        if let group = groups.find(name) { groups.remove(group) } else { groups.forget(name) }
    }

    package func writeFact(group: GroupID, to writer: inout ImageWriter) {
        let record = groups[group]
        writer.write(byte: GroupImage.version)
        writer.write(run: apps[record.owner].name)
        writer.write(record.highestDeleted)
        writer.write(UInt32(record.members.count))
        for member in record.members { writer.write(run: apps[member].name) }
    }

    /// Takes a group back; false where the key is of another fact.
    ///
    /// - Parameter isInSnapshot: whether the snapshot has it; else its next round writes it.
    package mutating func restoreGroupFact(
        _ key: Span<UInt8>, _ value: Span<UInt8>, isInSnapshot: Bool
    ) throws(ImageError) -> Bool {
        if key.count == 1, key[0] == Engine.removedGroupsKey[0] {
            let revision = try ImageReader.read(value) { reader throws(ImageError) in
                let version = try reader.byte()
                guard version == GroupImage.version else { throw .unknownVersion(version) }
                return try reader.integer(UInt32.self)
            }
            groups.raise(highestRemoved: revision)
            return true
        }
        guard key.count > 1, key[0] == Engine.groupTag else { return false }
        let fact = try ImageReader.read(value) { reader throws(ImageError) in try GroupFact(&reader) }
        // Of one that was removed since, and made by another app, which the snapshot has already.
        guard let group = try restoredGroup(key.bytes(FrameRange(1..<key.count)), owner: fact.owner) else { return true }
        var members: [AppID] = []
        for name in fact.members {
            guard let app = apps.app(FrameRange(0..<name.count), of: name.span) else {
                throw .contradiction("more apps than there may be")
            }
            members.append(app)
        }
        groups[group].members = members
        groups[group].highestDeleted = max(groups[group].highestDeleted, fact.highestDeleted)
        if !isInSnapshot { groups.changed(group) }
        return true
    }
}

/// What is stored of a group.
private struct GroupFact {
    var owner: [UInt8]
    var highestDeleted: UInt32
    var members: [[UInt8]] = []

    init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == GroupImage.version else { throw .unknownVersion(version) }
        owner = try reader.bytesOfRun()
        highestDeleted = try reader.integer()
        let count = try reader.integer(UInt32.self)
        guard (1...UInt32(GroupTable.maximumMembers)).contains(count) else { throw .unknownValue }
        for _ in 0..<count { members.append(try reader.bytesOfRun()) }
    }
}
