import IsletCore

extension Rule {
    /// When it applies, what follows, and what to do about it.
    var detail: RuleDetail {
        switch self {
        case .startedAtOnce:
            RuleDetail(
                .documented,
                """
                An activity without a start date is active from its start. Its longest active time, activeLimit, counts \
                from here; when that is over the system ends it. Renew it before then if it must go on.
                """)
        case .staleAtStart:
            RuleDetail(
                .inferred,
                """
                A start whose staleDate is not in the future makes an activity that is out of date at once. It is shown, \
                and the next update with a later staleDate, or with none, makes it active. Look for a publisher whose \
                clock is behind, or for a date in another time zone.
                """)
        case .backgroundStart:
            RuleDetail(
                .documented,
                """
                ActivityKit lets an app start an activity only in the foreground, or by a LiveActivityIntent. A command \
                that says it comes from the background is refused with visibility. Start it by push instead, or from an \
                intent.
                """)
        case .scheduled:
            RuleDetail(
                .documented,
                """
                A start with a startDate makes a pending activity, which nobody sees. It needs an alert, which is shown \
                when it begins, and it counts toward the limits of open activities from now on. Updates replace its \
                content, and an end cancels it.
                """)
        case .startDateReached:
            RuleDetail(
                .documented,
                """
                The system begins a pending activity at its startDate, whether its app runs or not, and shows its alert. \
                The longest active time counts from here, not from the command that scheduled it.
                """)
        case .pendingUpdated:
            RuleDetail(
                .observed,
                """
                An update before the start replaces content and staleDate. Nothing is shown, and no alert is given, until \
                the startDate.
                """)
        case .pendingEnded:
            RuleDetail(
                .observed,
                """
                An end before the start, whatever its policy, dismisses the activity at once: it was never visible, so \
                nothing stays on the Lock Screen. Its key is free again.
                """)
        case .staleBeforeStart:
            RuleDetail(
                .inferred,
                """
                A pending activity does not become stale. Where its staleDate passes before its startDate, it begins as \
                stale. Update it with a later staleDate, or leave that out.
                """)
        case .pendingSwitchedOff:
            RuleDetail(
                .inferred,
                """
                Switching off an app's Live Activities dismisses those that wait for their start as well as those that \
                run. They do not come back when the setting is switched on again.
                """)
        case .updated:
            RuleDetail(
                .documented,
                """
                An update replaces content and staleDate as a whole: one without a staleDate clears the old one, so that \
                the activity cannot become stale. Send the date with every update if it is to count.
                """)
        case .updatedPastStaleDate:
            RuleDetail(
                .inferred,
                """
                The update is applied, and the activity is stale from then on, since its new staleDate is not in the \
                future. The next update with a later date, or with none, makes it active again.
                """)
        case .olderTimestamp:
            RuleDetail(
                .documented,
                """
                Each activity remembers the newest timestamp that it accepted, at first that of its start. What is older \
                came late and is ignored, so that an old score never overwrites a new one; an equal one is accepted. \
                Publishers with several clocks should leave the timestamp out or take it from one place.
                """)
        case .futureTimestamp:
            RuleDetail(
                .observed,
                """
                A push whose timestamp is further ahead than futureTimestampLimit is dropped; accepted, it would make \
                every later one older. Look for a publisher whose clock is ahead.
                """)
        case .staleDateReached:
            RuleDetail(
                .documented,
                """
                The staleDate came before a newer update did. The activity stays visible and open, and takes updates; the \
                next one with a later staleDate, or with none, makes it active. Where this is not meant, update more often \
                than the dates that you give, or ask the publisher why it stopped.
                """)
        case .updatedFromStale:
            RuleDetail(
                .observed,
                """
                An update whose staleDate is in the future, or that has none, makes a stale activity active again. Its \
                longest active time goes on from its start.
                """)
        case .updatedStillStale:
            RuleDetail(
                .inferred,
                """
                Content and staleDate are replaced, but the new date is not in the future either, so the activity stays \
                stale. Give later dates.
                """)
        case .endedByDefault:
            RuleDetail(
                .documented,
                """
                An end without a dismissal date leaves the Dynamic Island at once and stays on the Lock Screen for \
                dismissalLimit, or until a person removes it. It takes no more updates.
                """)
        case .endedAfterDate:
            RuleDetail(
                .documented,
                """
                The card stays on the Lock Screen until the date of the end's policy, and never longer than dismissalLimit \
                after the end: a later date is shortened to that.
                """)
        case .endedAfterPastDate:
            RuleDetail(
                .documented,
                """
                A dismissal date that is not in the future removes the card with the end: the activity ends and is \
                dismissed in one step. Apple documents this for pushes; for an app's own end it is an inference.
                """)
        case .endedImmediately:
            RuleDetail(
                .documented,
                """
                The policy immediate ends the activity and removes its card in one step. Nobody can read its final \
                content; use a dismissal date if they should.
                """)
        case .endedByOlderPush:
            RuleDetail(
                .observed,
                """
                An end by push takes effect although its timestamp is older than the newest one, as developers have \
                measured; an app's own end with an older timestamp is ignored. Set pushEndAcceptsOlderTimestamp to false \
                to ignore both.
                """)
        case .activeLimitReached:
            RuleDetail(
                .documented,
                """
                An activity runs for at most activeLimit from its start; then the system ends it, and its card stays for \
                up to dismissalLimit more. Renew it (islet activity renew) before then: that ends this one and begins a \
                linked one under the same key.
                """)
        case .dismissedByPerson:
            RuleDetail(
                .documented,
                """
                A person swiped the card away, which also ends the activity. An app cannot tell this from a removal by \
                the system, but this service can, since the device reports it. With muteAfterPersonDismissal its key \
                stays muted for that long.
                """)
        case .dismissedBySystem:
            RuleDetail(
                .documented,
                """
                The system removed the card, as a device or an operator reported. It is final; a new start makes an \
                activity of its own.
                """)
        case .switchedOff:
            RuleDetail(
                .inferred,
                """
                A person switched off the app's Live Activities. Starts are refused from then on, which Apple documents; \
                that those which run are dismissed is an inference. Nothing can be done but to ask the person.
                """)
        case .frequentPushesChanged:
            RuleDetail(
                .observed,
                """
                When a person changes the setting of frequent updates, the system ends all activities of the app that \
                run. Start them again if they are still wanted.
                """)
        case .transientGone:
            RuleDetail(
                .documented,
                """
                An activity of the transient style ends by itself when the device locks, when its expanded view collapses \
                or when a person leaves it. Use the standard style for what should stay.
                """)
        case .survivesRestart:
            RuleDetail(
                .documented,
                """
                The end of an app, also a forced one or a crash, leaves its activities as they are. The app should read \
                them at its next launch and end those that it no longer needs.
                """)
        case .survivesReboot:
            RuleDetail(
                .observed,
                """
                Activities outlive a restart of the device, and their deadlines go on meanwhile; reports disagree about \
                details. What was due while the device was off takes effect afterwards.
                """)
        case .uninstalled:
            RuleDetail(
                .inferred,
                """
                Removing an app from a device takes its activities, controls and widgets there with it. Pushes to their \
                tokens are answered with 410 from then on.
                """)
        case .endedUpdateDropped:
            RuleDetail(
                .documented,
                """
                An ended activity keeps its last content, and an update to it is ignored without an error, as ActivityKit \
                does it. The publisher is late, or another one has ended the activity: islet explain shows who.
                """)
        case .endedAgainImmediately:
            RuleDetail(
                .observed,
                """
                A second end changes nothing but for the policy immediate, which removes the card that is left on the \
                Lock Screen.
                """)
        case .endedAgain:
            RuleDetail(
                .inferred,
                """
                The date at which the card goes was set by the first end, and a second one does not move it. Use the \
                policy immediate, or dismiss it, to remove the card.
                """)
        case .dismissDateReached:
            RuleDetail(
                .documented,
                """
                The dismissal date of the end, or dismissalLimit after it, has come: the card goes, and the activity is \
                dismissed, which is final. It stays readable for the retention of the rule set.
                """)
        case .endedDismissed:
            RuleDetail(
                .documented,
                """
                A person or the system removed the card of an activity that had ended, before its dismissal date came. It \
                is final.
                """)
        case .endedNeverStale:
            RuleDetail(
                .inferred,
                """
                The staleDate of an activity counts only while it is open: after the end nobody expects an update any \
                more.
                """)
        case .dismissedDropsAll:
            RuleDetail(
                .observed,
                """
                A dismissed activity never comes back: updates, ends and pushes to it do nothing and raise no error. A \
                new start makes another activity with an id of its own.
                """)
        case .unchanged:
            RuleDetail(
                .own,
                """
                An update that has the same content, staleDate and relevance, and no alert, is not published, and counts \
                as no newer timestamp. It does count as a sign of life. Set ignoresUnchangedUpdates to false to publish \
                it.
                """)
        case .heartbeatMissed:
            RuleDetail(
                .own,
                """
                Nobody has updated this activity or sent a heartbeat for it within heartbeatStaleAfter, so it is shown as \
                stale instead of pretending to be fresh. Any sign of life brings it back. Look at its publisher first.
                """)
        case .heartbeatEnded:
            RuleDetail(
                .own,
                """
                The silence has lasted for heartbeatEndAfter: nobody seems to be left who would end the activity, so it \
                is ended with the default policy.
                """)
        case .heartbeatReturned:
            RuleDetail(
                .own,
                """
                The activity was stale because of its publisher's silence alone (heartbeatStaleAfter), and a sign of life made \
                it active again. Had its staleDate passed, too, only an update would.
                """)
        case .renewed:
            RuleDetail(
                .own,
                """
                activity.renew ends an activity and starts its successor in one step, so that a card can go on beyond \
                activeLimit. Both are linked, and the key moves to the successor.
                """)
        case .muted:
            RuleDetail(
                .own,
                """
                A person dismissed the activity of this key less than muteAfterPersonDismissal ago, so a start with it is \
                refused: whoever has swiped a card away does not want it back at once. The refusal says until when.
                """)
        case .contentLimit:
            RuleDetail(
                .documented,
                """
                Attributes and content state together may have at most contentLimit bytes as compact JSON, at the start \
                and at each update. Send references instead of images and long texts.
                """)
        case .maximumPerApp:
            RuleDetail(
                .observed,
                """
                An app may have maximumPerApp open activities on a device; pending ones count. Apple gives no figure, \
                vendors name five. islet slots shows who holds the places: end what is no longer needed.
                """)
        case .maximumPerDevice:
            RuleDetail(
                .documented,
                """
                A device may have maximumPerDevice open activities of all apps. That there is such a limit is documented, \
                its figure is not. islet slots shows who holds the places.
                """)
        case .notAuthorized:
            RuleDetail(
                .documented,
                """
                The settings of this app, on this device or everywhere, say that a person has switched its Live \
                Activities off; ActivityKit calls this denied. islet settings get shows them.
                """)
        case .keyHeld:
            RuleDetail(
                .own,
                """
                A key names one thing, such as an order, and has at most one open activity, so that two publishers never \
                show two cards of it. Update the one that holds it, or start with ifExists update.
                """)
        case .idTaken:
            RuleDetail(
                .documented,
                """
                An id belongs to one activity for good, as ActivityKit's reconnectNotPermitted says. A retry of the same \
                command is answered with its first answer instead; a new activity needs an id of its own.
                """)
        case .entityLimit:
            RuleDetail(
                .own,
                """
                maximumEntities bounds the memory of the service over all families and apps. End and remove what is no \
                longer needed, or raise the limit and give the machine the memory.
                """)
        case .revisionGuard:
            RuleDetail(
                .own,
                """
                The command asked to be executed only at the revision in its ifRevision, and somebody has changed the \
                activity meanwhile. Read it again and decide anew; that is what the guard is for.
                """)
        case .tapped:
            RuleDetail(
                .documented,
                """
                A tap opens the app and changes nothing about the activity. It is \
                published as an interaction, for whoever wants to know.
                """)
        }
    }
}
