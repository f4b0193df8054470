import IsletClient

/// A reader and a service in virtual time: a script of changes and incidents, and a fault at one message between the two.
/// A value: a play that was stopped goes on from its copy.
struct Play {
    /// What befalls one message.
    enum Fault: CaseIterable, Sendable {
        case lost, doubled
        /// The next message, or all of some time, overtakes it.
        case overtaken, delayed, late
        /// A question is answered by `busy`.
        case busy

        var latency: Int {
            switch self {
            case .lost, .doubled, .busy: Play.latency
            case .overtaken: Play.latency + 3_000
            // Less than a join waits for its answer, so that this one comes late and counts.
            case .delayed: 400_000
            case .late: 5_000_000
            }
        }
    }

    /// Microseconds that a message takes.
    static let latency = 2_000
    /// Microseconds after the script when the replica must be right: what a part misses shows when digests are compared,
    /// which is every 20 s.
    private static let noticing = 22_000_000
    /// Microseconds after the fault when it must be. A question that is asked again only by chance, in the next regular
    /// comparison, comes later than this.
    private static let healing = 15_000_000
    private static let base = ContinuousClock.now

    let scope: ReplicaScope
    private(set) var now = 0
    /// What each message was, for reports; where it is a question, `busy` may answer it.
    private(set) var messages: [(what: String, isQuestion: Bool)] = []
    var fault: (kind: Fault, at: Int)?
    private var faultedAt = 0
    private var service: PlayedService
    private var table: ReaderTable<SplitMix>
    private var acts: [(at: Int, order: Int, act: Act)] = []
    private var lastOrder = 0
    private var isDown: [PlayedService.Way: Bool] = [:]
    /// Connections so far: what is under way on an older one is lost.
    private var lives: [PlayedService.Way: Int] = [:]
    private var isLagging = false
    /// Whether an event was kept from the reader, or taken out of its order, on a connection that goes on: numbers do not show
    /// that to a part.
    private var hasHiddenLoss = false
    private var subscriptions: [[UInt8]] = []
    /// Whose the streams are was asked so often, and whether that is not answered.
    private var ownerQuestions = 0
    private var isOwnerAwaited = false
    private var listener: Listener
    private(set) var flaw: String?

    /// - Parameter isOwned: whether the streams must be the service's.
    init(prefix: String, keepsEntities: Bool, script: Script, isOwned: Bool = false) {
        scope = ReplicaScope(prefix: prefix, keepsEntities: keepsEntities)
        service = PlayedService(apps: script.apps, seed: script.seed)
        table = ReaderTable(generator: SplitMix(state: script.seed + 1), endpoints: isOwned ? Endpoints() : nil)
        listener = Listener(scope: scope, script: script)
        for app in script.before { _ = service.change(app) }
        for (at, act) in script.acts { schedule(at, act) }
        for at in 0..<70 { schedule(at * 1_000_000 + 100_000, .marks) }
        if let (_, actions) = table.add(scope, now: instant) { perform(actions) }
    }

    // MARK: Time

    private mutating func schedule(_ at: Int, _ act: Act) {
        lastOrder += 1
        acts.append((at, lastOrder, act))
    }

    private var instant: ContinuousClock.Instant { Self.base + .microseconds(now) }

    private var wakeUp: Int {
        guard let wakeUp = table.nextWakeUp else { return .max }
        let (seconds, attoseconds) = Self.base.duration(to: wakeUp).components
        return Int(seconds) * 1_000_000 + Int((attoseconds + 999_999_999_999) / 1_000_000_000_000)
    }

    /// The next thing that happens.
    mutating func advance() {
        let next = acts.indices.min { (acts[$0].at, acts[$0].order) < (acts[$1].at, acts[$1].order) }
        if let next, acts[next].at <= wakeUp {
            let (at, _, act) = acts.remove(at: next)
            now = max(now, at)
            perform(act)
        } else {
            now = max(now, wakeUp)
        }
        perform(table.due(now: instant))
    }

    /// Plays on until the replica is right for good, or should be.
    mutating func run() {
        while flaw == nil, !isOver { advance() }
    }

    /// Whether there is nothing more to see.
    var isOver: Bool {
        guard now >= Script.length else { return false }
        return now >= max(Script.length + Self.noticing, faultedAt + Self.healing)
            || !acts.contains(where: \.act.isUnderWay) && wrong == nil
    }

    // MARK: Acts

    private mutating func perform(_ act: Act) {
        switch act {
        case .change(let app): send(service.change(app))
        case .marks: send(service.marks())
        case .trim: service.trim()
        case .forget: service.forget()
        case .pause:
            listener.pausedFor = [:]
            perform(table.pause(1, now: instant))
        case .resume:
            listener.pausedFor = nil
            perform(table.resume(1, now: instant))
        case .cut(let ways):
            for way in ways {
                isDown[way] = true
                lives[way, default: 0] += 1
                switch way {
                case .bulk: service.loseBulk()
                case .events: perform(table.disconnected(now: instant))
                case .commands: break
                }
            }
        case .connect(let ways):
            for way in ways {
                isDown[way] = false
                if way == .events { send(service.connected(subscriptions)) }
            }
        case .connectSlowly:
            isDown[.events] = false
            send(service.connected(subscriptions.filter { $0.first != 0xFF }))
            for topic in subscriptions where topic.first == 0xFF {
                schedule(now + 20_000, .subscribe(topic, isBusy: false, life: lives[.events, default: 0]))
            }
        case .lag(let isLagging):
            self.isLagging = isLagging
            hasHiddenLoss = true
        case .chunk(let req): send(service.chunk(req))
        case .toClient(let message, let life):
            guard life == lives[message.way, default: 0] else { break }
            switch message.way {
            case .events: perform(table.received(topic: message.frames[0], body: message.frames[1], now: instant))
            case .bulk: perform(table.received(bulk: message.frames, now: instant))
            case .commands: break
            }
        case .subscribe(let topic, let isBusy, let life):
            guard life == lives[.events, default: 0] else { break }
            send(service.subscribe(topic, isBusy: isBusy))
        case .unsubscribe(let topic, let life):
            guard life == lives[.events, default: 0] else { break }
            service.unsubscribe(topic)
        case .ask(let command, let isBusy, let life):
            guard life == lives[.bulk, default: 0] else { break }
            send(service.asked(command, isBusy: isBusy))
        case .askOwner(let question, isBusy: true): schedule(now + 500_000, .askOwner(question, isBusy: false))
        case .askOwner(let question, isBusy: false):
            let epoch = service.epoch
            pass(.commands, "info") { _, _ in .informed(.epoch(epoch), question) }
        case .informed(let owner, let question):
            guard question == ownerQuestions, isOwnerAwaited else { break }
            isOwnerAwaited = false
            perform(table.informed(owner, now: instant))
        }
        for req in service.awaited { schedule(now + Self.latency, .chunk(req)) }
        service.awaited = []
    }

    private mutating func perform(_ actions: [ReaderAction]) {
        for action in actions {
            switch action {
            case .subscribe(let topic):
                subscriptions.append(topic)
                // Those of the beginning are a part of connecting; so are all of them after a cut.
                guard topic.first == 0xFF else {
                    _ = service.subscribe(topic, isBusy: false)
                    break
                }
                pass(.events, "join", isQuestion: true) { .subscribe(topic, isBusy: $0, life: $1) }
            case .unsubscribe(let topic):
                subscriptions.removeAll { $0 == topic }
                pass(.events, "unsubscribe") { .unsubscribe(topic, life: $1) }
            case .send(_, let frame), .credit(let frame), .cancel(_, let frame):
                guard let command = RawObject(frame), let op = command["op"]?.string else { break }
                let isQuestion = op != "bulk.credit" && op != "bulk.cancel"
                pass(.bulk, op, isQuestion: isQuestion) { .ask(command, isBusy: $0, life: $1) }
            case .deliver(_, let delivery):
                if let problem = listener.hear(delivery) { note(problem) }
            case .finish(_, let error): note("it has ended: \(String(describing: error))")
            case .peeked, .peekFailed: break
            case .askOwner:
                ownerQuestions += 1
                isOwnerAwaited = true
                let question = ownerQuestions
                let (seconds, _) = StreamOwnership.patience.components
                schedule(now + Int(seconds) * 1_000_000, .informed(.unanswered, question))
                pass(.commands, "service.info", isQuestion: true) { isBusy, _ in .askOwner(question, isBusy: isBusy) }
            }
        }
    }

    private mutating func send(_ messages: [PlayedService.Message]) {
        for message in messages where message.way == .bulk || !isLagging {
            let what = String(decoding: message.frames[0].prefix(80), as: UTF8.self)
            pass(message.way, "\(message.way): \(what)") { .toClient(message, life: $1) }
        }
    }

    /// A message leaves, and what is to befall it does.
    private mutating func pass(
        _ way: PlayedService.Way, _ what: @autoclosure () -> String, isQuestion: Bool = false,
        _ arrives: (_ isBusy: Bool, _ life: Int) -> Act
    ) {
        let number = messages.count
        messages.append((fault == nil ? what() : "", isQuestion))
        let kind = fault?.at == number ? fault?.kind : nil
        if kind != nil {
            faultedAt = now
            hasHiddenLoss = hasHiddenLoss || what().hasPrefix("events: com.")
        }
        guard isDown[way] != true, kind != .lost else { return }
        let act = arrives(kind == .busy, lives[way, default: 0])
        schedule(now + (kind?.latency ?? Self.latency), act)
        if kind == .doubled { schedule(now + Self.latency, act) }
    }

    // MARK: What is right

    /// An event of interest that came after the last beginning, and of which the reader was never told.
    private func neverTold(of model: ModelStream) -> UInt64? {
        guard !hasHiddenLoss, listener.pausedFor == nil, let known = listener.known[model.app],
            known.epoch == model.epoch, let last = listener.last[model.app], last.epoch == model.epoch
        else { return nil }
        return model.events.first { event in
            event.seq > known.seq && event.seq <= last.seq && scope.wants(topic: event.topic)
                && !listener.told.contains(event.position)
        }?.seq
    }

    private mutating func note(_ problem: String) {
        if flaw == nil { flaw = "\(Double(now) / 1e6) s: \(problem)" }
    }

    /// What is wrong with the replica, or with what its reader was told; nil: it is all as the service has it.
    var wrong: String? {
        if let flaw { return flaw }
        if listener.heardOfDifference, !hasHiddenLoss { return "a part was told to be inconsistent" }
        guard let replica = table.replica(of: 1) else { return "it is gone" }
        for (app, model) in service.models where scope.includes(app: app) {
            guard let stream = replica.streams[app] else {
                // The join names no app without events.
                guard model.seq > 0 || scope.app == app else { continue }
                return "\(app) is not known"
            }
            if let missed = neverTold(of: model) { return "\(app): event \(missed) was never told" }
            guard stream.state == .following else { return "\(app) is \(stream.state) at \(stream.seq)" }
            guard stream.position == model.position || stream.position == nil && model.seq == 0 else {
                return "\(app) is at \(String(describing: stream.position)), not \(model.position)"
            }
            guard scope.keepsEntities else {
                guard listener.last[app] == stream.position else { return "\(app): the last event was not told" }
                continue
            }
            let true_ = model.entities.filter { scope.wants(topic: $0.key) }
            guard stream.entities.byTopic.mapValues(\.members) == true_ else {
                return "\(app) holds \(stream.entities.byTopic.keys.sorted()) and not \(true_.keys.sorted())"
            }
            let heard = listener.entities.filter { $0.key.hasPrefix(app + "/") }
            guard heard.mapValues(\.members) == true_ else { return "\(app): the reader knows \(heard.keys.sorted())" }
        }
        return nil
    }
}
