/// Why something that was asked of the service did not happen, or is not known to have.
public enum IsletError: Error, Sendable, Hashable {
    /// The service refused: its answer says why.
    case refused(ServiceError)
    /// No answer came within this time, although the command was sent again. Of a change it is told whether it may have
    /// been executed; with the same connection it is never executed twice.
    case timedOut(after: Duration, change: UnansweredChange? = nil)
    /// More commands wait for their answers, or more streams are open, than a connection holds.
    case overloaded(limit: Int)
    /// The task that waited was cancelled; the command may have been executed.
    case cancelled
    /// The connection was closed.
    case closed
    /// An endpoint cannot be used: not a valid address, or the system refuses it, or its streams are those of another
    /// service than the one that takes the commands.
    case endpoint(String, reason: String)
    /// Something that was to be sent is not what the contract takes, such as a payload that is no JSON object.
    case invalid(String)
    /// The service's answer could not be read.
    case unreadable(String)
    /// ``Islet/configure(app:endpoints:)`` was not called and no session is set.
    case notConfigured

    /// The service's code, where the service refused.
    public var code: ErrorCode? {
        guard case .refused(let error) = self else { return nil }
        return error.code
    }

    /// What to do about it.
    public var retry: RetryClass {
        switch self {
        case .refused(let error): error.retry
        case .timedOut, .overloaded: .later
        case .cancelled, .closed, .endpoint, .invalid, .unreadable, .notConfigured: .never
        }
    }

    /// The figures behind a refusal; empty otherwise.
    public var detail: RawObject {
        guard case .refused(let error) = self else { return [:] }
        return error.detail
    }
}

extension IsletError: CustomStringConvertible {
    /// One sentence for people, without a full stop.
    public var description: String {
        switch self {
        case .refused(let error): error.description
        case .timedOut(let time, let change):
            "no answer within \(time.formattedSeconds)" + (change.map { "; \($0)" } ?? "")
        case .overloaded(let limit): "too much at once: at most \(limit)"
        case .cancelled: "cancelled"
        case .closed: "the connection is closed"
        case .endpoint(let endpoint, let reason): "cannot use \(endpoint): \(reason)"
        case .invalid(let reason): reason
        case .unreadable(let what): "unreadable answer: \(what)"
        case .notConfigured: "call Islet.configure(app:endpoints:) first"
        }
    }
}

extension Duration {
    /// Such as `2.5 s`.
    var formattedSeconds: String {
        let milliseconds = wholeMilliseconds
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        return rest == 0 ? "\(seconds) s" : "\(seconds).\(rest / 100) s"
    }

    /// Rounded down, and held within `Int64`.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds < 0 ? .min : .max }
        return whole &+ attoseconds / 1_000_000_000_000_000
    }

    /// Rounded up, so that what is waited for has come then; 0 of a time that is over.
    var millisecondsToWait: Int {
        let milliseconds = wholeMilliseconds
        return milliseconds < 0 ? 0 : Int(milliseconds == .max ? milliseconds : milliseconds + 1)
    }
}
