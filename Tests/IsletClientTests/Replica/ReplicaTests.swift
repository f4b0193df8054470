import IsletClient
import Testing

/// All streams of one reader: joining, sorting out, scopes.
@Suite struct ReplicaTests {
    private let pizza = "com.example.pizza"
    private let taxi = "com.example.taxi"

    private func topic(_ nonce: String, app: String? = nil) -> [UInt8] {
        [0xFF] + Array("join/\(nonce)\(app.map { "/\($0)" } ?? "")".utf8)
    }

    private func answer(_ positions: [(String, UInt64)], epoch: String? = nil) -> [UInt8] {
        let apps = positions.map { app, seq in
            RawObject.Member(app, .object([.init("epoch", .string("e1")), .init("seq", .integer(seq))]))
        }
        var answer: RawObject = ["at": .integer(0), "apps": .object(apps)]
        if let epoch { answer["epoch"] = .string(epoch) }
        return answer.json.bytes
    }

    private func replica(_ prefix: String, entities: Bool = false) -> Replica {
        Replica(scope: ReplicaScope(prefix: prefix, keepsEntities: entities))
    }

    private func received(_ event: StreamEvent, by replica: inout Replica) -> [ReplicaEffect] {
        replica.received(topic: Array(event.topic.utf8), body: event.bytes)
    }

    @Test(arguments: [
        ("", false, [""]), ("com.example.pizza/", false, ["com.example.pizza/"]), ("com.exa", false, ["com.exa"]),
        ("com.example.pizza/activity/D/", false, ["com.example.pizza/"]),
        ("com.example.pizza/activity/D/", true, ["com.example.pizza/activity/D/", "com.example.pizza/~"]),
        ("com.example.pizza/", true, ["com.example.pizza/"]),
    ])
    func `prefixes are subscribed to before the join is asked for`(prefix: String, entities: Bool, topics: [String]) {
        var replica = replica(prefix, entities: entities)
        #expect(replica.start() == topics.map { .subscribe(Array($0.utf8)) } + [.join])
    }

    @Test func `a join names the app where there is one`() {
        var one = replica("\(pizza)/")
        #expect(one.join(nonce: "n") == [.subscribe(topic("n", app: pizza))])
        var all = replica("")
        #expect(all.join(nonce: "n") == [.subscribe(topic("n"))])
    }

    @Test func `what comes before the answer is older than it`() {
        var model = ModelStream()
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "n")
        #expect(received(model.start("a"), by: &replica).isEmpty)
        let effects = replica.received(topic: topic("n"), body: answer([(pizza, 1)]))
        #expect(effects.told == ["joined", "synced(joined)"])
        #expect(received(model.update("a"), by: &replica).told == ["2"])
    }

    @Test func `answers to other nonces are nobody's business`() {
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "n")
        #expect(replica.received(topic: topic("other"), body: answer([(pizza, 1)])).isEmpty)
        #expect(replica.isJoining)
    }

    @Test func `an answer by itself leads to one fresh join, the old nonce going after the new one came`() {
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        _ = replica.received(topic: topic("1"), body: answer([(pizza, 1)]))
        #expect(replica.received(topic: topic("1"), body: answer([(pizza, 3)])) == [.join])
        #expect(replica.received(topic: topic("1"), body: answer([(pizza, 3)])).isEmpty)
        #expect(replica.join(nonce: "2") == [.subscribe(topic("2")), .unsubscribe(topic("1"))])
        #expect(
            replica.received(topic: topic("2"), body: answer([(pizza, 3)])) == [
                .replay(app: pizza, from: 1, attempt: 0)
            ])
    }

    @Test func `a warning on the nonce's topic is no answer`() {
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        let warning = Array(#"{"at":1,"lagging":true}"#.utf8)
        #expect(replica.received(topic: topic("1"), body: warning).isEmpty)
        _ = replica.received(topic: topic("1"), body: answer([]))
        #expect(replica.received(topic: topic("1"), body: warning).isEmpty)
    }

    @Test func `an app that the answer names no more has lost its history`() {
        var model = ModelStream()
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        _ = replica.received(topic: topic("1"), body: answer([]))
        _ = received(model.start("a"), by: &replica)
        _ = replica.received(topic: topic("1"), body: answer([]))
        _ = replica.join(nonce: "2")
        #expect(replica.received(topic: topic("2"), body: answer([])).told == ["synced(epochChanged)"])
    }

    @Test func `only apps of the scope are followed`() {
        var model = ModelStream(app: taxi)
        var replica = replica("com.example.p")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        let effects = replica.received(topic: topic("1"), body: answer([(pizza, 1), (taxi, 1)]))
        #expect(effects.told == ["joined", "synced(joined)"])
        #expect(received(model.start("a"), by: &replica).isEmpty)
        #expect(replica.streams.keys.sorted() == [pizza])
    }

    @Test func `one join serves all streams that need one`() {
        var (first, second) = (ModelStream(), ModelStream(app: taxi))
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        _ = replica.received(topic: topic("1"), body: answer([]))
        _ = received(first.start("a"), by: &replica)
        _ = received(second.start("a"), by: &replica)
        first.epoch = "e2"
        second.epoch = "e2"
        #expect(received(first.start("b"), by: &replica) == [.join])
        #expect(received(second.start("b"), by: &replica).isEmpty)
    }

    @Test func `a service with too many apps ends the reading`() {
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        let effects = replica.received(topic: topic("1"), body: Array(#"{"error":"tooMany"}"#.utf8))
        guard case .fail(.refused(let error))? = effects.first else {
            Issue.record("no failure: \(effects)")
            return
        }
        #expect(error.code == .tooMany)
    }

    @Test func `a goodbye is told`() {
        var replica = replica("\(pizza)/")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        _ = replica.received(topic: topic("1", app: pizza), body: answer([]))
        let body = Array(#"{"epoch":"e1","seq":0,"entities":0,"digest":"0000000000000000","at":1,"closing":true}"#.utf8)
        #expect(replica.received(topic: Array("\(pizza)/~".utf8), body: body).told == ["closing"])
    }

    @Test func `an app that appears while the reader is behind waits too`() {
        var model = ModelStream()
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        _ = replica.received(topic: topic("1"), body: answer([]))
        _ = replica.pause()
        #expect(received(model.start("a"), by: &replica).isEmpty)
        let effects = replica.resume()
        #expect(effects.told == ["synced(joined)"])
        #expect(effects.asked == [.replay(app: pizza, from: 0, attempt: 0)])
    }

    @Test(arguments: [false, true])
    func `an app that began while the connection was lost is read from its first event`(entities: Bool) {
        var replica = replica("", entities: entities)
        _ = replica.start()
        _ = replica.join(nonce: "1")
        _ = replica.received(topic: topic("1"), body: answer([], epoch: "e1"))
        _ = replica.received(topic: topic("1"), body: answer([(taxi, 4)], epoch: "e1"))
        _ = replica.join(nonce: "2")
        let effects = replica.received(topic: topic("2"), body: answer([(taxi, 4)], epoch: "e1"))
        #expect(effects.told == ["synced(joined)"])
        #expect(effects.asked == [.replay(app: taxi, from: 0, attempt: 0)])
    }

    @Test func `an app of a new history is read from the join on`() {
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        _ = replica.received(topic: topic("1"), body: answer([], epoch: "e0"))
        _ = replica.received(topic: topic("1"), body: answer([(taxi, 4)], epoch: "e1"))
        _ = replica.join(nonce: "2")
        let effects = replica.received(topic: topic("2"), body: answer([(taxi, 4)], epoch: "e1"))
        #expect(effects.told == ["synced(joined)"])
        #expect(effects.asked.isEmpty)
    }

    @Test func `an app that appears while the reader is behind begins there, whatever a join says meanwhile`() {
        var model = ModelStream()
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        _ = replica.received(topic: topic("1"), body: answer([], epoch: "e1"))
        _ = replica.pause()
        _ = received(model.start("a"), by: &replica)
        _ = replica.received(topic: topic("1"), body: answer([(pizza, 4)], epoch: "e1"))
        _ = replica.join(nonce: "2")
        #expect(replica.received(topic: topic("2"), body: answer([(pizza, 4)], epoch: "e1")).isEmpty)
        let effects = replica.resume()
        #expect(effects.told == ["synced(joined)"])
        #expect(effects.asked.contains(.replay(app: pizza, from: 0, attempt: 0)))
    }

    @Test func `what cannot be read is left alone`() {
        var replica = replica("")
        _ = replica.start()
        _ = replica.join(nonce: "1")
        _ = replica.received(topic: topic("1"), body: answer([(pizza, 1)]))
        for (topic, body) in [
            ("nonsense", "{}"), ("\(pizza)/~", "x"), ("\(pizza)/~", "{}"), ("\(pizza)/activity/D/1", "{"),
            ("\(pizza)/activity/D/1", #"{"epoch":"e1","seq":-1}"#), ("", ""),
        ] {
            #expect(replica.received(topic: Array(topic.utf8), body: Array(body.utf8)).isEmpty)
        }
    }
}
