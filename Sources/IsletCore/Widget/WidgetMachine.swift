/// One placed widget's lifecycle.
package struct WidgetMachine: Equatable, Sendable, BitwiseCopyable {
    /// A reload that waits for its budget or its distance from the last one.
    package struct Hold: Equatable, Sendable, BitwiseCopyable {
        package var until: Instant
        package var reason: ReloadHold
        /// Of the first request that was held.
        package var cause: WidgetCause
        /// How many further requests became one with it.
        package var merged: UInt16
    }

    /// What happens next by itself.
    package enum NextCause: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        case entry, policy, retry, held, relevance
    }

    package internal(set) var state: WidgetState
    package internal(set) var cause: WidgetCause
    /// Whether an entry is shown.
    package internal(set) var hasEntry = false
    /// The place of the entry that is shown among the timeline's; nil where none is, or one of the timeline before.
    package internal(set) var entryIndex: UInt16?
    /// How many entries the timeline has, without one that was carried over.
    package internal(set) var entryCount: UInt16 = 0
    package internal(set) var policy = TimelineReloadPolicy.atEnd
    /// When the timeline came; `never`: there is none.
    package internal(set) var timelineAt = Instant.never
    /// Whether the entry asks a person to log in.
    package internal(set) var needsLogin = false
    /// Whether it is the first of its device's Smart Stack.
    package internal(set) var isOnTop = false
    package internal(set) var failure = CallFailure.none
    /// In a row.
    package internal(set) var failures: UInt8 = 0
    package internal(set) var hold: Hold?
    /// Whether the timeline that is on its way may be older than the newest reason for one.
    package internal(set) var isDirty = false
    /// When the entry that is shown was.
    package internal(set) var shownAt = Instant.never
    /// When the last reload was asked for, charged or not.
    package internal(set) var lastReloadAt = Instant.never
    /// The dates at which something happens by itself.
    package internal(set) var nextEntryAt = Instant.never
    package internal(set) var policyAt = Instant.never
    package internal(set) var retryAt = Instant.never
    package internal(set) var relevanceEndsAt = Instant.never

    /// Whether what it shows was invalidated by an action that runs.
    package var isInvalidated: Bool { state == .acting }

    /// The earliest date at which something happens by itself, and what.
    package var next: (at: Instant, cause: NextCause) {
        var next = (at: nextEntryAt, cause: NextCause.entry)
        if policyAt < next.at { next = (policyAt, .policy) }
        if retryAt < next.at { next = (retryAt, .retry) }
        if let hold, hold.until < next.at { next = (hold.until, .held) }
        if relevanceEndsAt < next.at { next = (relevanceEndsAt, .relevance) }
        return next
    }
}
