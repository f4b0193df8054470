import IsletClient
import Testing

/// The readers of a connection, and when they ask again.
@Suite struct ReaderTableTests {
    private typealias Table = ReaderTable<SplitMix>

    private var table = Table(generator: SplitMix(state: 1))
    private let start = ContinuousClock.now
    private let scope = ReplicaScope(prefix: "com.example.pizza/", keepsEntities: false)

    private func joins(_ actions: [ReaderAction]) -> [[UInt8]] {
        actions.compactMap { action in
            if case .subscribe(let topic) = action, topic.first == 0xFF { topic } else { nil }
        }
    }

    /// A reader whose join was answered at the beginning.
    private mutating func join(_ apps: String) throws {
        _ = table.add(scope, now: start)
        let asked = joins(table.due(now: start))
        let topic = try #require(asked.first)
        _ = table.received(topic: topic, body: Array(#"{"at":0,"apps":{\#(apps)}}"#.utf8), now: start)
    }

    /// The answer that tells of a new connection is one message, and nothing follows it where the new history is empty.
    @Test mutating func `a reader that hears nothing for long joins anew`() throws {
        try join(#""com.example.pizza":{"epoch":"e1","seq":3}"#)
        let mark = Array(#"{"epoch":"e1","seq":3,"entities":0,"digest":"0000000000000000","at":0}"#.utf8)
        let heard = start + .seconds(5)
        _ = table.received(topic: Array("com.example.pizza/~".utf8), body: mark, now: heard)
        _ = table.received(topic: Array("com.example.taxi/~".utf8), body: mark, now: heard + .seconds(1))
        let early = joins(table.due(now: heard + Table.silence - .milliseconds(1)))
        #expect(early.isEmpty)
        #expect(try #require(table.nextWakeUp) <= heard + Table.silence)
        let asked = joins(table.due(now: heard + Table.silence))
        #expect(asked.count == 1)
    }

    @Test mutating func `a snapshot that is coming in is not begun anew, however long it takes`() throws {
        _ = table.add(ReplicaScope(prefix: "com.example.pizza/", keepsEntities: true), now: start)
        let nonces = joins(table.due(now: start))
        let topic = try #require(nonces.first)
        let answer = #"{"at":0,"apps":{"com.example.pizza":{"epoch":"e1","seq":3}}}"#
        let actions = table.received(topic: topic, body: Array(answer.utf8), now: start)
        let begun = actions.compactMap { action in
            if case .send(let pull, _) = action { pull } else { nil }
        }
        let pull = try #require(begun.first)
        var now = start
        for number in 0..<30 {
            now += .seconds(4)
            let first = number == 0 ? #","fromSeq":3"# : ""
            let chunk = #"{"req":"\#(pull)","chunk":\#(number),"epoch":"e1","rows":0\#(first)}"#
            _ = table.received(bulk: [Array(chunk.utf8)], now: now)
            let asked = joins(table.due(now: now))
            #expect(asked.isEmpty, "after \(now - start)")
        }
        // Then it is as silent as any other.
        let asked = joins(table.due(now: now + Table.silence))
        #expect(asked.count == 1)
    }

    /// Nothing else tells of a connection that leads nowhere.
    @Test mutating func `where nothing has happened yet, a silent reader joins anew as well`() throws {
        try join("")
        let early = joins(table.due(now: start + Table.silence - .milliseconds(1)))
        #expect(early.isEmpty)
        let asked = joins(table.due(now: start + Table.silence))
        #expect(asked.count == 1)
    }

    @Test mutating func `a reader too many is refused`() {
        for _ in 0..<Table.maximumReaders { _ = table.add(scope, now: start) }
        let refused = table.add(scope, now: start)
        #expect(refused?.reader == nil)
        let actions = table.remove(1, now: start)
        #expect(actions.contains(.finish(reader: 1, nil)))
        let added = table.add(scope, now: start)
        #expect(added?.reader == Table.maximumReaders + 1)
    }
}
