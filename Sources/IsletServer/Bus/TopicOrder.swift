/// Different topics in the order of their bytes, each with how many peers have it, and how large a trie of them is: a topic's
/// own nodes are those that it has in common with neither neighbour.
struct TopicOrder {
    private struct Entry {
        let topic: [UInt8]
        var peers: Int
    }

    private var entries: [Entry] = []
    /// Nodes of a trie of all topics: one for each beginning that any of them has.
    private(set) var nodes = 0

    var count: Int { entries.count }

    /// One more peer has a topic.
    ///
    /// - Returns: the topic, in memory that all who have it share.
    mutating func insert(_ topic: UnsafeRawBufferPointer) -> [UInt8] {
        let (place, isKnown) = place(of: topic)
        if isKnown {
            entries[place].peers += 1
        } else {
            entries.insert(Entry(topic: Array(topic), peers: 1), at: place)
            nodes += ownNodes(at: place)
        }
        return entries[place].topic
    }

    /// One peer fewer has a topic that it had.
    mutating func remove(_ topic: [UInt8]) {
        let (place, isKnown) = topic.withUnsafeBytes { self.place(of: $0) }
        guard isKnown else { return }
        entries[place].peers -= 1
        guard entries[place].peers == 0 else { return }
        nodes -= ownNodes(at: place)
        entries.remove(at: place)
    }

    /// Where a topic stands, or would stand.
    private func place(of topic: UnsafeRawBufferPointer) -> (place: Int, isKnown: Bool) {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            let other = entries[middle].topic
            let alike = other.withUnsafeBytes { Self.commonBeginning($0, topic) }
            if alike == topic.count, alike == other.count { return (middle, true) }
            let isBefore = alike == other.count || (alike < topic.count && other[alike] < topic[alike])
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    private func ownNodes(at place: Int) -> Int {
        let topic = entries[place].topic
        var alike = 0
        for neighbour in [place - 1, place + 1] where entries.indices.contains(neighbour) {
            let common = topic.withUnsafeBytes { topic in
                entries[neighbour].topic.withUnsafeBytes { Self.commonBeginning(topic, $0) }
            }
            alike = max(alike, common)
        }
        return topic.count - alike
    }

    /// With how many bytes both begin alike.
    private static func commonBeginning(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
        let length = min(one.count, other.count)
        var alike = 0
        while alike < length, one[alike] == other[alike] { alike += 1 }
        return alike
    }
}
