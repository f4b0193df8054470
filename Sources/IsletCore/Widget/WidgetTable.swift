/// All placed widgets of a partition with their kinds, timers and indexes: a part of the ``Engine``.
package struct WidgetTable: ~Copyable {
    var slab = Slab<WidgetRecord>()
    package internal(set) var kinds = DeclaredKindTable<WidgetKindDeclaration>(family: "widget")
    var placedFamilies = PlacedFamilies()
    var byID = SlotIndex()
    /// Entries, policies, tries after failures, reloads that are held, ends of relevance.
    var wheel: TimerWheel
    /// The widgets on each device that has any, the first placed first.
    var onDevice: [DeviceID: [Slot]] = [:]
    /// The device whose stack is looked at when all of its present changes are made.
    var unsettledStack: UnsettledStack?
    /// The devices whose stacks the present sweep of an app's stacks has looked at.
    var restacked: [AppID: Set<DeviceID>] = [:]
    /// The first of each device's Smart Stack.
    var top: [DeviceID: Slot] = [:]
    /// What decides whether reloads are charged, by device, whether it has widgets or not.
    package var conditions = DeviceReports<DeviceConditions>()
    /// What providers said of kinds beside their declarations.
    var sayings = KindSayings()
    var sweeps: [ReloadSweep<WidgetCause>] = []
    /// Reloads by command that have not reached all of their widgets yet.
    var unswept: [SweptKinds: UnsweptReload] = [:]
    /// Those of which an action may still end that was given up before this process took over.
    var interrupted: [SlotRef] = []
    var decisions = DecisionLog<WidgetDecision>()
    /// How many widgets are in each state, by its raw value; none are removed, since those are no more.
    package internal(set) var countByState = [Int](repeating: 0, count: WidgetState.allCases.count)

    /// The widgets, free slots among them, that changed since a snapshot wrote them.
    package var changedSlots = ChangedSlots()
    /// The kinds whose declaration, relevance or recommendations did.
    package var changedKinds: [DeclaredKindID] = []
    /// The reloads of many that a command asked for, of which some are on their way since, or are not any more.
    package var changedReloads: Set<SweptKinds> = []
    /// What happened since the last release, in order.
    package internal(set) var events: [WidgetEvent] = []
    /// Timelines that no widget has any more, and events may be of.
    var retired: [PayloadHandle] = []
    /// What the interactions of these events name.
    package internal(set) var interactionBytes: [UInt8] = []
    /// What providers are to be asked for, in order.
    package internal(set) var calls: [WidgetCall] = []

    init(start: Instant) {
        wheel = TimerWheel(start: start)
    }

    /// One past the highest slot that was ever used.
    package var slotCount: Slot { slab.capacity }
    /// How many widgets are placed.
    package var count: Int { slab.count }

    /// How many widgets of a kind are of a family that a declaration of it lacks.
    package func placed(of kind: DeclaredKindID, lackedBy declaration: WidgetKindDeclaration) -> Int {
        WidgetFamily.allCases.reduce(0) { count, family in
            declaration.families.contains(family) ? count : count + placedFamilies.count(family, of: kind)
        }
    }

    /// The record of a handle, or nil where it is gone.
    package func record(_ reference: SlotRef) -> WidgetRecord? {
        slab.isCurrent(reference) ? slab[reference.slot] : nil
    }

    /// The record in a slot, or nil where the slot is free.
    package func record(at slot: Slot) -> WidgetRecord? { slab.isUsed(slot) ? slab[slot] : nil }

    /// The handle of a used slot.
    package func reference(to slot: Slot) -> SlotRef { slab.reference(to: slot) }

    package func slot(of id: EntityID) -> Slot? { byID.find(id.keyedHash) { slab[$0].id == id } }

    /// The widget of an app with an id. Only while a journal is read do several apps have the same one.
    func slot(of id: EntityID, app: AppID) -> Slot? {
        byID.find(id.keyedHash) { slab[$0].id == id && kinds[slab[$0].kind].app == app }
    }

    /// The calls were taken over by the owner.
    package mutating func takeCalls() -> [WidgetCall] {
        guard !calls.isEmpty else { return [] }
        defer { calls.removeAll(keepingCapacity: true) }
        return calls
    }

    /// The newest decisions that are remembered about a widget of an app, at most `count`, oldest first.
    package func newestDecisions(_ count: Int, about id: EntityID, of app: AppID) -> [WidgetDecision] {
        decisions.newest(count, about: id, of: app)
    }

    /// The kinds that changed since a snapshot wrote them; they count as written.
    package mutating func takeChangedKinds(_ count: Int) -> [DeclaredKindID] {
        let taken = Array(changedKinds.prefix(count))
        for kind in taken { kinds[kind].isChanged = false }
        changedKinds.removeFirst(taken.count)
        return taken
    }

    /// The earliest deadline of a widget where it is not after a date, else `never`.
    mutating func nextDue(by now: Instant) -> Instant { wheel.nextWork() <= now ? wheel.nextDue(by: now) : .never }
}

/// A reload of a kind that was answered and is on its way, so that a restart can go on with it.
package struct UnsweptReload: Equatable, Sendable {
    /// When it was asked for, the last time.
    var since: Instant
    var cause: WidgetCause
}

/// What decides on a device whether reloads are charged (apple-semantics 5, exempt and not enforced).
package struct DeviceConditions: Equatable, Sendable {
    /// At most this many apps each.
    package static let maximumApps = 256

    package internal(set) var isInStandBy = false
    package internal(set) var isInDeveloperMode = false
    package internal(set) var foregroundApps: Set<AppID> = []
    /// Apps with an audio or navigation session.
    package internal(set) var sessionApps: Set<AppID> = []

    init() {}

    var isEmpty: Bool { !isInStandBy && !isInDeveloperMode && foregroundApps.isEmpty && sessionApps.isEmpty }
}

/// One decision about one widget, for `widget.explain`.
package struct WidgetDecision: DecisionEntry, BitwiseCopyable {
    package typealias Outcome = DecisionOutcome<WidgetEventName>

    package var id: EntityID
    package var app: AppID
    package var at: Instant
    package var rule: WidgetRule
    package var outcome: Outcome
    package var from: WidgetState?
    package var to: WidgetState
    package var cause: WidgetCause?
    package var failure: CallFailure
    /// Why the reload that it asked for was not charged.
    package var exemption: ReloadExemption?
    package var client: EntityID?
    package var req: InlineText

    package var event: (seq: UInt64, revision: UInt32)? { outcome.event }
}
