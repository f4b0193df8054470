/// The code of an error, as the contract names it; codes of later versions of the service are `other`.
///
/// What to do about an error is its ``RetryClass``, so that a code which a client does not know is still safe.
public enum ErrorCode: Sendable, Hashable {
    // The contract's own
    case badMessage, unknownOp, unknownField, missingField, badField, implausibleDate
    case notFound, conflict, expired, busy, requestReused, outcomeUnknown, tooOld, tooMany, quotaExceeded
    case moved, unauthorized, unavailable
    /// What a provider of controls answered was wrong, or was not asked.
    case badAnswer, unknownCall
    /// One of Apple's twelve.
    case authorization(ActivityAuthorizationError)
    /// One that this library does not know.
    case other(String)

    /// The code that has this name on the wire.
    public init(name: String) {
        if let known = Self.byName[name] {
            self = known
        } else if let authorization = ActivityAuthorizationError(rawValue: name) {
            self = .authorization(authorization)
        } else {
            self = .other(name)
        }
    }

    /// The code's name on the wire.
    public var name: String {
        switch self {
        case .badMessage: "badMessage"
        case .unknownOp: "unknownOp"
        case .unknownField: "unknownField"
        case .missingField: "missingField"
        case .badField: "badField"
        case .implausibleDate: "implausibleDate"
        case .notFound: "notFound"
        case .conflict: "conflict"
        case .expired: "expired"
        case .busy: "busy"
        case .requestReused: "requestReused"
        case .outcomeUnknown: "outcomeUnknown"
        case .tooOld: "tooOld"
        case .tooMany: "tooMany"
        case .quotaExceeded: "quotaExceeded"
        case .moved: "moved"
        case .unauthorized: "unauthorized"
        case .unavailable: "unavailable"
        case .badAnswer: "badAnswer"
        case .unknownCall: "unknownCall"
        case .authorization(let authorization): authorization.rawValue
        case .other(let name): name
        }
    }

    private static let byName: [String: ErrorCode] = {
        let known: [ErrorCode] = [
            .badMessage, .unknownOp, .unknownField, .missingField, .badField, .implausibleDate, .notFound, .conflict,
            .expired, .busy, .requestReused, .outcomeUnknown, .tooOld, .tooMany, .quotaExceeded, .moved, .unauthorized,
            .unavailable, .badAnswer, .unknownCall,
        ]
        return Dictionary(uniqueKeysWithValues: known.map { ($0.name, $0) })
    }()
}

/// What a client may do about an error.
public enum RetryClass: String, Sendable, Hashable {
    /// The same command will fail again.
    case never
    /// The same command may succeed after a while.
    case later
    /// It may succeed after the client has looked at the present state.
    case refresh
}
