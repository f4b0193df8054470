/// What readers see of groups: keys by name and in order, and their topics.
extension Engine {
    /// The key of a group, or nil where it is not there.
    package func groupSlot(_ group: GroupID, _ key: FrameRange, _ frame: Span<UInt8>) -> Slot? {
        let part = frame.extracting(key.indices)
        return part.withUnsafeBytes { groupSlot(group, $0) }
    }

    func groupSlot(_ group: GroupID, _ key: UnsafeRawBufferPointer) -> Slot? {
        groups.byKey.find(Engine.hash(group: group, key: key)) { slot in
            let record = groups.slab[slot]
            return record.group == group && payloads.withBytes(record.key) { equal($0, key) }
        }
    }

    /// The keys of a group that begin with a prefix, as places in ``GroupRecord/keys``.
    ///
    /// - Parameter cursor: where the page begins: behind this key, which need not be there any more.
    /// - Returns: the places of all of them, and the first one of the page.
    package func groupKeys(
        of group: GroupID, prefix: [UInt8], after cursor: [UInt8]?
    ) -> (all: Range<Int>, first: Int) {
        let begin = groupPosition(group, prefix).index
        // Names are ASCII, so nothing that begins with the prefix comes behind it and a byte that no name has.
        let end = groupPosition(group, prefix + [UInt8.max]).index
        guard let cursor else { return (begin..<end, begin) }
        let place = groupPosition(group, cursor)
        return (begin..<end, min(end, max(begin, place.isThere ? place.index + 1 : place.index)))
    }

    /// Where a key stands among those of its group, or would stand.
    func groupPosition(_ group: GroupID, _ key: [UInt8]) -> (index: Int, isThere: Bool) {
        let keys = groups[group].keys
        var low = 0
        var high = keys.count
        while low < high {
            let middle = low + (high - low) / 2
            let isBefore = payloads.withBytes(groups.slab[keys[middle]].key) { $0.lexicographicallyPrecedes(key) }
            if isBefore { low = middle + 1 } else { high = middle }
        }
        let isThere = low < keys.count && payloads.withBytes(groups.slab[keys[low]].key) { $0.elementsEqual(key) }
        return (low, isThere)
    }

    /// Whether the topic of a key begins with a prefix.
    func groupTopic(at slot: Slot, hasPrefix prefix: [UInt8]) -> Bool {
        let record = groups.slab[slot]
        let known = groups[record.group].topicPrefix
        if prefix.count <= known.count { return known.starts(with: prefix) }
        guard prefix.starts(with: known) else { return false }
        return payloads.withBytes(record.key) { $0.starts(with: prefix[known.count...]) }
    }

    /// The hash of a key's topic.
    func groupTopicHash(of record: GroupItem) -> TopicHash {
        var hash = groups[record.group].topicHash
        payloads.withBytes(record.key) { for byte in $0 { hash.combine(byte) } }
        return hash
    }

    /// An id for a key, or for the notifications of a group, where one is needed and a topic is what there is.
    package func identity(of event: GroupEvent) -> EntityID {
        let hash = event.slot.map { groupTopicHash(of: groups.slab[$0]) } ?? groups[event.group].topicHash
        var other = hash
        other.combine(UInt8.max)
        return EntityID(high: hash.value, low: other.value)
    }
}
