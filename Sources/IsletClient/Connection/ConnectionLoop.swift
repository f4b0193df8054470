import Synchronization
import ZeroMQ

/// The actor behind a connection: it owns the three sockets, on a thread of its own, and performs what the pure parts
/// (`RequestTable`, `ReaderTable`) decide.
actor ConnectionLoop: BusLoop {
    nonisolated let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Messages that one turn takes from one socket, so that the others get their share.
    static let messagesPerTurn = 256

    let endpoints: Endpoints
    let options: ConnectionOptions
    var poller = Poller()
    var commands: Outlet
    var bulk: Outlet
    let events: Socket
    /// Of `events`.
    var subscription: SubscriptionLink
    var message = Message()
    /// Whether the events and bulk sockets were connected, which the first reader brings about.
    var followsStreams = false
    var isClosed = false

    var requests: RequestTable
    var waiters: [String: Waiter] = [:]
    var table: ReaderTable<SystemRandomNumberGenerator>
    var readers: [Int: Reader] = [:]
    var reports = ReportSchedule()
    var appsQuestions: [AppsQuestion] = []
    var peeks: [Int: Peek] = [:]
    var lastPeek = 0
    var generator = SystemRandomNumberGenerator()

    /// Whether a ping is under way that tells whether the connection of the commands leads anywhere.
    var isProbing = false
    /// How long the connections of commands and of bulk may be silent now, though something is waited for.
    var commandsSilence = ConnectionLoop.shortestSilence
    var bulkSilence = ConnectionLoop.shortestSilence
    /// How many connections of commands were lost until the requests were told last.
    var lossesOfCommands: UInt64 = 0
    /// Since when nothing has come by the subscriptions though a join is waited for.
    var deafSince: ContinuousClock.Instant?

    /// Requests whose tasks were cancelled, by the tasks' own threads.
    nonisolated let cancelled = Mutex<[String]>([])

    /// Makes the sockets and connects the one for commands. Called on the thread.
    init(on thread: BusThread, endpoints: Endpoints, options: ConnectionOptions) throws(IsletError) {
        self.thread = thread
        self.endpoints = endpoints
        self.options = options
        table = ReaderTable(generator: SystemRandomNumberGenerator(), endpoints: endpoints)
        requests = RequestTable(
            prefix: options.requestPrefix, client: options.client ?? ClientIdentity.uuid(),
            backoff: .commands(first: options.firstRetry))
        do throws(ZeroMQError) {
            let context = try ZeroMQContext()
            commands = try Outlet(context: context, poller: &poller)
            bulk = try Outlet(context: context, poller: &poller)
            events = try Socket(.sub, in: context)
            try events.set(.sendHighWaterMark, to: 0)
            try events.set(.receiveHighWaterMark, to: 100_000)
            try Outlet.setConnectionOptions(events)
            _ = poller.add(events)
            subscription = try SubscriptionLink(of: events, in: context, poller: &poller)
        } catch {
            throw .endpoint("a ZeroMQ socket", reason: error.description)
        }
        do throws(ZeroMQError) {
            try commands.connect(endpoints.commands)
        } catch {
            throw .endpoint(endpoints.commands, reason: error.description)
        }
    }

    func turn() -> NextTurn {
        takeCancellations()
        var isBusy = receiveAnswers()
        isBusy = receiveChunks() || isBusy
        isBusy = receiveEvents() || isBusy
        let now = ContinuousClock.now
        requestsDue(now)
        readersDue(now)
        mendSilentConnections(now)
        subscription.renew(events, at: endpoints.events, now: now)
        commands.flush(now: now, poller: &poller) { entry in
            entry.requests.isEmpty || entry.requests.contains(where: requests.waits(req:))
        }
        bulk.flush(now: now, poller: &poller) { entry in
            entry.requests.isEmpty || entry.requests.contains(where: table.wants(pull:))
        }
        if isBusy { return .immediately }
        let wakeUps = [
            requests.nextWakeUp, table.nextWakeUp, reports.nextWakeUp, appsDue(now), peeksDue(now),
            commands.nextWakeUp, bulk.nextWakeUp, subscription.nextWakeUp, silenceEnd,
        ]
        guard let wakeUp = wakeUps.compactMap(\.self).min() else { return .whenReady }
        return .within(milliseconds: now.duration(to: wakeUp).millisecondsToWait)
    }

    func finish() {
        isClosed = true
        commands.close()
        bulk.close()
        events.close()
        subscription.close()
        for req in requests.cancelAll() { complete(req, .failure(.closed)) }
        for reader in readers.values { reader.queue.finish(nil) }
        readers = [:]
        closeAppsQuestions()
        closePeeks()
    }
}

/// Who a client is to the service.
enum ClientIdentity {
    /// A random UUID (version 4) in lower case.
    static func uuid() -> String {
        let text = hexadecimal(bytes: 16)
        let digits = Array(text)
        let variant = ["8", "9", "a", "b"][Int.random(in: 0..<4)]
        return String(digits[0..<8]) + "-" + String(digits[8..<12]) + "-4" + String(digits[13..<16]) + "-" + variant
            + String(digits[17..<20]) + "-" + String(digits[20..<32])
    }

    /// So many random bytes as hexadecimal digits.
    static func hexadecimal(bytes: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return hexadecimal(bytes: bytes, using: &generator)
    }

    /// As `hexadecimal(bytes:)`, by a generator.
    static func hexadecimal(bytes: Int, using generator: inout some RandomNumberGenerator) -> String {
        (0..<bytes).map { _ in
            let byte = UInt8.random(in: .min ... .max, using: &generator)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
