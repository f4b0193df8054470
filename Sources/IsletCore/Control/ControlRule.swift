/// The rule that made a decision about a control: a row of the fact sheet's table, or one of this service.
///
/// Journals keep its number: new rules are added at the end, and none is ever taken away.
package enum ControlRule: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case added, firstValue, firstValueFailed, reloaded, newValue, valueFailed, tapped, performed, performFailed
    case authenticationRequired, disabledTap, configured, removed
    case retried, tappedWhileActing, nextWish, pressedTwice, authenticated, authenticationLimit
    case redacted, revealed, restartedWhileActing, unchanged, revisionGuard, badConfiguration, notAToggle

    /// The row of apple-semantics, or where else the rule comes from.
    package var source: StaticString {
        switch self {
        case .added: "apple-semantics 4.2 C2"
        case .firstValue: "apple-semantics 4.2 C3"
        case .firstValueFailed: "apple-semantics 4.2 C4"
        case .reloaded: "apple-semantics 4.2 C5"
        case .newValue: "apple-semantics 4.2 C6 and C11"
        case .valueFailed: "apple-semantics 4.2 C7"
        case .tapped: "apple-semantics 4.2 C8 and C12"
        case .performed: "apple-semantics 4.2 C9 and C12"
        case .performFailed: "apple-semantics 4.2 C10"
        case .authenticationRequired, .authenticated: "apple-semantics 4.2 C13"
        case .disabledTap: "apple-semantics 4.2 C14"
        case .configured: "apple-semantics 4.2 C15"
        case .removed: "apple-semantics 4.2 C16"
        case .retried: "rule set controlRetryFirst"
        case .tappedWhileActing, .nextWish: "the newest wish of a person is performed next"
        case .pressedTwice: "a button's action is one shot"
        case .authenticationLimit: "rule set authenticationLimit"
        case .redacted, .revealed: "apple-semantics 4.1 privacySensitive"
        case .restartedWhileActing: "an action is performed at most once"
        case .unchanged: "equal configuration"
        case .revisionGuard: "contract, ifRevision"
        case .badConfiguration: "the kind's parameters"
        case .notAToggle: "only a toggle has a value to set"
        }
    }
}
