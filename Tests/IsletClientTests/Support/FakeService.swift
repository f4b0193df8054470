import IsletClient
import ZeroMQ

/// A service of the test's making on real sockets, which does exactly what it is told: it answers or keeps silent, publishes
/// or loses, and goes away and comes back.
actor FakeService: BusLoop {
    nonisolated let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    nonisolated let endpoints: Endpoints

    var poller = Poller()
    private let context: ZeroMQContext
    private var commands: Socket
    private var commandsSlot: Poller.Slot
    private var events: Socket
    private var eventsSlot: Poller.Slot
    private let bulk: Socket
    private var frame = Message()

    /// Who sent the newest of them.
    private var lastPeer: [UInt8] = []
    /// The frames of all messages that came by the commands socket.
    private(set) var commandMessages: [[[UInt8]]] = []
    /// What the commands are answered with; nil keeps silent.
    private var answer: @Sendable (RawObject, _ count: Int) -> RawObject? = { _, _ in ["ok": .bool(true)] }
    /// Subscriptions as they came, the unsubscriptions with a minus.
    private(set) var subscriptions: [String] = []
    private var answersJoins = true
    private var joinError: RawObject?
    /// The epoch that it names in `service.info` and beside the apps of a join; nil: it is too old for that.
    private var named: String?
    /// What came by the bulk socket.
    private(set) var bulkRequests: [RawObject] = []
    /// Rows of one chunk.
    private var rowsPerChunk = 256
    private(set) var models: [String: ModelStream] = [:]
    private var waiters: [(condition: (isolated FakeService) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
        []

    init(on thread: BusThread, endpoints wanted: Endpoints) throws(ZeroMQError) {
        self.thread = thread
        context = try ZeroMQContext()
        let commands = try Socket(.router, in: context)
        try commands.bindSoon(wanted.commands)
        commandsSlot = poller.add(commands)
        bulk = try Socket(.router, in: context)
        try bulk.bindSoon(wanted.bulk)
        _ = poller.add(bulk)
        let events = try Self.publisher(context, wanted.events)
        eventsSlot = poller.add(events)
        endpoints = Endpoints(
            commands: try commands.lastEndpoint, events: try events.lastEndpoint, bulk: try bulk.lastEndpoint)
        self.events = events
        self.commands = commands
    }

    private static func publisher(_ context: ZeroMQContext, _ endpoint: String) throws(ZeroMQError) -> Socket {
        let events = try Socket(.xpub, in: context)
        try events.set(.xpubVerbose, to: true)
        try events.set(.sendHighWaterMark, to: 100_000)
        try events.bindSoon(endpoint)
        return events
    }

    func turn() -> NextTurn {
        while let message = receive(commands) { take(command: message) }
        while let message = receive(bulk) { take(bulk: message) }
        while let message = receive(events) { take(subscription: message) }
        let ready = waiters.filter { $0.condition(self) }
        waiters.removeAll { $0.condition(self) }
        for waiter in ready { waiter.continuation.resume() }
        return .whenReady
    }

    func finish() {
        commands.close()
        bulk.close()
        events.close()
        for waiter in waiters { waiter.continuation.resume() }
        waiters = []
    }

    // MARK: Being told what to do

    func answerCommands(_ answer: @escaping @Sendable (RawObject, _ count: Int) -> RawObject?) {
        self.answer = answer
    }

    func answerJoins(_ answers: Bool, error: RawObject? = nil) {
        answersJoins = answers
        joinError = error
    }

    /// Makes it name this epoch, beside those of its streams.
    func name(epoch: String) {
        named = epoch
    }

    func setRowsPerChunk(_ rows: Int) {
        rowsPerChunk = rows
    }

    /// Lets something happen in an app; the events that it makes are published, or lost.
    func live(_ app: String = "com.example.pizza", lost: Bool = false, _ body: @Sendable (inout ModelStream) -> Void) {
        var model = models[app] ?? ModelStream(app: app)
        let before = model.events.count
        body(&model)
        models[app] = model
        guard !lost else { return }
        for event in model.events.dropFirst(before) { publish(Array(event.topic.utf8), event.bytes) }
    }

    func publishWatermark(_ app: String = "com.example.pizza") {
        guard let model = models[app] else { return }
        let mark = model.watermark()
        let digest = String(mark.digest ?? 0, radix: 16)
        let object: RawObject = [
            "epoch": .string(model.epoch), "seq": .integer(model.seq), "entities": .integer(mark.entities),
            "digest": .string(String(repeating: "0", count: 16 - digest.count) + digest), "at": .integer(0),
        ]
        publish(Array("\(app)/~".utf8), object.json.bytes)
    }

    /// Says something to whoever sent the newest command.
    func say(_ frames: RawObject...) {
        send([lastPeer] + frames.map(\.json.bytes), by: commands)
    }

    /// Loses all connections of commands, and takes new ones at the same endpoint.
    func restartCommands() throws {
        poller.remove(commandsSlot)
        commands.close()
        let next = try Socket(.router, in: context)
        try next.bindSoon(endpoints.commands)
        commandsSlot = poller.add(next)
        commands = next
    }

    /// Loses all connections of subscribers, and takes new ones at the same endpoint.
    func restartEvents() throws {
        poller.remove(eventsSlot)
        events.close()
        let next = try Self.publisher(context, endpoints.events)
        eventsSlot = poller.add(next)
        events = next
    }

    /// Returns when the condition holds.
    func wait(until condition: @escaping @Sendable (isolated FakeService) -> Bool) async {
        if condition(self) { return }
        await withCheckedContinuation { waiters.append((condition, $0)) }
    }

    /// All commands, decoded.
    var received: [RawObject] {
        commandMessages.flatMap { $0.compactMap(RawObject.init) }
    }

    // MARK: Sockets

    private func receive(_ socket: borrowing Socket) -> [[UInt8]]? {
        var frames: [[UInt8]] = []
        repeat {
            guard let got = try? socket.receive(into: &frame), got else { return nil }
            frames.append(frame.bytes)
        } while frame.more
        return frames
    }

    private func send(_ frames: [[UInt8]], by socket: borrowing Socket) {
        for (index, frame) in frames.enumerated() {
            _ = try? socket.send(copying: frame, more: index + 1 < frames.count)
        }
    }

    private func publish(_ topic: [UInt8], _ body: [UInt8]) {
        send([topic, body], by: events)
    }

    private func take(command message: [[UInt8]]) {
        commandMessages.append(Array(message.dropFirst()))
        lastPeer = message[0]
        var answers: [[UInt8]] = []
        for frame in message.dropFirst() {
            guard let command = RawObject(frame), var body = info(command) ?? answer(command, received.count)
            else { continue }
            if let req = command["req"], body["req"] == nil { body["req"] = req }
            answers.append(body.json.bytes)
        }
        guard !answers.isEmpty else { return }
        send([message[0]] + answers, by: commands)
    }

    /// What it says of itself, where that is asked.
    private func info(_ command: RawObject) -> RawObject? {
        guard let named, command["op"]?.string == "service.info" else { return nil }
        let info: RawObject = ["epoch": .string(named)]
        return ["ok": .bool(true), "info": info.json]
    }

    private func take(subscription message: [[UInt8]]) {
        guard let first = message.first, let kind = first.first else { return }
        let topic = Array(first.dropFirst())
        let text =
            topic.first == 0xFF
            ? "~" + String(decoding: topic.dropFirst(), as: UTF8.self) : String(decoding: topic, as: UTF8.self)
        subscriptions.append((kind == 1 ? "" : "-") + text)
        guard kind == 1, topic.first == 0xFF, answersJoins else { return }
        let positions = models.values.filter { $0.seq > 0 }.map { model in
            RawObject.Member(
                model.app, .object([.init("epoch", .string(model.epoch)), .init("seq", .integer(model.seq))]))
        }
        var body: RawObject = joinError ?? ["at": .integer(0), "apps": .object(positions)]
        if let named { body["epoch"] = .string(named) }
        publish(topic, body.json.bytes)
    }

    private func take(bulk message: [[UInt8]]) {
        guard message.count == 2, let request = RawObject(message[1]), let req = request["req"]?.string else { return }
        bulkRequests.append(request)
        guard let app = request["app"]?.string, let model = models[app] else { return }
        var chunk: BulkChunk
        switch request["op"]?.string {
        case "bulk.snapshot": chunk = model.snapshot(prefix: request["prefix"]?.string ?? "")
        case "bulk.replay": chunk = model.replay(from: request["from"]?.unsigned ?? 0)
        default: return
        }
        var number = 0
        repeat {
            let rows = Array(chunk.rows.prefix(rowsPerChunk))
            chunk.rows.removeFirst(rows.count)
            var header: RawObject = [
                "req": .string(req), "chunk": .integer(number), "epoch": .string(model.epoch),
            ]
            if number == 0, let fromSeq = chunk.fromSeq { header["fromSeq"] = .integer(fromSeq) }
            number += 1
            if chunk.rows.isEmpty { Self.close(&header, chunk.end) }
            send([message[0], header.json.bytes] + rows.flatMap { [Array($0.topic.utf8), $0.bytes] }, by: bulk)
        } while !chunk.rows.isEmpty
    }

    private static func close(_ header: inout RawObject, _ end: BulkChunk.End?) {
        switch end {
        case .complete(let seq, let entities, let digest):
            header["end"] = .bool(true)
            header["seq"] = .integer(seq)
            if let entities { header["entities"] = .integer(entities) }
            if let digest {
                let text = String(digest, radix: 16)
                header["digest"] = .string(String(repeating: "0", count: 16 - text.count) + text)
            }
        case .failed(let error):
            header["error"] = .object([.init("code", .string(error.code.name)), .init("detail", error.detail.json)])
        case nil:
            break
        }
    }
}

extension Socket {
    /// Binds as soon as the system has given the endpoint of a socket free that was closed a moment ago.
    borrowing func bindSoon(_ endpoint: String) throws(ZeroMQError) {
        let deadline = ContinuousClock.now + .seconds(300)
        while true {
            do throws(ZeroMQError) {
                return try bind(endpoint)
            } catch .addressInUse where ContinuousClock.now < deadline {
                continue
            }
        }
    }
}
