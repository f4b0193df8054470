/// What may be wrong with a service and what it holds, as `problem.list` tells it: one text for every reader.
///
/// A problem is something that an operator may have to do something about. Its rule is in the name: what it is found by
/// stands where that is looked at (`ProblemScan`).
package enum Problem: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case longOverdue, overdue
    case activityStale
    case controlFailed, widgetFailed
    case controlKindUnserved, widgetKindUnserved
    case callsWait
    case authenticationAwaited
    case heldByBudget, heldBySpacing
    case providerFails, providerIsTried, providerSilent, providerDrains
    case subscriberLags
    case groupNearlyFull
    case diskFull, commitHangs, segmentDelayed
    case clockFarAhead, clockAhead, clockHeldBack

    /// How bad it is, the worst first.
    package enum Severity: UInt8, Sendable, BitwiseCopyable, CaseIterable, Comparable {
        /// Something does not happen that should.
        case critical
        /// Somebody should look.
        case warning
        /// As it may well be; it explains what somebody wonders about.
        case notice

        package var name: StaticString {
            switch self {
            case .critical: "critical"
            case .warning: "warning"
            case .notice: "notice"
            }
        }

        package static func < (one: Severity, other: Severity) -> Bool { one.rawValue < other.rawValue }
    }

    package var severity: Severity {
        switch self {
        case .longOverdue, .diskFull, .commitHangs, .clockFarAhead: .critical
        case .overdue, .activityStale, .controlFailed, .widgetFailed, .controlKindUnserved, .widgetKindUnserved,
            .providerFails, .providerIsTried, .providerSilent, .subscriberLags, .groupNearlyFull, .segmentDelayed,
            .clockAhead, .clockHeldBack:
            .warning
        case .callsWait, .authenticationAwaited, .heldByBudget, .heldBySpacing, .providerDrains: .notice
        }
    }

    /// What it may be of.
    package var families: [ProblemFamily] {
        switch self {
        case .longOverdue, .overdue: [.activity, .control, .widget]
        case .activityStale: [.activity]
        case .controlFailed, .authenticationAwaited: [.control]
        case .widgetFailed, .heldByBudget, .heldBySpacing: [.widget]
        case .controlKindUnserved, .widgetKindUnserved, .callsWait: [.kind]
        case .providerFails, .providerIsTried, .providerSilent, .providerDrains: [.provider]
        case .subscriberLags: [.subscriber]
        case .groupNearlyFull: [.group]
        case .diskFull, .commitHangs, .segmentDelayed: [.journal]
        case .clockFarAhead, .clockAhead, .clockHeldBack: [.clock]
        }
    }

    /// Its sort, in a word.
    package var what: StaticString {
        switch self {
        case .longOverdue, .overdue: "overdue"
        case .activityStale: "stale"
        case .controlFailed, .widgetFailed, .providerFails, .providerIsTried: "failed"
        case .controlKindUnserved, .widgetKindUnserved: "unserved"
        case .callsWait, .authenticationAwaited, .providerDrains, .commitHangs, .segmentDelayed: "waiting"
        case .heldByBudget, .heldBySpacing: "held"
        case .providerSilent: "silent"
        case .subscriberLags: "lagging"
        case .groupNearlyFull, .diskFull: "full"
        case .clockFarAhead, .clockAhead, .clockHeldBack: "clock"
        }
    }

    /// What is wrong, in plain words.
    package var text: StaticString {
        switch self {
        case .longOverdue: "its deadline passed more than ten seconds ago and has not taken effect"
        case .overdue: "its deadline passed more than a second ago and has not taken effect"
        case .activityStale: "what it shows is out of date, as nobody has updated it in time"
        case .controlFailed: "the last call to its provider failed, so what it shows may be wrong"
        case .widgetFailed: "the last call to its provider failed, so what it shows may be old"
        case .controlKindUnserved: "no provider serves this kind, of which controls are placed"
        case .widgetKindUnserved: "no provider serves this kind, of which widgets are placed"
        case .callsWait: "calls for this kind wait, since its providers are busy or rest after failures"
        case .authenticationAwaited: "its action waits until the device is unlocked"
        case .heldByBudget: "its next reload waits, since its budget of the last 24 hours is spent"
        case .heldBySpacing: "its next reload waits, since the last one was a short while ago"
        case .providerFails: "it failed too often in a row and rests"
        case .providerIsTried: "it failed too often in a row and has not done well since"
        case .providerSilent: "nothing was heard of it for more than two pings"
        case .providerDrains: "it takes no new calls, and others are still on their way"
        case .subscriberLags: "by its last report it is more than 10 000 events behind"
        case .groupNearlyFull: "it has nine tenths of the keys or bytes that a group may have"
        case .diskFull: "the disk has no room for the journal, so changes are refused and deadlines wait"
        case .commitHangs: "a commit has been under way for more than a second, and answers wait for it"
        case .segmentDelayed: "the journal can begin no new segment, and the present one grows"
        case .clockFarAhead: "the wall clock was set back by more than ten seconds, so time stands still here"
        case .clockAhead: "the wall clock was set back by more than a second, so time stands still here"
        case .clockHeldBack: "the wall clock was set forward far, which is not believed yet"
        }
    }

    /// What to do.
    package var advice: StaticString {
        switch self {
        case .longOverdue, .overdue: "look for a full disk, a hanging commit or a busy processor: islet check"
        case .activityStale: "see whether its publisher runs: islet explain says who updated it last"
        case .controlFailed, .widgetFailed: "islet explain says how; then look at the log of its provider"
        case .controlKindUnserved, .widgetKindUnserved:
            "start the provider that declares it (islet providers), or remove what is placed of it"
        case .callsWait: "start another provider of it, or let one take more calls at a time"
        case .authenticationAwaited: "nothing: it is cancelled where nobody unlocks the device in time"
        case .heldByBudget: "nothing, or let its app reload it less often: islet widget budget"
        case .heldBySpacing: "nothing: it is reloaded by itself"
        case .providerFails: "look at its log: it is tried again by itself"
        case .providerIsTried: "look at its log: its next call tells whether it is well again"
        case .providerSilent: "see whether it hangs: it is dropped if it stays silent"
        case .providerDrains: "nothing: it goes when they are answered"
        case .subscriberLags: "see whether it is stuck or on a slow line: islet subscribers"
        case .groupNearlyFull: "let its apps delete keys that nobody reads"
        case .diskFull: "make room on the disk: the service goes on by itself"
        case .commitHangs: "look at the disk, and at who else writes to it"
        case .segmentDelayed: "look for room and inodes on its disk"
        case .clockFarAhead, .clockAhead: "see what set the clock back: time goes on when it has caught up"
        case .clockHeldBack: "see whether the clock is right: if it stays so, it is believed within half a minute"
        }
    }
}

/// What a problem is about.
package enum ProblemFamily: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case activity, control, widget
    /// A kind of controls or widgets.
    case kind
    case group, provider, subscriber, journal, clock

    package var name: StaticString {
        switch self {
        case .activity: "activity"
        case .control: "control"
        case .widget: "widget"
        case .kind: "kind"
        case .group: "group"
        case .provider: "provider"
        case .subscriber: "subscriber"
        case .journal: "journal"
        case .clock: "clock"
        }
    }
}
