/// A reload of many instances of a family on its way through the slab, some of them each turn.
struct ReloadSweep<Cause: Equatable & Sendable>: Sendable {
    var app: AppID
    /// nil: all kinds of the app.
    var kind: DeclaredKindID?
    var cause: Cause
    /// When it was asked for.
    var setAt: Instant
    /// Of one that a process before did not end: only those that it has not reached since then.
    var since: Instant?
    /// The one whose action made it, which reloads by itself.
    var except: Slot?
    var next: Slot = 0
    /// Those that were placed later have newer values.
    var end: Slot

    /// At most this many are on their way; beyond, a reload by command is refused as `busy`.
    static var maximum: Int { 64 }
    /// How many slots a turn looks at.
    static var slotsPerTurn: Int { 4_096 }
    /// How many instances a turn reloads.
    static var reloadsPerTurn: Int { 1_024 }

    /// Whether two that have not begun can be one.
    func isSame(as other: ReloadSweep) -> Bool { app == other.app && kind == other.kind && cause == other.cause }

    /// Takes another one over, which was asked for later.
    mutating func join(_ later: ReloadSweep) {
        if except != later.except { except = nil }
        setAt = later.setAt
        end = later.end
    }

    /// Whether it is about an instance of an app and a kind.
    func covers(app other: AppID, _ otherKind: DeclaredKindID) -> Bool {
        app == other && (kind.map { $0 == otherKind } ?? true)
    }
}
