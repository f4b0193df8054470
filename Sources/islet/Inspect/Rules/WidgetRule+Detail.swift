import IsletCore

extension WidgetRule {
    /// When it applies, what follows, and what to do about it.
    var detail: RuleDetail {
        switch self {
        case .added:
            RuleDetail(
                .documented,
                """
                Placing a widget makes an instance with an id of its own and a budget of its own. Its placeholder is drawn \
                until its first timeline has come.
                """)
        case .removed:
            RuleDetail(
                .own,
                """
                A person removed the widget, or its app was uninstalled. What was asked for it is cancelled, and its id is \
                free.
                """)
        case .placeholderDrawn:
            RuleDetail(
                .documented,
                """
                A widget that has no entry to show is drawn with the placeholder that its kind declares, at once and \
                without asking anybody.
                """)
        case .snapshotAsked:
            RuleDetail(
                .documented,
                """
                Galleries show one entry that the provider makes quickly, with sample data if need be. It belongs to no \
                placed widget, so no budget pays for it.
                """)
        case .timelineAsked:
            RuleDetail(
                .documented,
                """
                The provider is asked for the entries to come and for the policy that says when to ask again. What is \
                shown stays meanwhile.
                """)
        case .configuredByIntent:
            RuleDetail(
                .documented,
                """
                A kind with parameters is asked with the configuration that the person chose; each placed widget has its \
                own.
                """)
        case .entryShown:
            RuleDetail(
                .documented,
                """
                The widget shows the newest entry of its timeline whose date has come. That costs no budget and asks \
                nobody, so plan ahead with entries instead of reloads.
                """)
        case .policyAtEnd:
            RuleDetail(
                .documented,
                """
                With the policy atEnd the next timeline is wanted once the last entry's date has come. Budget and \
                distances may delay the question.
                """)
        case .policyAfter:
            RuleDetail(
                .documented,
                """
                With the policy after the next timeline is wanted not earlier than the date given. When exactly depends on \
                jitter, budget and the distance to the reload before.
                """)
        case .policyNever:
            RuleDetail(
                .documented,
                """
                With the policy never only the app, a push or a person asks for another timeline; the last entry stays \
                until then.
                """)
        case .budgetSpent:
            RuleDetail(
                .documented,
                """
                Each placed widget has widgetDailyBudget reloads within any 24 hours. The reload is held and runs when the \
                oldest one is 24 hours old; nothing is lost. Give more entries in one timeline, or reload less. The figure \
                is typical: Apple tunes it to how often a person looks.
                """)
        case .learningBudget:
            RuleDetail(
                .documented,
                """
                In the first days after its placing, widgetLearningSpan, a widget has widgetLearningBudget reloads within \
                24 hours, since the system learns then. That there are more is documented, the figure is this service's.
                """)
        case .entriesCoalesced:
            RuleDetail(
                .documented,
                """
                An entry is shown at least widgetEntrySpacing after the one before it. So it comes later than its date says, \
                or is skipped where a newer one's date has come by then. Leave at least that distance between entries.
                """)
        case .reloadExempt:
            RuleDetail(
                .documented,
                """
                Reloads while the app is in the foreground, by the widget's own action and for a change of language or \
                text size are not charged. They may run although the budget is spent.
                """)
        case .developerMode:
            RuleDetail(
                .documented,
                """
                widgetDeveloperMode lifts budgets and distances everywhere, as Xcode does for a widget under development. \
                Do not draw conclusions about real devices from it.
                """)
        case .systemReload:
            RuleDetail(
                .documented,
                """
                A widget that becomes visible with an old timeline, or whose device has moved far, is asked for again by \
                the system.
                """)
        case .jittered:
            RuleDetail(
                .documented,
                """
                Devices that all reload at the same minute overload a server. So each reload of a policy is delayed by a \
                random time of at most widgetReloadJitter.
                """)
        case .entryRelevance:
            RuleDetail(
                .documented,
                """
                An entry's relevance says for how long and how much it matters compared with the other entries of its own \
                provider; figures of different providers are not comparable.
                """)
        case .stackRotated:
            RuleDetail(
                .documented,
                """
                The Smart Stack of a device shows the widget whose present entry matters most; another one has come first, \
                because its entry's date has come or an earlier one's relevance is over.
                """)
        case .appReload:
            RuleDetail(
                .documented,
                """
                The app asked for new timelines of a kind or of all, as WidgetCenter lets it. Each widget's budget pays, \
                unless the app is in the foreground.
                """)
        case .placementListed:
            RuleDetail(
                .observed,
                """
                WidgetKit does not tell an app that a widget was placed or removed; it can only list those that are there. \
                This service publishes both.
                """)
        case .pushReload:
            RuleDetail(
                .documented,
                """
                A widget push acts like a reload of all widgets of the app: it is opportunistic and charged to the \
                budgets. It carries no content.
                """)
        case .tapped:
            RuleDetail(
                .documented,
                """
                A tap opens the app with the URL of the entry or of the link that was tapped, and changes nothing about \
                the widget.
                """)
        case .familyDeclared:
            RuleDetail(
                .documented,
                """
                A kind declares the families, that is sizes, in which it can be placed; others are refused with the list \
                of those that it has.
                """)
        case .loginEntry:
            RuleDetail(
                .observed,
                """
                A provider without a session answers with one entry that asks for a login. The next timeline comes when \
                the app asks for it.
                """)
        case .timelineFailed:
            RuleDetail(
                .observed,
                """
                The provider failed, or its answer could not be used. The last entry stays, marked with the failure, and \
                the timeline is asked for again after widgetRetryFirst, then at twice the distance each time. islet \
                providers shows who fails.
                """)
        case .timelineDeadline:
            RuleDetail(
                .observed,
                """
                A provider that does not answer within the deadline of its kind has failed, and a late answer is refused. \
                Compute timelines beforehand, or declare a longer deadline.
                """)
        case .configured:
            RuleDetail(
                .documented,
                """
                A person gave the widget another configuration. Its entries belonged to the one before, so they go, and \
                the timeline is asked for with the new one.
                """)
        case .rendered:
            RuleDetail(
                .own,
                """
                Colours, text size or margins changed. The entries stay valid, since how an entry is drawn is no matter of \
                its provider.
                """)
        case .firstTimeline:
            RuleDetail(
                .documented,
                """
                The placeholder makes room for the newest entry whose date has come. If all are in the future, the \
                placeholder stays until the first date.
                """)
        case .newTimeline:
            RuleDetail(
                .documented,
                """
                A new timeline replaces the former one as a whole, also entries of the former one that had not been shown \
                yet.
                """)
        case .firstTimelineFailed:
            RuleDetail(
                .observed,
                """
                There is no entry to keep, so the placeholder stays, and the timeline is asked for again after \
                widgetRetryFirst, then at twice the distance each time.
                """)
        case .pastEntriesDropped:
            RuleDetail(
                .own,
                """
                Of the entries of an answer whose dates have passed, only the newest is shown; those before it are \
                dropped and take no room.
                """)
        case .reloadSpacing:
            RuleDetail(
                .own,
                """
                Two reloads of one widget are at least widgetReloadSpacing apart, unless they are exempt. The later one is \
                held until then, and not lost.
                """)
        case .heldMerged:
            RuleDetail(
                .own,
                """
                A reload that is held asks for all that is new when it runs, so further requests become part of it, and \
                the budget pays once.
                """)
        case .heldRun:
            RuleDetail(
                .own,
                """
                Budget and distance allow the reload that was held, so its timeline is asked for now.
                """)
        case .retried:
            RuleDetail(
                .own,
                """
                A timeline that failed is asked for again after widgetRetryFirst, and after twice that each time it fails \
                again, up to widgetRetryLongest.
                """)
        case .providerCame:
            RuleDetail(
                .own,
                """
                Nobody had been there to ask, so the widget waited without being charged. A provider of its kind has \
                registered, and is asked.
                """)
        case .actionBegun:
            RuleDetail(
                .documented,
                """
                A button or toggle in the widget runs its action in the provider; until the next timeline has come, what \
                is shown counts as invalidated.
                """)
        case .performed:
            RuleDetail(
                .documented,
                """
                After a widget's own action its timeline is asked for at once, and the budget does not pay.
                """)
        case .performFailed:
            RuleDetail(
                .own,
                """
                Whether a lost or failed action happened is unknown. It is not run again; the timeline is asked for, which \
                shows what the provider holds.
                """)
        case .actsAlready:
            RuleDetail(
                .own,
                """
                A widget runs one action at a time. Taps that come meanwhile do nothing, and may be made again afterwards.
                """)
        case .linksNotAllowed:
            RuleDetail(
                .documented,
                """
                Small and accessory families have one URL for the whole widget; links within it are for medium and larger \
                families.
                """)
        case .restartedWhileActing:
            RuleDetail(
                .own,
                """
                The service ended while an action was under way. Running it again might do it twice; so the timeline is \
                asked for, which shows what the provider holds.
                """)
        case .unchanged:
            RuleDetail(
                .own,
                "Configuration and rendering are those that the widget has already, so nothing is asked for or published.")
        case .revisionGuard:
            RuleDetail(
                .own,
                """
                The command asked to be executed only at the revision in its ifRevision, and the widget has changed \
                meanwhile. Read it again and decide anew.
                """)
        case .nothingToReload:
            RuleDetail(
                .own,
                """
                Becoming visible asks for a timeline only where the present one is over or has failed; otherwise what is \
                shown is right.
                """)
        case .nothingShown:
            RuleDetail(
                .documented,
                """
                A placeholder has neither links nor buttons: a plain tap opens the app, and links and actions are refused \
                until the first entry is there.
                """)
        }
    }
}
