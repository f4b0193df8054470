import IsletServer
import Testing

@Suite struct TopicOrderTests {
    /// What a trie of topics has, counted one by one.
    private static func nodes(_ topics: some Sequence<[UInt8]>) -> Int {
        var beginnings: Set<[UInt8]> = []
        for topic in topics {
            for end in 0..<topic.count { beginnings.insert(Array(topic[...end])) }
        }
        return beginnings.count
    }

    private static func insert(_ topic: [UInt8], into order: inout TopicOrder) -> [UInt8] {
        topic.withUnsafeBytes { order.insert($0) }
    }

    /// Over many blocks, which are split and become empty.
    @Test func manyTopicsComeAndGoInAnyOrder() {
        var random = SeededGenerator(seed: 7)
        var order = TopicOrder()
        var model: [[UInt8]: Int] = [:]
        for step in 0..<20_000 {
            // At first more come than go, then the other way round.
            let isComing = Int.random(in: 0..<10, using: &random) < (step < 12_000 ? 8 : 2)
            if isComing || model.isEmpty {
                let topic = Array(String(Int.random(in: 0..<50_000, using: &random), radix: 3).utf8)
                let stored = Self.insert(topic, into: &order)
                model[topic, default: 0] += 1
                #expect(stored == topic)
            } else if let (topic, peers) = model.randomElement(using: &random) {
                order.remove(topic)
                model[topic] = peers == 1 ? nil : peers - 1
            }
            #expect(order.count == model.count)
            if step % 1_000 == 0 { #expect(order.nodes == Self.nodes(model.keys)) }
        }
        for (topic, peers) in model {
            for _ in 0..<peers { order.remove(topic) }
        }
        #expect(order.count == 0 && order.nodes == 0)
    }

    @Test(arguments: [TopicOrder.largestBlock - 1, TopicOrder.largestBlock, TopicOrder.largestBlock + 1])
    func aBlockIsFull(_ count: Int) {
        let topics = (0..<count).map { Array(String(100_000 + $0).utf8) }
        for topics in [topics, topics.reversed()] {
            var order = TopicOrder()
            for topic in topics { _ = Self.insert(topic, into: &order) }
            #expect(order.count == count && order.nodes == Self.nodes(topics))
            order.remove(Array("1".utf8))
            for topic in topics { order.remove(topic) }
            #expect(order.count == 0 && order.nodes == 0)
        }
    }
}
