/// What turns a change of a key into its revision, event, digest and counts: the one place where they change.
extension Engine {
    /// A key was set or deleted: its value is in its slot already.
    mutating func step(_ name: GroupEvent.Name, _ slot: Slot, by app: AppID, at now: Instant) {
        let before = groups.slab[slot]
        let isFirst = before.lastSeq == 0
        groups.slab[slot].revision += 1
        groups.slab[slot].by = app
        groups.slab[slot].updatedAt = now
        groups.slab[slot].isRemoved = name == .deleted
        let record = groups.slab[slot]
        let owner = groups[record.group].owner
        let topicHash = groupTopicHash(of: record)
        if !isFirst { toggle(topicHash, UInt64(before.revision), owner, groupItem: slot, isAdded: false) }
        if !record.isRemoved { toggle(topicHash, UInt64(record.revision), owner, groupItem: slot, isAdded: true) }
        let change = (record.isRemoved ? 0 : 1) - (isFirst ? 0 : 1)
        apps[owner].entities += change
        entityCount += change
        apps[owner].seq += 1
        groups.slab[slot].lastSeq = apps[owner].seq
        groups.changedSlots.insert(slot)
        appChanged(owner)
        groups.events.append(
            GroupEvent(
                name: name, group: record.group, slot: slot, signal: nil, app: owner, by: app, seq: apps[owner].seq,
                previous: before.lastSeq, at: now, revision: record.revision, isFirst: isFirst, position: eventCount))
    }

    /// The members of a group changed, which no event tells.
    mutating func note(group: GroupID) {
        groups.changed(group)
        if isJournalled { notes.append(.group(group)) }
    }

    /// The events were encoded: deleted keys give back their slots.
    mutating func releaseGroupEvents() {
        for event in groups.events {
            guard event.name == .deleted, let slot = event.slot, groups.record(at: slot)?.isRemoved == true else {
                continue
            }
            free(groupItem: slot)
        }
        groups.events.removeAll(keepingCapacity: true)
    }

    /// A key that is not in the index any more leaves the slab.
    mutating func free(groupItem slot: Slot) {
        payloads.remove(groups.slab[slot].key)
        payloads.remove(groups.slab[slot].value)
        groups.slab.remove(slot)
        groups.changedSlots.insert(slot)
    }

    mutating func index(groupItem slot: Slot) {
        groups.byKey.insert(groupHash(of: slot), slot)
    }

    mutating func unindex(groupItem slot: Slot) {
        groups.byKey.remove(groupHash(of: slot), slot)
    }

    private func groupHash(of slot: Slot) -> UInt64 {
        let record = groups.slab[slot]
        return payloads.withBytes(record.key) { Engine.hash(group: record.group, key: $0) }
    }

    static func hash(group: GroupID, key: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(group)
        hasher.combine(bytes: key)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// A listed key came, changed or went: the digest of its group's owner follows, and those that are being computed.
    private mutating func toggle(
        _ topicHash: TopicHash, _ revision: UInt64, _ owner: AppID, groupItem slot: Slot, isAdded: Bool
    ) {
        apps[owner].digest.toggle(topicHash: topicHash, revision: revision)
        if !digestScans.isEmpty {
            changedDuringScans(topicHash, revision, owner, EntityPlace(.group, slot), isAdded: isAdded)
        }
    }
}
