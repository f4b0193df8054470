import IsletCore
import IsletServer
import Testing

@Suite("Joins that wait")
struct JoinQueueTests {
    private static let nonce = String(repeating: "0", count: 26)

    static func topic(_ number: Int, app: String? = nil) -> [UInt8] {
        let digits = String(number)
        let nonce = Self.nonce + String(repeating: "0", count: 6 - digits.count) + digits
        return [0xFF] + Array("join/\(nonce)\(app.map { "/" + $0 } ?? "")".utf8)
    }

    private func join(_ number: Int) throws -> JoinTopic { try #require(JoinTopic(Self.topic(number))) }

    private func peer(_ number: UInt8) -> Peer { Peer(destination: .events, routingID: [number]) }

    /// Takes what is answered at a time, each answer having so many bytes.
    private func take(_ queue: inout JoinQueue, bytes: Int = 100, at now: Milliseconds = 0, atMost limit: Int = 1_000) -> [UInt8] {
        var taken: [UInt8] = []
        while taken.count < limit, let next = queue.next(at: now) {
            queue.gave(bytes, to: next.peer)
            taken += next.peer.routingID
        }
        return taken
    }

    @Test("connections take turns, each in its order") func turns() throws {
        var queue = JoinQueue()
        for number in 0..<5 { queue.append(try join(number), of: peer(1), at: 0) }
        queue.append(try join(5), of: peer(2), at: 0)
        queue.append(try join(6), of: peer(3), at: 0)
        var topics: [[UInt8]] = []
        while let next = queue.next(at: 0) { topics.append(next.join.topic) }
        #expect(topics == [0, 5, 6, 1, 2, 3, 4].map { Self.topic($0) })
        #expect(queue.isEmpty && queue.nextReady() == nil)
    }

    @Test("a connection that took its share waits, and nobody else does") func share() throws {
        var queue = JoinQueue()
        for number in 0..<200 { queue.append(try join(number), of: peer(1), at: 0) }
        let large = JoinQueue.share / 10 + 1
        let taken1 = take(&queue, bytes: large)
        #expect(taken1.count == 10)
        #expect(queue.nextReady() ?? 0 > 0)
        queue.append(try join(900), of: peer(2), at: 0)
        #expect(queue.nextReady() == 0, "now")
        let taken2 = take(&queue)
        #expect(taken2 == [2])
        // One more each time that its share has grown by what the last one took.
        let ready = try #require(queue.nextReady())
        let taken3 = take(&queue, bytes: large, at: ready - 1)
        #expect(taken3.isEmpty)
        let taken4 = take(&queue, bytes: large, at: ready)
        #expect(taken4 == [1])
        let later = ready + Int64(large * 1_000 / JoinQueue.sharePerSecond) + 1
        let taken5 = take(&queue, bytes: large, at: later)
        #expect(taken5 == [1])
        // However long it asks for nothing, it has no more than the share.
        let taken6 = take(&queue, bytes: large, at: later + 1_000_000_000)
        #expect(taken6.count == 10)
    }

    @Test("what nobody listens for, and what was a lost connection's, is answered no more") func withdrawn() throws {
        var queue = JoinQueue()
        for number in 0..<4 { queue.append(try join(number), of: peer(UInt8(number / 2)), at: 0) }
        let own = queue.withdraw(Self.topic(0), of: peer(0))
        let another = queue.withdraw(Self.topic(3), of: peer(0))
        #expect(own?.topic == Self.topic(0) && another == nil)
        #expect(queue.count == 3)
        queue.forget(peer(1))
        #expect(queue.count == 1)
        let taken7 = take(&queue)
        #expect(taken7 == [0])
        queue.append(try join(7), of: peer(0), at: 0)
        _ = queue.withdraw(Self.topic(7), of: peer(0))
        #expect(queue.isEmpty && queue.nextReady() == nil)
        queue.append(try join(8), of: peer(0), at: 0)
        let taken8 = take(&queue)
        #expect(taken8 == [0], "its turn comes again")
    }

    /// A service with so many apps.
    private func service(apps: Int) throws -> PartitionService {
        let service = try PartitionService()
        for app in 0..<apps {
            service.send(
                #"{"op":"activity.start","app":"com.example.app\#(app)","type":"t","attributes":{},"contentState":{}}"#)
        }
        return service
    }

    @Test("a turn answers joins of so many bytes, and the next ones the others") func bytesOfATurn() throws {
        let service = try service(apps: 200)
        _ = service.takeStreamMessages()
        service.turn { partition in
            for number in 0..<300 { partition.subscribed(to: Self.topic(number).span, by: self.peer(5)) }
        }
        var answered: [String] = []
        var largest = 0
        var turns = 0
        repeat {
            let joins = service.takeStreamMessages().filter { $0.topic.contains("join/") }
            largest = max(largest, joins.reduce(0) { $0 + $1.json.utf8.count + $1.topic.utf8.count })
            answered += joins.map(\.topic)
            service.turn { _ in }
            turns += 1
        } while answered.count < 300 && turns < 100
        #expect(answered.count == 300 && Set(answered).count == 300)
        #expect(turns > 2)
        // The last one of a turn may reach beyond.
        #expect(largest > Partition.joinBytesPerTurn / 2 && largest < Partition.joinBytesPerTurn + (64 << 10))
    }
}
