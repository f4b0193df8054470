/// The rule that made a decision about a widget: a row of the fact sheet's table, or one of this service.
///
/// Journals keep its number: new rules are added at the end, and none is ever taken away.
package enum WidgetRule: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case added, removed
    // The rows of apple-semantics 5, in their order.
    case placeholderDrawn, snapshotAsked, timelineAsked, configuredByIntent, entryShown, policyAtEnd, policyAfter
    case policyNever, budgetSpent, learningBudget, entriesCoalesced, reloadExempt, developerMode, systemReload, jittered
    case entryRelevance, stackRotated, appReload, placementListed, pushReload, tapped, familyDeclared, loginEntry
    case timelineFailed, timelineDeadline
    // This service's own.
    case configured, rendered, firstTimeline, newTimeline, firstTimelineFailed, pastEntriesDropped, reloadSpacing
    case heldMerged, heldRun, retried, providerCame, actionBegun, performed, performFailed, actsAlready, linksNotAllowed
    case restartedWhileActing, unchanged, revisionGuard, nothingToReload, nothingShown

    /// The row of apple-semantics, or where else the rule comes from.
    package var source: StaticString {
        switch self {
        case .added, .placementListed: "apple-semantics 5 installs"
        case .removed: "contract, widget.remove"
        case .placeholderDrawn, .nothingShown: "apple-semantics 5 placeholder(in:)"
        case .snapshotAsked: "apple-semantics 5 getSnapshot"
        case .timelineAsked, .firstTimeline, .newTimeline: "apple-semantics 5 getTimeline"
        case .configuredByIntent, .configured: "apple-semantics 5 AppIntentTimelineProvider"
        case .entryShown: "apple-semantics 5 TimelineEntry"
        case .policyAtEnd: "apple-semantics 5 policy .atEnd"
        case .policyAfter: "apple-semantics 5 policy .after(date)"
        case .policyNever: "apple-semantics 5 policy .never"
        case .budgetSpent: "apple-semantics 5 budget"
        case .learningBudget: "apple-semantics 5 learning"
        case .entriesCoalesced: "apple-semantics 5 entry spacing"
        case .reloadExempt, .actionBegun, .performed, .performFailed: "apple-semantics 5 exempt"
        case .developerMode: "apple-semantics 5 not enforced"
        case .systemReload: "apple-semantics 5 other system reloads"
        case .jittered: "apple-semantics 5 herd effect"
        case .entryRelevance: "apple-semantics 5 TimelineEntryRelevance"
        case .stackRotated: "apple-semantics 5 Smart Stack"
        case .appReload: "apple-semantics 5 WidgetCenter"
        case .pushReload: "apple-semantics 5 widget push iOS 26"
        case .tapped, .linksNotAllowed: "apple-semantics 5 deep links"
        case .familyDeclared: "apple-semantics 5 families"
        case .loginEntry: "apple-semantics 5 onboarding"
        case .timelineFailed, .firstTimelineFailed: "apple-semantics 5 error"
        case .timelineDeadline: "apple-semantics 5 advice"
        case .rendered: "contract, rendering"
        case .pastEntriesDropped: "contract, entries in the past"
        case .reloadSpacing: "rule set widgetReloadSpacing"
        case .heldMerged, .heldRun: "a request over the budget is held and merged, never lost"
        case .retried: "rule set widgetRetryFirst"
        case .providerCame: "who had nobody to ask is asked for again"
        case .actsAlready: "one action at a time"
        case .restartedWhileActing: "an action is performed at most once"
        case .unchanged: "equal configuration and rendering"
        case .revisionGuard: "contract, ifRevision"
        case .nothingToReload: "contract, widget.visible"
        }
    }

    /// What was decided, for people.
    package var text: StaticString {
        switch self {
        case .added: "A person placed it: its timeline is asked for."
        case .removed: "It was removed."
        case .placeholderDrawn: "It has no entry: the kind's placeholder is drawn, and nobody is asked for that."
        case .snapshotAsked: "A snapshot is one entry for a gallery; it is no widget's, and costs nothing."
        case .timelineAsked: "Its timeline is asked for."
        case .configuredByIntent: "Its provider is asked with its configuration."
        case .entryShown: "The next entry's date has come."
        case .policyAtEnd: "The last entry's date has come: the next timeline is asked for."
        case .policyAfter: "The date of its policy has come, not earlier: the next timeline is asked for."
        case .policyNever: "Its timeline is asked for only when its app says so."
        case .budgetSpent: "Its budget of the last 24 hours is spent: the reload is held."
        case .learningBudget: "It was placed lately, and its budget of the first days is spent: the reload is held."
        case .entriesCoalesced: "Entries that are too close to each other become one."
        case .reloadExempt: "The reload is not charged to its budget."
        case .developerMode: "In developer mode no budget is kept."
        case .systemReload: "It became visible, or the device is somewhere else: its timeline is asked for."
        case .jittered: "A little later than its policy's date, so that not all ask at once."
        case .entryRelevance: "The relevance of its entry, among those of its own timeline, decides."
        case .stackRotated: "The first place of its device's Smart Stack changed."
        case .appReload: "Its app asked for a reload."
        case .placementListed: "Apps are not told of widgets that come and go; they list them."
        case .pushReload: "A widget push asked for a reload."
        case .tapped: "A person tapped it, which opens its app."
        case .familyDeclared: "Its kind is made for this family."
        case .loginEntry: "There is no session: one entry asks for a login."
        case .timelineFailed: "The timeline failed: the last entry is kept."
        case .timelineDeadline: "A timeline that takes longer than its deadline failed."
        case .configured: "It was configured: what it showed belongs to the configuration before."
        case .rendered: "It is drawn otherwise; nobody is asked."
        case .firstTimeline: "The first timeline came."
        case .newTimeline: "The next timeline came."
        case .firstTimelineFailed: "The first timeline failed: the placeholder is drawn."
        case .pastEntriesDropped: "Entries before the newest one that is past are never shown."
        case .reloadSpacing: "The last reload was a moment ago: this one is held."
        case .heldMerged: "A reload is held already: this request becomes one with it."
        case .heldRun: "The reload that was held may run."
        case .retried: "The time of another try has come."
        case .providerCame: "Its kind is provided again: its timeline is asked for."
        case .actionBegun: "A button or toggle in it: the action runs, and what it shows is marked as invalidated."
        case .performed: "The action was through: its timeline is asked for, and that costs nothing."
        case .performFailed: "The action failed or is unknown: what its provider holds is asked for."
        case .actsAlready: "An action runs: another one does nothing."
        case .linksNotAllowed: "Links are for medium and larger families."
        case .restartedWhileActing: "The service was restarted during the action: it is not run again."
        case .unchanged: "Configuration and rendering are the same."
        case .revisionGuard: "It has another revision than the command asks for."
        case .nothingToReload: "Its timeline is neither over nor failed."
        case .nothingShown: "It shows no entry, and so nothing that could be used."
        }
    }
}
