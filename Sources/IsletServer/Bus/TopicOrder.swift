/// Different topics in the order of their bytes, each with how many peers have it, and how large a trie of them is: a topic's
/// own nodes are those that it has in common with neither neighbour.
///
/// They stand in blocks, so that one that comes or goes moves few others, however many there are.
package struct TopicOrder {
    /// A block of more topics is split.
    package static let largestBlock = 256

    private struct Entry {
        let topic: [UInt8]
        var peers: Int
    }

    private struct Place {
        var block: Int
        var index: Int
    }

    /// None of them is empty.
    private var blocks: [[Entry]] = []
    /// Nodes of a trie of all topics: one for each beginning that any of them has.
    package private(set) var nodes = 0
    package private(set) var count = 0

    package init() {}

    /// One more peer has a topic.
    ///
    /// - Returns: the topic, in memory that all who have it share.
    package mutating func insert(_ topic: UnsafeRawBufferPointer) -> [UInt8] {
        var (place, isKnown) = place(of: topic)
        if isKnown {
            blocks[place.block][place.index].peers += 1
        } else {
            add(Entry(topic: Array(topic), peers: 1), at: &place)
            nodes += ownNodes(at: place)
        }
        return blocks[place.block][place.index].topic
    }

    /// One peer fewer has a topic that it had.
    package mutating func remove(_ topic: [UInt8]) {
        let (place, isKnown) = topic.withUnsafeBytes { self.place(of: $0) }
        guard isKnown else { return }
        blocks[place.block][place.index].peers -= 1
        guard blocks[place.block][place.index].peers == 0 else { return }
        nodes -= ownNodes(at: place)
        blocks[place.block].remove(at: place.index)
        if blocks[place.block].isEmpty { blocks.remove(at: place.block) }
        count -= 1
    }

    /// - Parameter place: where it is to stand; where it stands then.
    private mutating func add(_ entry: Entry, at place: inout Place) {
        count += 1
        guard place.block < blocks.count else { return blocks.append([entry]) }
        blocks[place.block].insert(entry, at: place.index)
        guard blocks[place.block].count > Self.largestBlock else { return }
        let half = blocks[place.block].count / 2
        blocks.insert(Array(blocks[place.block][half...]), at: place.block + 1)
        blocks[place.block].removeSubrange(half...)
        if place.index >= half { place = Place(block: place.block + 1, index: place.index - half) }
    }

    /// Where a topic stands, or would stand.
    private func place(of topic: UnsafeRawBufferPointer) -> (place: Place, isKnown: Bool) {
        // The last block that begins with it or before it, and the first where all begin behind it.
        let first = Self.index(of: topic, among: blocks.count) { blocks[$0][0].topic }
        if first.isKnown { return (Place(block: first.index, index: 0), true) }
        let block = max(0, first.index - 1)
        guard block < blocks.count else { return (Place(block: 0, index: 0), false) }
        let inBlock = Self.index(of: topic, among: blocks[block].count) { blocks[block][$0].topic }
        return (Place(block: block, index: inBlock.index), inBlock.isKnown)
    }

    /// Where a topic stands, or would stand, among as many in order.
    private static func index(
        of topic: UnsafeRawBufferPointer, among count: Int, _ known: (Int) -> [UInt8]
    ) -> (index: Int, isKnown: Bool) {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            switch order(known(middle), topic) {
            case .same: return (middle, true)
            case .before: low = middle + 1
            case .behind: high = middle
            }
        }
        return (low, false)
    }

    private func ownNodes(at place: Place) -> Int {
        let topic = blocks[place.block][place.index].topic
        var alike = 0
        for neighbour in [neighbour(before: place), neighbour(behind: place)] {
            guard let neighbour else { continue }
            let common = topic.withUnsafeBytes { topic in
                neighbour.withUnsafeBytes { Self.commonBeginning(topic, $0) }
            }
            alike = max(alike, common)
        }
        return topic.count - alike
    }

    private func neighbour(before place: Place) -> [UInt8]? {
        if place.index > 0 { return blocks[place.block][place.index - 1].topic }
        return place.block > 0 ? blocks[place.block - 1].last?.topic : nil
    }

    private func neighbour(behind place: Place) -> [UInt8]? {
        if place.index + 1 < blocks[place.block].count { return blocks[place.block][place.index + 1].topic }
        return place.block + 1 < blocks.count ? blocks[place.block + 1].first?.topic : nil
    }

    private enum Order {
        case before
        case same
        case behind
    }

    /// Where a topic stands that is known, seen from another one.
    private static func order(_ known: [UInt8], _ topic: UnsafeRawBufferPointer) -> Order {
        let alike = known.withUnsafeBytes { commonBeginning($0, topic) }
        if alike == topic.count, alike == known.count { return .same }
        return alike == known.count || (alike < topic.count && known[alike] < topic[alike]) ? .before : .behind
    }

    /// With how many bytes both begin alike.
    private static func commonBeginning(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
        let length = min(one.count, other.count)
        var alike = 0
        while alike < length, one[alike] == other[alike] { alike += 1 }
        return alike
    }
}
