import IsletHTTP
import IsletServer
import Testing

struct EventQueueTests {
    private static func message(_ number: Int) -> [UInt8] { ServerSentEvent.data(Array("\(number)".utf8)) }

    private static func rest(of queue: EventQueue) async -> String {
        var text: [UInt8] = []
        queue.greet(ServerSentEvent.heartbeat)
        while !text.suffix(3).elementsEqual(ServerSentEvent.heartbeat), let part = await queue.next() { text += part }
        return String(decoding: text.dropLast(3), as: UTF8.self)
    }

    @Test func messagesComeInOrderWithTheirNumbers() async {
        let queue = EventQueue()
        for number in 1...3 { queue.put(Self.message(number * 10)) }
        #expect(await Self.rest(of: queue) == "id: 1\ndata: 10\n\nid: 2\ndata: 20\n\nid: 3\ndata: 30\n\n")
    }

    @Test func oneTooManyDropsAllThatWaitAndSaysSoInItsPlace() async {
        let queue = EventQueue()
        let count = EventQueue.maximumMessages
        for number in 0..<(count + 1) { queue.put(Self.message(number)) }
        let expected = "event: lost\ndata: {\"dropped\":\(count)}\n\nid: \(count + 1)\ndata: \(count)\n\n"
        #expect(await Self.rest(of: queue) == expected)
    }

    @Test func whatIsLostAgainBeforeItWasToldIsToldOnce() async {
        let queue = EventQueue()
        let count = 3 * EventQueue.maximumMessages
        for number in 0..<count { queue.put(Self.message(number)) }
        let text = await Self.rest(of: queue)
        let parts = text.split(separator: "event: lost\ndata: {\"dropped\":", omittingEmptySubsequences: false)
        #expect(parts.count == 2 && parts[0].isEmpty)
        let dropped = Int(parts[1].prefix { $0.isNumber })
        let kept = text.split(separator: "id: ").count - 1
        #expect(dropped == count - kept)
        #expect(text.hasSuffix("id: \(count)\ndata: \(count - 1)\n\n"))
    }

    @Test func itsBytesAreBoundedAsWell() async {
        let queue = EventQueue()
        let large = ServerSentEvent.data([UInt8](repeating: UInt8(ascii: "x"), count: EventQueue.maximumBytes / 4))
        for _ in 0..<5 { queue.put(large) }
        let text = await Self.rest(of: queue)
        #expect(text.hasPrefix("event: lost\n") && text.utf8.count <= EventQueue.maximumBytes)
    }

    @Test func allTogetherAreBoundedAndEachHasItsShare() async {
        let bytes = EventBytes()
        let large = ServerSentEvent.data([UInt8](repeating: UInt8(ascii: "x"), count: 500_000))
        let queues = (0..<EventStreams.maximum).map { _ in EventQueue(bytes) }
        for _ in 0..<8 {
            for queue in queues { queue.put(large) }
        }
        #expect(bytes.held <= 2 * EventBytes.maximum)
        for queue in queues.dropLast() { queue.end() }
        let last = await Self.rest(of: queues[EventStreams.maximum - 1])
        #expect(last.hasPrefix("event: lost\n") && last.utf8.count > large.count)
        #expect(bytes.held == 0)
    }

    /// Also where some of it always waits.
    @Test func whatWasHandedOverIsGivenBack() async throws {
        let queue = EventQueue()
        let message = ServerSentEvent.data([UInt8](repeating: UInt8(ascii: "x"), count: 40 << 10))
        for _ in 0..<4 { queue.put(message) }
        let before = try #require(ResidentMemory.bytes())
        for _ in 0..<4_000 {
            for _ in 0..<2 { queue.put(message) }
            _ = await queue.next()
        }
        let after = try #require(ResidentMemory.bytes())
        #expect(after - before < 128 << 20)
    }

    @Test func theGreetingIsNotLost() async {
        let queue = EventQueue()
        queue.greet(Self.message(0))
        for number in 0...EventQueue.maximumMessages { queue.put(Self.message(number)) }
        let text = await Self.rest(of: queue)
        #expect(text.hasPrefix("data: 0\n\nevent: lost\n"))
        #expect(text.split(separator: "data: 0\n").count == 1)
    }

    @Test func greetingsAreBoundedAsWell() async {
        let bytes = EventBytes()
        let queue = EventQueue(bytes)
        for _ in 0..<100 { queue.greet(ServerSentEvent.data([UInt8](repeating: UInt8(ascii: "x"), count: 100_000))) }
        #expect(bytes.held <= EventQueue.maximumBytes)
    }

    @Test func aHeartbeatComesOnlyWhereNothingElseWaits() async {
        let queue = EventQueue()
        queue.put(Self.message(1))
        queue.beat()
        #expect(await queue.next() == Array("id: 1\ndata: 1\n\n".utf8))
        queue.beat()
        queue.beat()
        #expect(await queue.next() == ServerSentEvent.heartbeat)
    }

    @Test func theEndComesAtOnceAndStays() async {
        let queue = EventQueue()
        queue.put(Self.message(1))
        queue.end()
        queue.put(Self.message(2))
        #expect(await queue.next() == nil)
        #expect(await queue.next() == nil)
    }

    @Test func aReaderThatWaitsIsWoken() async {
        let queue = EventQueue()
        async let text = queue.next()
        queue.put(Self.message(7))
        #expect(await text == Array("id: 1\ndata: 7\n\n".utf8))
        async let end = queue.next()
        queue.end()
        #expect(await end == nil)
    }

    @Test func lineEndsInDataBeginNewLinesOfData() {
        #expect(
            ServerSentEvent.data(Array("a\nb".utf8), Array("\rc".utf8)) == Array("data: a\ndata: b\ndata: c\n\n".utf8))
    }

    @Test func noMoreStreamsAreOpenThanTheirMaximum() {
        let streams = EventStreams()
        let open = (0..<EventStreams.maximum).compactMap { _ in streams.open() }
        #expect(open.count == EventStreams.maximum && streams.open() == nil)
        streams.close(open[0])
        #expect(streams.open() != nil)
        streams.stop()
        streams.close(open[1])
        #expect(streams.open() == nil)
    }
}
