import IsletCore
import IsletServer
import Testing

@Suite struct SubscriptionTableTests {
    private var table = SubscriptionTable(perPeer: 3, bytesInAll: 1_000)
    private var now: Milliseconds = 0

    /// Whether nobody is cut for it.
    private mutating func subscribe(_ topic: String, _ peer: Int32 = 1) -> Bool {
        cut(by: topic, peer) == nil && !table.isCut(peer)
    }

    private mutating func cut(by topic: String, _ peer: Int32) -> Int32? {
        Array(topic.utf8).withUnsafeBytes { table.subscribed(peer, to: $0, at: now) }
    }

    private mutating func end(_ topic: String, _ peer: Int32 = 1) {
        Array(topic.utf8).withUnsafeBytes { table.unsubscribed(peer, from: $0) }
    }

    @Test mutating func aPeerHasSoManyTopicsAndOneMoreIsTooMuch() {
        for topic in ["a", "b", "", "b"] {
            let isWithin = subscribe(topic)
            #expect(isWithin)
        }
        #expect(table.count == 3)
        let isOneMoreWithin = subscribe("d")
        #expect(!isOneMoreWithin && table.isCut(1) && table.cut == 1)
        let isAnyWithin = subscribe("a")
        #expect(!isAnyWithin && table.cut == 1)
        let isAnotherWithin = subscribe("d", 2)
        #expect(isAnotherWithin)
    }

    /// Who is silent, by its age and topics.
    private func silent(reporting nonces: Set<String> = [], app: String? = nil) -> [Milliseconds: Set<String>] {
        let all = table.silent(at: now) { nonces.contains(String(decoding: $0, as: UTF8.self)) }
        let count = table.silentCount(at: now) { nonces.contains(String(decoding: $0, as: UTF8.self)) }
        #expect(count == all.count && all.map(\.since) == all.map(\.since).sorted())
        let found = all.filter { follower in app.map { follower.mayFollow(Array($0.utf8)) } ?? true }
        return Dictionary(uniqueKeysWithValues: found.map { follower in
            let topics = follower.firstTopics(10).map { String(decoding: $0, as: UTF8.self) }
            #expect(topics.count == follower.topicCount && topics == topics.sorted())
            return (now - follower.since, Set(topics))
        })
    }

    private mutating func join(_ nonce: String, _ peer: Int32) {
        let topic = [0xFF] + Array("join/\(nonce)".utf8)
        topic.withUnsafeBytes { _ = table.subscribed(peer, to: $0, at: now) }
    }

    @Test mutating func `who follows and reports nothing is silent after a while`() {
        let patience = SubscriptionTable.patience
        let nonces = (1...6).map { String(repeating: "\($0)", count: 32) }
        table = SubscriptionTable(perPeer: 10, bytesInAll: 10_000)
        for nonce in nonces.prefix(5) { join(nonce, 1) }
        now = patience
        #expect(silent().isEmpty, "it follows nothing yet")
        _ = subscribe("com.a/", 1)
        _ = subscribe("com.a/", 1)
        now += 1
        _ = subscribe("com.b/activity/", 2)
        now = 2 * patience - 1
        #expect(silent().isEmpty)
        now += 1
        #expect(silent() == [patience: ["com.a/"]])
        now += 1
        #expect(silent() == [patience + 1: ["com.a/"], patience: ["com.b/activity/"]])
        // By the newest nonces that it has joined with, and by no other.
        #expect(silent(reporting: [nonces[4]]).keys.sorted() == [patience])
        #expect(silent(reporting: [nonces[1]]).keys.sorted() == [patience])
        #expect(silent(reporting: [nonces[0], nonces[5]]).count == 2)
        #expect(silent(app: "com.a").keys.sorted() == [patience + 1])
        #expect(silent(app: "com.b").keys.sorted() == [patience])
        #expect(silent(app: "com").isEmpty)
        // A reader that ended has no place among them.
        for nonce in nonces[1...3] { leave(nonce, 1) }
        join(nonces[5], 1)
        #expect(silent(reporting: [nonces[4]]).keys.sorted() == [patience])
        #expect(silent(reporting: [nonces[3]]).count == 2)
        end("com.a/", 1)
        #expect(silent() == [patience: ["com.b/activity/"]])
        table.lost(2)
        #expect(silent().isEmpty)
    }

    private mutating func leave(_ nonce: String, _ peer: Int32) {
        let topic = [0xFF] + Array("join/\(nonce)".utf8)
        topic.withUnsafeBytes { table.unsubscribed(peer, from: $0) }
    }

    @Test mutating func `topics whose first peer has left count for those that hold them, and not for whoever comes next`() {
        table = SubscriptionTable(perPeer: 100, bytesInAll: 10_000)
        func topics(_ peer: Int32) -> [String] { (10..<100).map { "\(peer)/\($0)/" + String(repeating: "x", count: 27) } }
        for peer: Int32 in [1, 2] {
            for topic in topics(peer) {
                let isWithin = subscribe(topic, peer)
                #expect(isWithin)
            }
            for topic in topics(peer).prefix(peer == 1 ? 90 : 89) {
                let isWithin = subscribe(topic, peer + 10)
                #expect(isWithin)
            }
        }
        table.lost(1)
        table.lost(2)
        // Each of those that come brings little.
        var cutOff: Int32?
        var peer: Int32 = 100
        while cutOff == nil, peer < 200 {
            cutOff = cut(by: "\(peer)" + String(repeating: "y", count: 100), peer)
            peer += 1
        }
        #expect(cutOff == 11, "it holds most")
        #expect(table.bytes <= 10_000 && (100..<peer).allSatisfy { !table.isCut($0) })
    }

    @Test mutating func `the first topics of a follower are those that come first, and none of the service's own`() throws {
        table = SubscriptionTable(perPeer: 200, bytesInAll: 10_000)
        let topics = (100..<200).map { "com.a/\($0)" }
        for topic in topics.shuffled() { _ = subscribe(topic) }
        join(String(repeating: "a", count: 32), 1)
        let follower = try #require(table.silent(at: SubscriptionTable.patience) { _ in false }.first)
        for count in [1, 8, 100, 1_000] {
            #expect(follower.firstTopics(count).map { String(decoding: $0, as: UTF8.self) } == Array(topics.prefix(count)))
        }
        #expect(follower.topicCount == 100)
    }

    @Test mutating func `who hands events on has none to report`() {
        FollowedTopic.relay.withUnsafeBytes { _ = table.subscribed(1, to: $0, at: 0) }
        _ = subscribe("", 1)
        now = SubscriptionTable.patience
        #expect(silent().isEmpty)
    }

    @Test mutating func whatWasNeverSubscribedToCannotBeEnded() {
        for topic in ["a", "b", "c"] { _ = subscribe(topic) }
        for other in ["d", "e", "aa"] { end(other) }
        end("a", 2)
        #expect(table.count == 3)
        let isWithin = subscribe("d")
        #expect(!isWithin)
    }

    @Test mutating func whatIsEndedMakesRoomOnce() {
        for topic in ["a", "b", "c"] { _ = subscribe(topic) }
        end("a")
        end("a")
        #expect(table.count == 2)
        let first = subscribe("d")
        let second = subscribe("e")
        #expect(first && !second)
    }

    /// A topic of 20 bytes that begins unlike those with another letter.
    private func topic(_ letter: Character) -> String { String(repeating: letter, count: 20) }

    @Test mutating func topicsHaveWhatTheyBeginWithAlikeOnce() {
        var topics = 0
        for (name, nodes) in [("app/a", 5), ("app/b", 6), ("app/", 6), ("app/bc", 7), ("", 7), ("b", 8)] {
            topics += 1
            let isWithin = subscribe(name, Int32(topics))
            #expect(isWithin && table.bytes == nodes + topics * SubscriptionTable.bytesPerTopic)
        }
        end("app/b", 2)
        #expect(table.bytes == 8 + 5 * SubscriptionTable.bytesPerTopic)
        table.lost(4)
        #expect(table.bytes == 6 + 4 * SubscriptionTable.bytesPerTopic && table.count == 4)
    }

    @Test mutating func theTopicsOfAllDifferInSoManyBytesAndOneMoreIsTooMuch() {
        let each = SubscriptionTable.bytesPerTopic
        table = SubscriptionTable(perPeer: 3, bytesInAll: 40 + 3 * each)
        let first = subscribe(String(repeating: "x", count: 10), 1)
        let second = subscribe(topic("x"), 2)
        let third = subscribe(topic("y"), 2)
        #expect(first && second && third && table.bytes == 40 + 3 * each)
        // The one that is cut is the one that has brought most, and not the one that asks.
        let cut = cut(by: "z", 3)
        #expect(cut == 2 && table.isCut(2) && !table.isCut(3))
        #expect(table.bytes == 11 + 2 * each && table.count == 2 && table.cut == 1)
        // It has nothing until it comes again.
        let nobody = self.cut(by: topic("y"), 2)
        #expect(nobody == nil && table.count == 2)
        table.lost(2)
        let again = subscribe("zz", 2)
        #expect(again && table.count == 3 && table.bytes == 12 + 3 * each)
        for peer: Int32 in [1, 2, 3, 3] { table.lost(peer) }
        #expect(table.count == 0 && table.bytes == 0)
    }

    @Test mutating func whoFollowsWhatOthersFollowIsNotCutForOthers() {
        let one = 20 + SubscriptionTable.bytesPerTopic
        table = SubscriptionTable(perPeer: 3, bytesInAll: 4 * one)
        for letter in ["a", "b"] as [Character] {
            for peer: Int32 in 1...3 { _ = subscribe(topic(letter), peer) }
        }
        // The first of them has left, and what it brought belongs to nobody now.
        table.lost(1)
        for letter in ["c", "d"] as [Character] { _ = subscribe(topic(letter), 4) }
        let cut = cut(by: topic("e"), 5)
        #expect(cut == 4 && !table.isCut(2) && !table.isCut(3))
    }

    @Test mutating func ofPeersThatHaveBroughtAsMuchTheOneIsCutThatAsks() {
        table = SubscriptionTable(perPeer: 3, bytesInAll: 2 * (20 + SubscriptionTable.bytesPerTopic))
        for (letter, peer) in [("a", 1), ("b", 2)] as [(Character, Int32)] { _ = subscribe(topic(letter), peer) }
        let cut = cut(by: topic("c"), 3)
        #expect(cut == 3)
    }

    @Test(arguments: [UInt64](1...20))
    func theTrieHasANodeForEachBeginning(seed: UInt64) {
        var random = seed
        func next(_ bound: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % bound
        }
        var table = SubscriptionTable(perPeer: 10_000, bytesInAll: 1 << 20)
        var kept: [Set<[UInt8]>] = Array(repeating: [], count: 4)
        for _ in 0..<300 {
            let peer = next(kept.count)
            let topic = (0..<next(6)).map { _ in UInt8(next(3)) }
            switch next(8) {
            case 0:
                table.lost(Int32(peer))
                kept[peer] = []
            case 1...3:
                topic.withUnsafeBytes { table.unsubscribed(Int32(peer), from: $0) }
                kept[peer].remove(topic)
            default:
                _ = topic.withUnsafeBytes { table.subscribed(Int32(peer), to: $0, at: 0) }
                kept[peer].insert(topic)
            }
            let all = kept.reduce(into: Set()) { $0.formUnion($1) }
            let beginnings = Set(all.flatMap { topic in topic.indices.map { Array(topic[...$0]) } })
            #expect(table.bytes == beginnings.count + all.count * SubscriptionTable.bytesPerTopic, "seed \(seed)")
            #expect(table.count == kept.reduce(0) { $0 + $1.count }, "seed \(seed)")
        }
    }
}
