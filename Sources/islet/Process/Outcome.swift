import IsletClient
import IsletJournal
import IsletServer

/// The exit codes of the `islet` command, as its help documents them.
enum Outcome: Int32 {
    case done = 0
    case failure = 1
    case usage = 2
    case notFound = 3
    /// A conflict, or a change that was ignored because of the state.
    case conflict = 4
    /// No answer in time.
    case unreachable = 5
    /// The service refused, or a limit was reached.
    case refused = 6

    /// The exit code of an error of the contract, as proto-json/errors.json has it.
    init(_ code: ErrorCode) {
        switch code {
        case .badMessage, .unknownOp, .unknownField, .missingField, .badField, .implausibleDate, .badAnswer,
            .authorization(.malformedActivityIdentifier):
            self = .usage
        case .notFound, .unknownCall: self = .notFound
        case .conflict, .requestReused, .tooOld, .authorization(.reconnectNotPermitted): self = .conflict
        case .expired, .outcomeUnknown, .moved: self = .unreachable
        case .busy, .tooMany, .quotaExceeded, .unauthorized, .unavailable: self = .refused
        case .authorization(.persistenceFailure), .other: self = .failure
        case .authorization: self = .refused
        }
    }
}

/// How a subcommand fails: a sentence for standard error, and the exit code.
struct Failure: Error {
    var code: Outcome
    var text: String

    init(_ code: Outcome, _ text: String) {
        self.code = code
        self.text = text
    }

    /// What an error means to the person; nil where it is the argument parser's.
    init?(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as IsletError: self.init(error)
        case let error as StoreError: self.init(.failure, error.description)
        case let error as RecoveryError:
            self.init(
                .failure,
                "the journal's files are sound, but not what they say: \(error). Nothing was changed; "
                    + "`islet journal verify` tells more, `islet journal rebuild` makes a new directory of what can be "
                    + "read, and `islet restore` one of a backup.")
        case let error as StartError: self.init(.failure, error.description)
        case let error as JournalRebuild.Failure: self.init(.failure, error.description)
        case is CancellationError: self.init(.failure, "cancelled")
        default: return nil
        }
    }

    /// What an error of the client library means to the person.
    init(_ error: IsletError) {
        switch error {
        case .refused(let error): self.init(Outcome(error.code), "refused: \(error.message)\(Self.hint(error))")
        case .timedOut, .overloaded: self.init(.unreachable, error.description)
        case .endpoint, .invalid: self.init(.usage, error.description)
        case .cancelled, .closed, .unreadable, .notConfigured: self.init(.failure, error.description)
        }
    }

    /// What the service's figures add to its words.
    private static func hint(_ error: ServiceError) -> String {
        switch error.code {
        case .authorization(.attributesTooLarge): " (\(error.code.name)): make the state or the attributes smaller"
        case .unavailable where error.detail["reason"]?.string == "clockNotManual":
            " (unavailable): start it with --clock manual"
        case .unknownOp: " (\(error.code.name)): the service is older than this command"
        case let code: " (\(code.name))"
        }
    }
}
