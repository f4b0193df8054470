import IsletCore

/// Where the parts of a group's topic stand in it: `<owner>/group/<name>/<key>`, with `~` for a notification's key.
struct GroupTopic {
    let owner: Range<Int>
    let group: Range<Int>
    let key: Range<Int>

    private static let family = Array("group".utf8)

    /// nil for a topic of another family.
    init?(_ topic: Span<UInt8>) {
        var slashes: [Int] = []
        for index in topic.indices where topic[index] == UInt8(ascii: "/") { slashes.append(index) }
        guard slashes.count == 3, slashes[0] > 0, slashes[2] > slashes[1] + 1, topic.count > slashes[2] + 1 else {
            return nil
        }
        let family = slashes[0] + 1..<slashes[1]
        guard family.count == Self.family.count else { return nil }
        for (offset, byte) in Self.family.enumerated() where topic[family.lowerBound + offset] != byte { return nil }
        owner = 0..<slashes[0]
        group = slashes[1] + 1..<slashes[2]
        key = slashes[2] + 1..<topic.count
    }
}
