/// The rule that made a decision about a control: a row of the fact sheet's table, or one of this service.
///
/// Journals keep its number: new rules are added at the end, and none is ever taken away.
package enum ControlRule: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case added, firstValue, firstValueFailed, reloaded, newValue, valueFailed, tapped, performed, performFailed
    case authenticationRequired, disabledTap, configured, removed
    case retried, tappedWhileActing, nextWish, pressedTwice, authenticated, authenticationLimit
    case redacted, revealed, restartedWhileActing, unchanged, revisionGuard

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
        }
    }

    /// What was decided, for people.
    package var text: StaticString {
        switch self {
        case .added: "A person placed it; where it has a value, that is asked for."
        case .firstValue: "The first value came."
        case .firstValueFailed: "The first value failed: the preview is shown, and the truth is unknown."
        case .reloaded: "A new value is asked for; the last one stays until it is there."
        case .newValue: "The provider's value is shown, whatever was shown before."
        case .valueFailed: "The value failed: the last one is kept."
        case .tapped: "A tap: the new state is shown at once, and the action runs."
        case .performed: "The action was through."
        case .performFailed: "The action failed or is unknown: the value before is shown again."
        case .authenticationRequired: "The device is locked, and the action needs authentication: it waits."
        case .disabledTap: "It is disabled: a tap does nothing."
        case .configured: "It was configured: what it showed belongs to the configuration before."
        case .removed: "It was removed."
        case .retried: "The time of another try has come."
        case .tappedWhileActing: "A tap while an action runs: it is performed next."
        case .nextWish: "The newest wish is performed."
        case .pressedTwice: "The button's action runs: another press does nothing."
        case .authenticated: "The device was unlocked: the action runs."
        case .authenticationLimit: "The device was not unlocked in time: the action is dropped."
        case .redacted: "What is sensitive is hidden while the device is locked."
        case .revealed: "What was hidden is shown again."
        case .restartedWhileActing: "The service was restarted during the action: it is not run again."
        case .unchanged: "The configuration is the same."
        case .revisionGuard: "It has another revision than the command asks for."
        }
    }
}
