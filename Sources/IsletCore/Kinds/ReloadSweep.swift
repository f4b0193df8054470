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

    /// The kinds of which it reloads instances, in the order of their numbers.
    func kinds<Declaration>(in table: borrowing DeclaredKindTable<Declaration>) -> [DeclaredKindID] {
        if let kind { return [kind] }
        return table.records.indices.map { DeclaredKindID($0) }.filter { table[$0].app == app && table[$0].placed > 0 }
    }

    /// Those of some kinds that it was about and none of these is.
    func kinds<Declaration>(
        of kinds: some Collection<DeclaredKindID>, in table: borrowing DeclaredKindTable<Declaration>,
        without others: some Sequence<ReloadSweep>
    ) -> [DeclaredKindID] {
        let own = kinds.filter { covers(app: table[$0].app, $0) }
        return own.filter { kind in !others.contains { $0.covers(app: app, kind) } }.sorted()
    }

    /// Whether it is about an instance of an app and a kind.
    func covers(app other: AppID, _ otherKind: DeclaredKindID) -> Bool {
        app == other && (kind.map { $0 == otherKind } ?? true)
    }
}
