/// Apple's states of an activity.
public enum ActivityState: String, Codable, Sendable, Hashable, CaseIterable {
    /// Scheduled for a start to come.
    case pending
    /// Visible, and able to get updates.
    case active
    /// Like active, and its content is out of date.
    case stale
    /// Visible still, but it will not change any more.
    case ended
    /// Ended and no longer visible; nothing follows.
    case dismissed

    /// Pending, active or stale: it can be updated, and holds its key.
    public var isOpen: Bool {
        switch self {
        case .pending, .active, .stale: true
        case .ended, .dismissed: false
        }
    }

    /// Open or ended: it stands in lists and snapshots.
    public var isListed: Bool { self != .dismissed }
}
