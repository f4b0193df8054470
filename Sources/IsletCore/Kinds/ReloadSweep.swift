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
    /// How many slots a step looks at. A turn takes such steps as long as its batch has room.
    static var slotsPerStep: Int { 1_024 }
    /// How many instances a step reloads.
    static var reloadsPerStep: Int { 64 }

    /// What it is about, under which it is remembered.
    var kinds: SweptKinds { SweptKinds(app: app, kind: kind) }

    /// Whether two that have not begun can be one.
    func isSame(as other: ReloadSweep) -> Bool { app == other.app && kind == other.kind && cause == other.cause }

    /// Takes another one over, which was asked for later.
    mutating func join(_ later: ReloadSweep) {
        if except != later.except { except = nil }
        since = later.since
        setAt = later.setAt
        end = later.end
    }

    /// Whether it is about an instance of an app and a kind.
    func covers(app other: AppID, _ otherKind: DeclaredKindID) -> Bool {
        app == other && (kind.map { $0 == otherKind } ?? true)
    }
}

/// What a reload of many is about: a kind of an app, or all of them.
package struct SweptKinds: Hashable, Comparable, Sendable {
    package var app: AppID
    /// nil: all kinds of the app.
    package var kind: DeclaredKindID?

    package init(app: AppID, kind: DeclaredKindID? = nil) {
        self.app = app
        self.kind = kind
    }

    package static func < (one: SweptKinds, other: SweptKinds) -> Bool {
        (one.app, one.kind.map { Int($0) } ?? -1) < (other.app, other.kind.map { Int($0) } ?? -1)
    }
}
