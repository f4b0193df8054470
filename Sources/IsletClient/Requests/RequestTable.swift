import IsletCore
import IsletProtocol

/// The commands that wait for their answers, each under its `req`.
///
/// A pure value; time and chance are passed in. A command that gets no answer is sent again with the **same** `req` and
/// the same bytes, so that the service executes it once and answers it twice at most; so is one that the service was
/// too busy for. It ends with an answer, or when its time is over.
///
/// A connection that stands loses nothing, so what a lost one took with it is sent again at once, and by one that stands only
/// what may have been lost behind it, such as by a broker, and costs nothing to repeat: small changes while little else waits.
/// Copies of what is large, and second answers to reads, would fill a slow connection, on which nothing is answered meanwhile,
/// which asks for more copies.
///
/// A connection's commands are answered in their order. So one is not given up as lost while answers still come and none is
/// to a later one: then it only waits its turn, and to send it again would make the turn longer. And a change is not refused
/// while a further copy of it is on its way, which is executed where the reason has passed by then, as no refusal is
/// remembered: a ping goes behind the copies, and once that is answered none of them is out.
package struct RequestTable: Sendable {
    /// More than this is refused: the service takes 64 waiting messages a connection, the rest waits in queues.
    package static let maximumCount = 65_536

    /// What a command may have in bytes, by the contract.
    package static let maximumFrame = CommandDecoder.maximumFrameLength

    /// What is to be done now.
    package enum Action: Sendable, Hashable {
        /// Send this frame, again.
        case send(req: String, frame: [UInt8])
        /// Nobody needs to wait any longer: its time is over.
        ///
        /// - Parameter change: its op, where it is a change, and whether it was sent: as of its last attempt the outlet
        ///   knows better.
        case timeOut(req: String, after: Duration, change: UnansweredChange?)
    }

    /// What an answer means.
    package enum Received: Sendable, Hashable {
        /// The request has ended with this.
        case finished(req: String, Result<Answer, IsletError>)
        /// It was busy, and the request is sent again in a while; or it was refused, and a copy of it may not be.
        case postponed
        /// Nobody waits for it: an answer that came twice, or too late.
        case unknown
    }

    /// By a connection that stands what is larger is not sent again before this, nor is a read, nor what has so many bytes in
    /// front of it that wait for their answers.
    package static let standingPatience = Duration.seconds(20)
    /// So long a change may be, in bytes, to be small…
    package static let smallFrame = 1_024
    /// …and so many bytes may wait for their answers, its own included.
    package static let smallBacklog = 16 << 10

    private struct Request: Sendable {
        let frame: [UInt8]
        /// The op, where it is a change.
        let change: String?
        /// It is not sent again any sooner.
        let leastPatience: Duration
        let timeout: Duration
        let deadline: ContinuousClock.Instant
        /// Whether an attempt before the present one has left.
        var hasLeft = false
        /// Its place among all that was sent: that of its latest copy, and of its first one.
        var place: UInt64
        let firstPlace: UInt64
        var attempt = 0
        /// How many copies of it were sent that have no answer yet, or were lost.
        var copiesOut = 1
        /// What one copy was refused with, while others are out.
        var refusal: ServiceError?
        /// How long an answer may take before it is sent again.
        var patience: Duration
        var nextAttempt: ContinuousClock.Instant

        var wakeUp: ContinuousClock.Instant { min(deadline, nextAttempt) }
        var unanswered: UnansweredChange? { change.map { UnansweredChange(op: $0, wasSent: hasLeft) } }
    }

    /// The place of one that was answered, and is sent again at a time that was said.
    private static let postponed: UInt64 = 0
    /// Behind the `req` of a request: that of the ping which follows its copies.
    private static let pingSuffix = "?"

    /// When a request is looked at again. One that was answered or put off since leaves an outdated one behind.
    private struct Alarm: Comparable {
        var at: ContinuousClock.Instant
        var place: UInt64
        var req: String

        static func < (one: Alarm, other: Alarm) -> Bool { (one.at, one.place) < (other.at, other.place) }
    }

    private let prefix: String
    private let client: String
    private let backoff: Backoff
    private var requests: [String: Request] = [:]
    private var lastNumber: UInt64 = 0
    private var alarms = MinHeap<Alarm>()
    /// How many frames were handed out to be sent.
    private var sent: UInt64 = 0
    /// The place of the latest one that was answered.
    private var answeredThrough: UInt64 = 0
    private var lastAnswer: ContinuousClock.Instant?
    /// The bytes of all that wait.
    private var bytes = 0
    /// Outdated alarms are dropped once there are more of them than requests, and than this.
    private static let outdatedAlarms = 1_024

    /// An empty table whose `req` are `<prefix>-1`, `<prefix>-2` …, and whose changes carry this `client`.
    package init(prefix: String, client: String, backoff: Backoff) {
        self.prefix = prefix
        self.client = client
        self.backoff = backoff
    }

    /// How many wait.
    package var count: Int { requests.count }

    /// Takes a command in. Its frame is to be sent now.
    package mutating func begin(
        _ command: Command, timeout: Duration, now: ContinuousClock.Instant,
        using generator: inout some RandomNumberGenerator
    ) -> Result<(req: String, frame: [UInt8]), IsletError> {
        begin(
            command, timeout: timeout, wait: backoff.delay(attempt: 1, using: &generator), isSmall: isSmall([command]), now: now)
    }

    /// Takes the commands of one message in. Where it is lost they fall due together, and so stay in their order: a
    /// connection's commands are executed in it.
    package mutating func begin(
        message commands: [Command], timeout: Duration, now: ContinuousClock.Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [Result<(req: String, frame: [UInt8]), IsletError>] {
        let wait = backoff.delay(attempt: 1, using: &generator)
        let isSmall = isSmall(commands)
        return commands.map { begin($0, timeout: timeout, wait: wait, isSmall: isSmall, now: now) }
    }

    /// Whether a message may be sent again by a connection that stands: all of it or nothing, as it is to stay in its order.
    private func isSmall(_ commands: [Command]) -> Bool {
        guard commands.count <= Self.smallBacklog / Self.smallFrame else { return false }
        var sum = bytes
        for command in commands {
            let count = command.frame(req: prefix, client: client).count
            sum += count
            guard command.isChange, count <= Self.smallFrame, sum <= Self.smallBacklog else { return false }
        }
        return true
    }

    /// - Parameter isSmall: whether the message that it is of may be sent again by a connection that stands.
    private mutating func begin(
        _ command: Command, timeout: Duration, wait: Duration, isSmall: Bool, now: ContinuousClock.Instant
    ) -> Result<(req: String, frame: [UInt8]), IsletError> {
        guard requests.count < Self.maximumCount else { return .failure(.overloaded(limit: Self.maximumCount)) }
        guard command["ack"]?.string != "none" else {
            return .failure(.invalid("a command that wants no answer (\"ack\":\"none\") has none to wait for"))
        }
        if let name = Command.ownNames.first(where: { command[$0] != nil }) {
            return .failure(.invalid("'\(name)' is no field of a command's own: it would stand twice in its frame"))
        }
        let number = command.requestNumber ?? lastNumber + 1
        let req = "\(prefix)-\(number)"
        let frame = command.frame(req: req, client: client)
        // The service's refusal would not name the command.
        guard frame.count <= Self.maximumFrame else {
            return .failure(.invalid("a command has \(frame.count) bytes, and may have \(Self.maximumFrame)"))
        }
        do throws(ScanError) {
            try JSONScanner.scanObject(frame.span) { _ in }
        } catch {
            let isTooDeep = error.reason == .tooDeep
            let reason = isTooDeep ? "nests deeper than \(JSONScanner.maximumDepth) levels" : "\(error.reason)"
            return .failure(.invalid("the service cannot read the command: \(reason), at byte \(error.offset)"))
        }
        lastNumber = number
        let leastPatience = isSmall ? Duration.zero : Self.standingPatience
        let patience = max(leastPatience, wait)
        sent += 1
        requests[req] = Request(
            frame: frame, change: command.isChange ? command.op : nil, leastPatience: leastPatience, timeout: timeout,
            deadline: now + timeout, place: sent, firstPlace: sent, patience: patience, nextAttempt: now + patience)
        bytes += frame.count
        setAlarm(req)
        return .success((req, frame))
    }

    /// Takes an answer frame in.
    package mutating func received(_ frame: [UInt8], now: ContinuousClock.Instant) -> Received {
        let (answered, result) = Answer.read(frame)
        guard let req = answered, req.hasPrefix(prefix) else { return .unknown }
        // Also where it is the answer to a further copy: the connection brings something.
        lastAnswer = now
        guard let request = requests[req] else { return answeredPing(req) }
        // Of its copies it may be the first that is answered.
        answeredThrough = max(answeredThrough, request.firstPlace)
        requests[req]?.copiesOut -= 1
        if case .failure(.refused(let error)) = result {
            let wait = Duration.milliseconds(error.retryAfter ?? 100)
            if error.code == .busy, request.refusal == nil, now + wait < request.deadline {
                postpone(req, until: now + wait)
                return .postponed
            }
            if request.change != nil, request.copiesOut > 1 {
                requests[req]?.refusal = error
                postpone(req, until: now)
                return .postponed
            }
        }
        forget(req)
        return .finished(req: req, result)
    }

    /// It is looked at then. It has had an answer, so none that comes to another tells anything of it.
    private mutating func postpone(_ req: String, until date: ContinuousClock.Instant) {
        requests[req]?.nextAttempt = date
        requests[req]?.place = Self.postponed
        setAlarm(req)
    }

    /// What was sent before a ping has its answers, or is lost.
    private mutating func answeredPing(_ ping: String) -> Received {
        guard let (req, refusal) = refused(behind: ping) else { return .unknown }
        forget(req)
        return .finished(req: req, .failure(.refused(refusal)))
    }

    /// The request whose copies a ping follows, and what one of them was refused with.
    private func refused(behind ping: String) -> (req: String, refusal: ServiceError)? {
        guard ping.hasSuffix(Self.pingSuffix) else { return nil }
        let req = String(ping.dropLast(Self.pingSuffix.count))
        return requests[req]?.refusal.map { (req, $0) }
    }

    /// Forgets a request whose task was cancelled.
    package mutating func cancel(req: String) { forget(req) }

    private mutating func forget(_ req: String) {
        if let request = requests.removeValue(forKey: req) { bytes -= request.frame.count }
    }

    /// Forgets all; they are to be told.
    package mutating func cancelAll() -> [String] {
        let waiting = Array(requests.keys)
        requests = [:]
        bytes = 0
        return waiting
    }

    /// When `due` may have something to do; nil while nothing waits.
    package var nextWakeUp: ContinuousClock.Instant? { requests.isEmpty ? nil : alarms.first?.at }

    /// The changes that wait for their answers, each with whether an attempt before the present one has left.
    package var changes: [(req: String, change: UnansweredChange)] {
        requests.compactMap { req, request in request.unanswered.map { (req, $0) } }
            .sorted { Self.isBefore($0.0, $1.0) }
    }

    /// What was sent of a request before has left: it may be executed, though the next attempt waits for a connection.
    package mutating func left(req: String) {
        requests[req]?.hasLeft = true
    }

    /// The connection was lost by which all that was sent had left, and what it was to bring: another one brings it.
    package mutating func connectionWasLost(now: ContinuousClock.Instant) {
        lastAnswer = nil
        for (req, request) in requests where request.place != Self.postponed {
            requests[req]?.nextAttempt = min(request.nextAttempt, now)
            setAlarm(req)
        }
    }

    /// Whether this one still waits for its answer.
    package func waits(req: String) -> Bool { requests[req] != nil || refused(behind: req) != nil }

    /// What time has brought.
    package mutating func due(
        now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        var due: [String] = []
        while let alarm = alarms.first, alarm.at <= now {
            _ = alarms.popFirst()
            guard let request = requests[alarm.req], request.wakeUp <= now else { continue }
            if request.deadline > now, let later = waitsItsTurn(request, now) {
                requests[alarm.req]?.nextAttempt = later
                setAlarm(alarm.req)
            } else {
                due.append(alarm.req)
            }
        }
        // In the order of their numbers, so that what is sent again keeps its order.
        due.sort(by: Self.isBefore)
        var actions: [Action] = []
        // What falls due together does so again, if it is lost once more.
        var waits: [Int: Duration] = [:]
        for req in due {
            guard let request = requests[req], request.wakeUp <= now else { continue }
            if request.deadline <= now {
                forget(req)
                actions.append(.timeOut(req: req, after: request.timeout, change: request.unanswered))
            } else {
                let attempt = request.attempt + 1
                let wait = waits[attempt] ?? backoff.delay(attempt: attempt + 1, using: &generator)
                waits[attempt] = wait
                let patience = max(request.leastPatience, wait)
                requests[req]?.attempt = attempt
                requests[req]?.patience = patience
                requests[req]?.nextAttempt = now + patience
                if request.refusal == nil {
                    sent += 1
                    requests[req]?.place = sent
                    requests[req]?.copiesOut += 1
                    actions.append(.send(req: req, frame: request.frame))
                } else {
                    let ping = req + Self.pingSuffix
                    actions.append(.send(req: ping, frame: Command("service.ping").frame(req: ping, client: nil)))
                }
                setAlarm(req)
            }
        }
        return actions
    }

    /// Until when a request that is due may still be answered in its turn; nil where it is to be sent again: nothing was
    /// answered for as long as it waits, or a later one was.
    private func waitsItsTurn(_ request: Request, _ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let lastAnswer, request.place > answeredThrough else { return nil }
        let later = lastAnswer + request.patience
        return later > now ? later : nil
    }

    private mutating func setAlarm(_ req: String) {
        guard let request = requests[req] else { return }
        if alarms.count > 2 * requests.count + Self.outdatedAlarms {
            alarms = MinHeap(requests.map { Alarm(at: $1.wakeUp, place: $1.place, req: $0) })
        } else {
            alarms.insert(Alarm(at: request.wakeUp, place: request.place, req: req))
        }
    }

    /// A longer number is a later one.
    private static func isBefore(_ left: String, _ right: String) -> Bool {
        (left.utf8.count, left) < (right.utf8.count, right)
    }
}
