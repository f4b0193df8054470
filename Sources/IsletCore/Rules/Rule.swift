/// The rule that made a decision: a row of the fact sheet's transition table or an option of the rule set.
///
/// `explain` shows it; every transition, dropped command and refusal carries one. Journals keep its number: new rules
/// are added at the end, and none is ever taken away.
package enum Rule: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case startedAtOnce, staleAtStart, backgroundStart, scheduled
    case startDateReached, pendingUpdated, pendingEnded, staleBeforeStart, pendingSwitchedOff
    case updated, updatedPastStaleDate, olderTimestamp, futureTimestamp
    case staleDateReached, updatedFromStale, updatedStillStale
    case endedByDefault, endedAfterDate, endedAfterPastDate, endedImmediately, endedByOlderPush
    case activeLimitReached, dismissedByPerson, dismissedBySystem, switchedOff, frequentPushesChanged, transientGone
    case survivesRestart, survivesReboot, uninstalled
    case endedUpdateDropped, endedAgainImmediately, endedAgain, dismissDateReached, endedDismissed, endedNeverStale
    case dismissedDropsAll
    case unchanged, heartbeatMissed, heartbeatEnded, heartbeatReturned, renewed, muted
    case contentLimit, maximumPerApp, maximumPerDevice, notAuthorized, keyHeld, idTaken, entityLimit, revisionGuard
    case tapped

    /// The row of apple-semantics, or where else the rule comes from.
    package var source: StaticString {
        switch self {
        case .startedAtOnce: "apple-semantics 1.2 row 1"
        case .staleAtStart: "apple-semantics 1.2 row 2"
        case .backgroundStart: "apple-semantics 1.2 row 3"
        case .scheduled: "apple-semantics 1.2 row 5"
        case .startDateReached: "apple-semantics 1.2 row 8"
        case .pendingUpdated: "apple-semantics 1.2 row 9"
        case .pendingEnded: "apple-semantics 1.2 row 10"
        case .staleBeforeStart: "apple-semantics 1.2 row 11"
        case .pendingSwitchedOff: "apple-semantics 1.2 row 12"
        case .updated: "apple-semantics 1.2 row 13"
        case .updatedPastStaleDate: "apple-semantics 1.2 row 14"
        case .olderTimestamp: "apple-semantics 1.2 row 15"
        case .futureTimestamp: "apple-semantics 1.2 row 17"
        case .staleDateReached: "apple-semantics 1.2 row 19"
        case .updatedFromStale: "apple-semantics 1.2 row 20"
        case .updatedStillStale: "apple-semantics 1.2 row 21"
        case .endedByDefault: "apple-semantics 1.2 row 22"
        case .endedAfterDate: "apple-semantics 1.2 row 23"
        case .endedAfterPastDate: "apple-semantics 1.2 row 24"
        case .endedImmediately: "apple-semantics 1.2 row 25"
        case .endedByOlderPush: "apple-semantics 1.2 row 26"
        case .activeLimitReached: "apple-semantics 1.2 row 27"
        case .dismissedByPerson: "apple-semantics 1.2 row 28"
        case .dismissedBySystem: "apple-semantics 1.1 dismissed"
        case .switchedOff: "apple-semantics 1.2 row 29"
        case .frequentPushesChanged: "apple-semantics 1.2 row 30"
        case .transientGone: "apple-semantics 1.2 row 31"
        case .survivesRestart: "apple-semantics 1.2 row 32"
        case .survivesReboot: "apple-semantics 1.2 row 33"
        case .uninstalled: "apple-semantics 1.2 row 34"
        case .endedUpdateDropped: "apple-semantics 1.2 row 35"
        case .endedAgainImmediately: "apple-semantics 1.2 row 36"
        case .endedAgain: "apple-semantics 1.2 row 37"
        case .dismissDateReached: "apple-semantics 1.2 row 38"
        case .endedDismissed: "apple-semantics 1.2 row 39"
        case .endedNeverStale: "apple-semantics 1.2 row 40"
        case .dismissedDropsAll: "apple-semantics 1.2 row 41"
        case .unchanged: "rule set ignoresUnchangedUpdates"
        case .heartbeatMissed, .heartbeatReturned: "rule set heartbeatStaleAfter"
        case .heartbeatEnded: "rule set heartbeatEndAfter"
        case .renewed: "contract activity.renew"
        case .muted: "rule set muteAfterPersonDismissal"
        case .contentLimit: "apple-semantics 2.5 4 KB"
        case .maximumPerApp: "apple-semantics 2.5 per app"
        case .maximumPerDevice: "apple-semantics 2.5 per device"
        case .notAuthorized: "apple-semantics 2.4 denied"
        case .keyHeld: "contract: one open activity per key"
        case .idTaken: "apple-semantics 2.4 reconnectNotPermitted"
        case .entityLimit: "rule set maximumEntities"
        case .revisionGuard: "contract ifRevision"
        case .tapped: "apple-semantics 5 deep links"
        }
    }

    /// The rule in plain words, for a person who asks why.
    package var text: StaticString {
        switch self {
        case .startedAtOnce: "started, so it is active and its 8-hour clock runs"
        case .staleAtStart: "its stale date had already passed when it started"
        case .backgroundStart: "an app in the background may not start an activity"
        case .scheduled: "scheduled: it waits for its start date"
        case .startDateReached: "its start date was reached"
        case .pendingUpdated: "updated before its start: the content is replaced, nothing is shown yet"
        case .pendingEnded: "ended before its start: the scheduled start is cancelled"
        case .staleBeforeStart: "its stale date passed before it started"
        case .pendingSwitchedOff: "the app's Live Activities were switched off before it started"
        case .updated: "updated: content and stale date are replaced"
        case .updatedPastStaleDate: "updated with a stale date that had already passed"
        case .olderTimestamp: "its timestamp is older than the newest one that was accepted"
        case .futureTimestamp: "a push stamped that far in the future is dropped"
        case .staleDateReached: "its stale date was reached without an update"
        case .updatedFromStale: "an update brought it back from stale"
        case .updatedStillStale: "updated, but the new stale date has passed too"
        case .endedByDefault: "ended with the default policy: it may stay for 4 hours"
        case .endedAfterDate: "ended with a dismissal date, capped at 4 hours after the end"
        case .endedAfterPastDate: "ended with a dismissal date that had passed: removed at once"
        case .endedImmediately: "ended with the immediate policy: removed at once"
        case .endedByOlderPush: "a push may end it even with an older timestamp"
        case .activeLimitReached: "it was active for the longest time allowed, so the system ended it"
        case .dismissedByPerson: "a person removed it"
        case .dismissedBySystem: "the system removed it"
        case .switchedOff: "the app's Live Activities were switched off"
        case .frequentPushesChanged: "the frequent updates setting changed, which ends all that run"
        case .transientGone: "a transient activity goes when the device locks, collapses it or is left"
        case .survivesRestart: "it survives the app's end"
        case .survivesReboot: "it survives a reboot of the device"
        case .uninstalled: "its app was removed from the device"
        case .endedUpdateDropped: "it has ended, and an ended activity takes no update"
        case .endedAgainImmediately: "ended again with the immediate policy: the card is removed"
        case .endedAgain: "it had ended already; the first dismissal date stands"
        case .dismissDateReached: "its time on the Lock Screen was over"
        case .endedDismissed: "its card was removed after the end"
        case .endedNeverStale: "an ended activity does not go stale"
        case .dismissedDropsAll: "it was dismissed, which is final"
        case .unchanged: "the update changed nothing"
        case .heartbeatMissed: "its publisher gave no sign of life"
        case .heartbeatEnded: "its publisher stayed silent, so it was ended"
        case .heartbeatReturned: "its publisher gave a sign of life again"
        case .renewed: "renewed: this one ends and a linked one starts"
        case .muted: "a person dismissed this key a while ago, and it is muted"
        case .contentLimit: "attributes and content together are over the limit"
        case .maximumPerApp: "the app has as many open activities on this device as it may"
        case .maximumPerDevice: "the device has as many open activities as it may"
        case .notAuthorized: "Live Activities are switched off for this app"
        case .keyHeld: "an open activity holds this key"
        case .idTaken: "an activity with this id exists"
        case .entityLimit: "the service holds as many entities as it may"
        case .revisionGuard: "it has another revision than the command asked for"
        case .tapped: "a person tapped it, which opens its app"
        }
    }
}
