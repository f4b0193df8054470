/// Apple's `ActivityState` (apple-semantics 1.1).
package enum ActivityState: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// Scheduled for a start to come.
    case pending
    case active
    /// The content is out of date.
    case stale
    /// Still on the Lock Screen, will not change any more.
    case ended
    /// Gone for good.
    case dismissed

    /// Pending, active or stale: holds its key and counts toward the maxima.
    @inlinable package var isOpen: Bool {
        switch self {
        case .pending, .active, .stale: true
        case .ended, .dismissed: false
        }
    }

    /// Open or ended: stands in `list`, snapshots, `entities` and the digest.
    @inlinable package var isListed: Bool { self != .dismissed }
}

/// Why a transition happened.
package enum Cause: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case command, push, staleDate, startDate, activeLimit, dismissalPolicy, person, system, settings, transient
    case heartbeat, renewal
}

/// What ActivityKit drops in silence and this service drops with a reason.
package enum IgnoreReason: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case ended, dismissed, olderTimestamp, futureTimestamp, unchanged
    /// A control that allows no interaction, and a button whose action runs.
    case disabled, acting
}
