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
    @inlinable package var isListed: Bool {
        switch self {
        case .pending, .active, .stale, .ended: true
        case .dismissed: false
        }
    }

    /// Inlined: the one that the compiler makes is called by a witness in other modules, 20 instructions each time.
    ///
    /// Proof for the cast: an enum without payloads of at most 256 cases is one byte.
    @inline(__always) package static func == (left: ActivityState, right: ActivityState) -> Bool {
        unsafeBitCast(left, to: UInt8.self) == unsafeBitCast(right, to: UInt8.self)
    }
}

/// Why a transition happened.
package enum Cause: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case command, push, staleDate, startDate, activeLimit, dismissalPolicy, person, system, settings, transient
    case heartbeat, renewal

    /// Inlined: the one that the compiler makes is called by a witness in other modules, 20 instructions each time.
    ///
    /// Proof for the cast: an enum without payloads of at most 256 cases is one byte.
    @inline(__always) package static func == (left: Cause, right: Cause) -> Bool {
        unsafeBitCast(left, to: UInt8.self) == unsafeBitCast(right, to: UInt8.self)
    }
}

/// What ActivityKit drops in silence and this service drops with a reason.
package enum IgnoreReason: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case ended, dismissed, olderTimestamp, futureTimestamp, unchanged
    /// A control that allows no interaction, and a button whose action runs.
    case disabled, acting
}
