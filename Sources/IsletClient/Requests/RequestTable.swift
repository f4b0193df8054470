/// The commands that wait for their answers, each under its `req`.
///
/// A pure value; time and chance are passed in. A command that gets no answer is sent again with the **same** `req` and
/// the same bytes, so that the service executes it once and answers it twice at most; so is one that the service was
/// too busy for. It ends with an answer, or when its time is over.
package struct RequestTable: Sendable {
    /// More than this is refused: the service takes 64 waiting messages a connection, the rest waits in queues.
    package static let maximumCount = 65_536

    /// What a command may have in bytes, by the contract.
    package static let maximumFrame = 65_536

    /// What is to be done now.
    package enum Action: Sendable, Hashable {
        /// Send this frame, again.
        case send(req: String, frame: [UInt8])
        /// Nobody needs to wait any longer: its time is over.
        case timeOut(req: String, after: Duration)
    }

    /// What an answer means.
    package enum Received: Sendable, Hashable {
        /// The request has ended with this.
        case finished(req: String, Result<Answer, IsletError>)
        /// It was busy; the request is sent again in a while.
        case postponed
        /// Nobody waits for it: an answer that came twice, or too late.
        case unknown
    }

    private struct Request: Sendable {
        let frame: [UInt8]
        let timeout: Duration
        let deadline: ContinuousClock.Instant
        var attempt = 0
        var nextAttempt: ContinuousClock.Instant

        var wakeUp: ContinuousClock.Instant { min(deadline, nextAttempt) }
    }

    private let prefix: String
    private let client: String
    private let backoff: Backoff
    private var requests: [String: Request] = [:]
    private var lastNumber: UInt64 = 0
    /// No request needs attention before this: a bound that is exact again after each `due`, so that a turn does not
    /// look at all of them.
    private var earliest: ContinuousClock.Instant?

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
        guard requests.count < Self.maximumCount else { return .failure(.overloaded(limit: Self.maximumCount)) }
        let number = command.requestNumber ?? lastNumber + 1
        let req = "\(prefix)-\(number)"
        let frame = command.frame(req: req, client: client)
        // The service's refusal would not name the command.
        guard frame.count <= Self.maximumFrame else {
            return .failure(.invalid("a command has \(frame.count) bytes, and may have \(Self.maximumFrame)"))
        }
        lastNumber = number
        let request = Request(
            frame: frame, timeout: timeout, deadline: now + timeout,
            nextAttempt: now + backoff.delay(attempt: 1, using: &generator))
        requests[req] = request
        earliest = min(earliest ?? request.wakeUp, request.wakeUp)
        return .success((req, frame))
    }

    /// Takes an answer frame in.
    package mutating func received(_ frame: [UInt8], now: ContinuousClock.Instant) -> Received {
        let (answered, result) = Answer.read(frame)
        guard let req = answered, let request = requests[req] else { return .unknown }
        if case .failure(.refused(let error)) = result, error.code == .busy {
            let wait = Duration.milliseconds(error.retryAfter ?? 100)
            if now + wait < request.deadline {
                requests[req]?.nextAttempt = now + wait
                earliest = min(earliest ?? now + wait, now + wait)
                return .postponed
            }
        }
        requests[req] = nil
        return .finished(req: req, result)
    }

    /// Forgets a request whose task was cancelled.
    package mutating func cancel(req: String) {
        requests[req] = nil
    }

    /// Forgets all; they are to be told.
    package mutating func cancelAll() -> [String] {
        let waiting = Array(requests.keys)
        requests = [:]
        return waiting
    }

    /// When `due` may have something to do; nil while nothing waits.
    package var nextWakeUp: ContinuousClock.Instant? { requests.isEmpty ? nil : earliest }

    /// Whether this one still waits for its answer.
    package func waits(req: String) -> Bool { requests[req] != nil }

    /// What time has brought.
    package mutating func due(
        now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        guard let earliest, earliest <= now else { return [] }
        var actions: [Action] = []
        // In the order of their numbers, so that what is sent again keeps its order.
        let due = requests.filter { $0.value.wakeUp <= now }
        for (req, request) in due.sorted(by: { Self.isBefore($0.key, $1.key) }) {
            if request.deadline <= now {
                requests[req] = nil
                actions.append(.timeOut(req: req, after: request.timeout))
            } else {
                let attempt = request.attempt + 1
                let next = now + backoff.delay(attempt: attempt + 1, using: &generator)
                requests[req]?.attempt = attempt
                requests[req]?.nextAttempt = next
                actions.append(.send(req: req, frame: request.frame))
            }
        }
        self.earliest = requests.values.lazy.map(\.wakeUp).min()
        return actions
    }

    /// A longer number is a later one.
    private static func isBefore(_ left: String, _ right: String) -> Bool {
        (left.utf8.count, left) < (right.utf8.count, right)
    }
}
