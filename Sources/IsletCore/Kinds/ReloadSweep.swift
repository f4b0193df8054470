/// A reload of many instances of a family on its way through the slab, some of them each turn.
package struct ReloadSweep<Cause: Equatable & Sendable>: Sendable {
    var app: AppID
    /// nil: all kinds of the app.
    var kind: DeclaredKindID?
    /// Further kinds that became one with it.
    var furtherKinds: Set<DeclaredKindID> = []
    /// Whether further kinds of its app may become one with it. Not of one that a command asked for, which is
    /// remembered under its kind.
    var takesFurtherKinds = false
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
    package static var maximum: Int { 64 }
    /// At most this many of one app, so that the others find room; beyond, the same.
    package static var maximumOfApp: Int { 16 }
    /// How many slots a step looks at. A turn takes such steps as long as its batch has room.
    static var slotsPerStep: Int { 1_024 }
    /// How many instances a step reloads.
    static var reloadsPerStep: Int { 64 }

    /// What it is about, under which it is remembered.
    var kinds: SweptKinds { SweptKinds(app: app, kind: kind) }

    /// Whether it has not begun and can do what another one would do, which is asked for later.
    func waits(for later: ReloadSweep) -> Bool {
        next == 0 && app == later.app && cause == later.cause
            && (kind == nil || kind == later.kind || takesFurtherKinds && later.takesFurtherKinds)
    }

    /// Whether it does all that another one would do which has not begun.
    func replaces(_ earlier: ReloadSweep) -> Bool {
        kind == nil && earlier.kind != nil && earlier.next == 0 && app == earlier.app && cause == earlier.cause
    }

    /// Takes another one over, which was asked for later.
    mutating func join(_ later: ReloadSweep) {
        if except != later.except { except = nil }
        if kind != nil, let further = later.kind, further != kind { furtherKinds.insert(further) }
        since = later.since
        setAt = later.setAt
        end = later.end
    }

    /// Whether it is about an instance of an app and a kind.
    func covers(app other: AppID, _ otherKind: DeclaredKindID) -> Bool {
        guard app == other, let kind else { return app == other }
        return kind == otherKind || furtherKinds.contains(otherKind)
    }
}

extension Array {
    /// Lets the sweeps of other apps have their step before the next one of the first one's app, so that few of them do
    /// not wait for a million of its own. Those of one app stay in their order.
    mutating func letOthersGoFirst<Cause>() where Element == ReloadSweep<Cause> {
        guard let app = first?.app, contains(where: { $0.app != app }) else { return }
        self = filter { $0.app != app } + filter { $0.app == app }
    }

    /// Whether there is room for one more that a command asks for, in the place of those that it replaces. What nobody
    /// asked for takes no place: it is never refused, and would fill all of them.
    func hasRoom<Cause>(for sweep: ReloadSweep<Cause>, isAsked: (Cause) -> Bool) -> Bool
    where Element == ReloadSweep<Cause> {
        var (inAll, ofApp) = (0, 0)
        for other in self where isAsked(other.cause) && !sweep.replaces(other) {
            inAll += 1
            if other.app == sweep.app { ofApp += 1 }
        }
        return inAll < ReloadSweep<Cause>.maximum && ofApp < ReloadSweep<Cause>.maximumOfApp
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
