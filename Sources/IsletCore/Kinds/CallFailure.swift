/// Why the last call to a provider did not end well.
package enum CallFailure: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case none
    /// Nobody provides the kind.
    case noProvider
    /// The provider went away during the call.
    case providerLost
    /// No answer within the deadline.
    case timedOut
    /// The provider's own error.
    case threw
    /// The answer was of the wrong type or too long.
    case badAnswer
    /// Too many calls were waiting.
    case busy
    /// The service was restarted during an action: it may or may not have run, and is not run again.
    case unknownOutcome

    /// The longest text that a provider gives as the reason of a call that threw, in bytes of UTF-8.
    package static let reasonLimit = 256
    /// The longest JSON string of such a text: each byte may be escaped, between two quotes.
    static let reasonJSONLimit = 2 * reasonLimit + 2

    /// Whether an action that failed so may have its effect yet: nobody said that it is over.
    var leavesActionOpen: Bool {
        switch self {
        case .providerLost, .timedOut, .unknownOutcome: true
        case .none, .noProvider, .threw, .badAnswer, .busy: false
        }
    }
}

extension ImageReader {
    /// What a provider said of a call that ended so: a JSON string with its quotes; empty: nothing.
    mutating func failureReason(of failure: CallFailure) throws(ImageError) -> [UInt8] {
        let reason = try bytesOfRun()
        if reason.isEmpty { return [] }
        guard failure == .threw else { throw .contradiction("a reason of what did not throw") }
        let quote = UInt8(ascii: "\"")
        guard (3...CallFailure.reasonJSONLimit).contains(reason.count), reason.first == quote, reason.last == quote else {
            throw .contradiction("a reason that is none")
        }
        return reason
    }
}
