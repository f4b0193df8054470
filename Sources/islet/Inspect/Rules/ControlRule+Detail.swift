import IsletCore

extension ControlRule {
    /// When it applies, what follows, and what to do about it.
    var detail: RuleDetail {
        switch self {
        case .added:
            RuleDetail(
                .documented,
                """
                Placing a control makes an instance with an id of its own. A kind with a value is loading until its \
                provider has answered; a plain button is shown at once. Where nobody provides the kind, it waits for a \
                provider.
                """)
        case .firstValue:
            RuleDetail(
                .documented,
                """
                The provider's answer to the first question is shown with the template; before, only the preview's look \
                was there.
                """)
        case .firstValueFailed:
            RuleDetail(
                .observed,
                """
                The provider failed, or nobody answered in time, and there is no earlier value to keep. The preview's look \
                stays, and the value is asked for again after controlRetryFirst, then at twice the distance each time.
                """)
        case .reloaded:
            RuleDetail(
                .documented,
                """
                Three things ask for a new value: an action, the app and a push. The value that is shown stays until the \
                next one has come, so a control never becomes empty.
                """)
        case .newValue:
            RuleDetail(
                .documented,
                """
                What the provider says is the truth. After a tap that is also the place where a wish that was not \
                fulfilled is taken back: the control shows what the provider says, not what was tapped.
                """)
        case .valueFailed:
            RuleDetail(
                .observed,
                """
                The provider failed, or nobody answered in time. What was shown before stays, marked with the failure, and \
                the value is asked for again after controlRetryFirst, then at twice the distance each time. islet \
                providers shows who fails.
                """)
        case .tapped:
            RuleDetail(
                .documented,
                """
                A toggle's action is given the new state as an absolute value, and the control shows it at once, before \
                the action has run. A button's action has no value.
                """)
        case .performed:
            RuleDetail(
                .documented,
                """
                The action has returned. The value of this control is asked for again, and so that of its siblings where \
                the kind declares reloadsSiblings. A provider must have stored its state before it returns.
                """)
        case .performFailed:
            RuleDetail(
                .observed,
                """
                The action failed, was lost with its provider or took too long. What was shown before the tap is shown \
                again. An action that is lost may have happened: the provider is asked for the truth, and the action is \
                never run a second time.
                """)
        case .authenticationRequired:
            RuleDetail(
                .documented,
                """
                The kind asks for authentication, and the device is locked. The action waits for the unlocking, at most \
                authenticationLimit.
                """)
        case .disabledTap:
            RuleDetail(
                .documented,
                """
                The provider has declared the control disabled: it is drawn, and taps do nothing. A later value can \
                enable it.
                """)
        case .configured:
            RuleDetail(
                .documented,
                """
                A person gave the control another configuration. Value, status and tint belonged to the one before, so \
                they go, and the value is asked for with the new one.
                """)
        case .removed:
            RuleDetail(
                .documented,
                """
                A person removed the control from the device, or its app was uninstalled. Its id is free, and calls that \
                were under way for it are cancelled.
                """)
        case .retried:
            RuleDetail(
                .own,
                """
                A value that failed is asked for again after controlRetryFirst, and after twice that each time it fails \
                again, up to controlRetryLongest. A reload asks at once.
                """)
        case .tappedWhileActing:
            RuleDetail(
                .own,
                """
                A toggle was tapped while its action ran. Only the newest wish is kept, and is performed when the action \
                is through; those in between are skipped, since each would be taken back by the next.
                """)
        case .nextWish:
            RuleDetail(
                .own,
                """
                The action is through, and a newer wish had been made meanwhile: its action begins now, without a question \
                for the value in between.
                """)
        case .pressedTwice:
            RuleDetail(
                .own,
                """
                A button was pressed while its action ran. The second press is ignored, so that an impatient finger does \
                not order twice.
                """)
        case .authenticated:
            RuleDetail(
                .documented,
                """
                The person unlocked the device within authenticationLimit, so the action that waited for it runs.
                """)
        case .authenticationLimit:
            RuleDetail(
                .own,
                """
                Nobody unlocked the device within authenticationLimit. The action is dropped and what was shown before \
                the tap is shown again; a tap must be made anew. Apple gives no figure for this time.
                """)
        case .redacted:
            RuleDetail(
                .documented,
                """
                The kind is declared privacySensitive, and the device is locked: value, status and the past of the control \
                are hidden from everybody who reads it, until the device is unlocked.
                """)
        case .revealed:
            RuleDetail(
                .documented,
                """
                The device was unlocked, or the kind is not privacySensitive any more: the control shows what it holds.
                """)
        case .restartedWhileActing:
            RuleDetail(
                .own,
                """
                The service ended while an action was under way. Whether it happened is unknown, and running it again \
                might do it twice; so the provider is asked for the value, which tells.
                """)
        case .unchanged:
            RuleDetail(
                .own, "The configuration is the one that the control has already, so nothing is asked for or published.")
        case .revisionGuard:
            RuleDetail(
                .own,
                """
                The command asked to be executed only at the revision in its ifRevision, and the control has changed \
                meanwhile. Read it again and decide anew.
                """)
        }
    }
}
