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

    /// Whether an action that failed so may have its effect yet: nobody said that it is over.
    var leavesActionOpen: Bool {
        switch self {
        case .providerLost, .timedOut, .unknownOutcome: true
        case .none, .noProvider, .threw, .badAnswer, .busy: false
        }
    }
}
