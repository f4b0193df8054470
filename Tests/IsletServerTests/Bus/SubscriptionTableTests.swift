import IsletServer
import Testing

@Suite struct SubscriptionTableTests {
    private var table = SubscriptionTable(perPeer: 3, bytesInAll: 40)

    private mutating func subscribe(_ topic: String, _ peer: Int32 = 1) -> Bool {
        Array(topic.utf8).withUnsafeBytes { table.subscribed(peer, to: $0) }
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

    @Test mutating func theTopicsOfAllHaveSoManyBytes() {
        let topic = String(repeating: "x", count: 20)
        let first = subscribe(topic, 1)
        let second = subscribe(topic, 2)
        let third = subscribe("y", 3)
        #expect(first && second && !third)
        table.lost(1)
        table.lost(3)
        let fourth = subscribe(topic, 4)
        #expect(fourth && table.count == 2)
        table.lost(2)
        table.lost(4)
        table.lost(4)
        #expect(table.count == 0)
    }
}
