import IsletClient
import Testing

/// Whose the streams are that a connection's readers follow: nothing of another service is taken in.
@Suite struct StreamOwnershipTests {
    private typealias Table = ReaderTable<SplitMix>

    private static let app = "com.example.pizza"
    private static let endpoints = Endpoints(commands: "tcp://commands", events: "tcp://events", bulk: "tcp://bulk")

    private var table = Table(generator: SplitMix(state: 1), endpoints: endpoints)
    private var now = ContinuousClock.now
    /// What was asked for and not answered.
    private var joins: [[UInt8]] = []
    private var pull: String?
    private var isAsked = false
    /// What the readers were told.
    private var told: [Delivery] = []
    private var ends: [Int: IsletError?] = [:]

    private mutating func perform(_ actions: [ReaderAction]) {
        for action in actions {
            switch action {
            case .subscribe(let topic): if topic.first == 0xFF { joins.append(topic) }
            case .unsubscribe(let topic): joins.removeAll { $0 == topic }
            case .send(let req, _): pull = req
            case .askOwner: isAsked = true
            case .deliver(_, let delivery): told.append(delivery)
            case .finish(let reader, let error): ends[reader] = error
            case .credit, .cancel, .peeked, .peekFailed: break
            }
        }
    }

    private mutating func open(_ prefix: String = "\(app)/", keepsEntities: Bool = true) {
        if let (_, actions) = table.add(ReplicaScope(prefix: prefix, keepsEntities: keepsEntities), now: now) {
            perform(actions)
        }
        pass()
    }

    private mutating func pass(_ time: Duration = .zero) {
        now += time
        perform(table.due(now: now))
    }

    private mutating func inform(_ owner: StreamOwnership.Owner) throws {
        #expect(isAsked)
        isAsked = false
        perform(table.informed(owner, now: now))
        pass()
    }

    /// Answers all joins; `app`: the epoch of the app, where that has events.
    private mutating func answerJoin(_ epoch: String?, app: String?) throws {
        try #require(!joins.isEmpty)
        var answer: RawObject = ["at": .integer(0), "apps": .object([])]
        if let app {
            let position: RawObject = ["epoch": .string(app), "seq": .integer(3)]
            answer["apps"] = .object([.init(Self.app, position.json)])
        }
        if let epoch { answer["epoch"] = .string(epoch) }
        for topic in exchange(&joins, with: []) {
            perform(table.received(topic: topic, body: answer.json.bytes, now: now))
        }
        pass()
    }

    private mutating func answerJoin(_ epoch: String) throws {
        try answerJoin(epoch, app: epoch)
    }

    /// A snapshot of nothing.
    private mutating func answerPull(_ epoch: String) throws {
        let req = try #require(pull)
        pull = nil
        let chunk: RawObject = [
            "req": .string(req), "chunk": .integer(0), "epoch": .string(epoch), "rows": .integer(0), "fromSeq": .integer(3),
            "end": .bool(true), "seq": .integer(3), "entities": .integer(0), "digest": .string("0000000000000000"),
        ]
        perform(table.received(bulk: [chunk.json.bytes], now: now))
        pass(.seconds(1))
    }

    private func isSynced(_ epoch: String?, _ reason: SyncedState.Reason = .joined) -> Bool {
        guard case .synced(let state)? = told.last else { return false }
        return state.reason == reason && state.position?.epoch == epoch
    }

    @Test(arguments: [true, false]) mutating func `the streams of another service are not taken in`(keepsEntities: Bool) throws {
        open(keepsEntities: keepsEntities)
        open("com.example.pizza/activity/Delivery/", keepsEntities: keepsEntities)
        for _ in 0..<StreamOwnership.maximumDifferences {
            #expect(ends.isEmpty)
            try inform(.epoch("e1"))
            try answerJoin("e2")
        }
        #expect(ends == [1: .otherService(Self.endpoints, .events), 2: .otherService(Self.endpoints, .events)])
        #expect(told.isEmpty && pull == nil)
    }

    @Test mutating func `a history that begins between the two answers is no other service`() throws {
        open()
        try inform(.epoch("e1"))
        try answerJoin("e2")
        #expect(told.isEmpty)
        try inform(.epoch("e2"))
        try answerJoin("e2")
        try answerPull("e2")
        #expect(isSynced("e2"))
    }

    @Test mutating func `what is joined waits for whose it is`() throws {
        open()
        try answerJoin("e1")
        #expect(told.isEmpty && pull == nil)
        try inform(.epoch("e1"))
        try answerJoin("e1")
        #expect(told == [.joined])
        try answerPull("e1")
        #expect(isSynced("e1"))
    }

    @Test mutating func `the snapshots of another service are not taken in, and others go on`() throws {
        open(keepsEntities: false)
        try inform(.epoch("e1"))
        try answerJoin("e1")
        #expect(isSynced("e1"))
        told = []
        open()
        try answerJoin("e1")
        for difference in 1...StreamOwnership.maximumDifferences {
            #expect(ends.isEmpty)
            if difference > 1 { try inform(.epoch("e1")) }
            try answerPull("e2")
        }
        #expect(ends == [2: .otherService(Self.endpoints, .bulk)])
        #expect(told == [.joined] && pull == nil)
    }

    /// Of an app without events a join names no epoch, and nothing is pulled; a part of it is only compared.
    @Test mutating func `the digests of another service are not compared`() throws {
        open("\(Self.app)/activity/Delivery/")
        try inform(.epoch("e1"))
        try answerJoin("e1", app: nil)
        #expect(isSynced(nil))
        var model = ModelStream()
        let event = model.start("a")
        perform(table.received(topic: Array(event.topic.utf8), body: event.bytes, now: now))
        for difference in 1...StreamOwnership.maximumDifferences {
            #expect(ends.isEmpty)
            if difference > 1 { try inform(.epoch("e1")) }
            pull = nil
            pass(Table.checkInterval)
            let req = try #require(pull)
            let digest = #"{"req":"\#(req)","epoch":"e2","seq":9,"entities":0,"digest":"0000000000000000"}"#
            perform(table.received(bulk: [Array(digest.utf8)], now: now))
        }
        #expect(ends == [1: .otherService(Self.endpoints, .bulk)])
    }

    @Test mutating func `where commands are not answered it goes on without`() throws {
        open()
        let begun = now
        for _ in 0..<20 where told.isEmpty {
            try answerJoin("e1")
            if told.isEmpty { pass(now.duration(to: try #require(table.nextWakeUp))) }
        }
        #expect(told == [.joined] && now - begun <= StreamOwnership.patience)
        try answerPull("e1")
        #expect(isSynced("e1"))
    }

    @Test mutating func `a service that is there later than its streams is asked again`() throws {
        open()
        try inform(.unanswered)
        try answerJoin("e1")
        try inform(.epoch("e1"))
        try answerJoin("e1")
        try answerPull("e1")
        #expect(isSynced("e1"))
    }

    @Test mutating func `a service that names no epoch is taken at its word`() throws {
        open()
        try inform(.unnamed)
        try answerJoin("e1")
        try answerPull("e1")
        #expect(isSynced("e1"))
    }

    @Test mutating func `streams that name no epoch are taken at their word`() throws {
        open()
        try inform(.epoch("e1"))
        try answerJoin(nil, app: "e2")
        try answerPull("e2")
        #expect(isSynced("e2"))
    }

    @Test mutating func `a later history is the same service's`() throws {
        open()
        try inform(.epoch("e1"))
        try answerJoin("e1")
        try answerPull("e1")
        perform(table.received(topic: Array("\(Self.app)/~".utf8), body: Array(
            #"{"epoch":"e2","seq":0,"entities":0,"digest":"0000000000000000","at":0}"#.utf8), now: now))
        pass()
        try answerJoin("e2")
        try answerPull("e2")
        #expect(isSynced("e2", .epochChanged))
        #expect(!isAsked)
    }
}
