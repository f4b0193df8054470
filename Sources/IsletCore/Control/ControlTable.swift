/// All placed controls of a partition with their kinds, timers and indexes: a part of the ``Engine``.
package struct ControlTable: ~Copyable {
    var slab = Slab<ControlRecord>()
    package internal(set) var kinds = ControlKindTable(family: "control")
    var byID = SlotIndex()
    /// Retries and waits for authentication.
    var wheel: TimerWheel
    /// The controls on each device that has any, the first placed first.
    var onDevice: [DeviceID: [Slot]] = [:]
    /// Devices that are locked, by name, whether they have controls or not.
    package var lockedDevices = DeviceReports<Void>()
    var sweeps: [ControlSweep] = []
    /// Reloads by command that have not reached all of their controls yet, with the cause of the last one.
    var unswept: [SweptKinds: ControlCause] = [:]
    /// Devices with very many controls that were locked or unlocked: some of their controls hide or show each turn.
    var lockSweeps: [LockSweep] = []
    /// Those that were taken back from an image that keeps no preview, until it is known what their kinds are.
    var withoutPreview: Set<Slot> = []
    /// Those of which an action may still end that was given up before this process took over.
    var interrupted: [SlotRef] = []
    var decisions = DecisionLog<ControlDecision>()

    /// The controls, free slots among them, that changed since a snapshot wrote them.
    package var changedSlots = ChangedSlots()
    /// The kinds whose declaration did.
    package var changedKinds: [ControlKindID] = []
    /// How many controls are in each state, by its raw value; none are removed, since those are no more.
    package internal(set) var countByState = [Int](repeating: 0, count: ControlState.allCases.count)

    /// The reloads of many that a command asked for, of which some are on their way since, or are not any more.
    package var changedReloads: Set<SweptKinds> = []

    /// What happened since the last release, in order.
    package internal(set) var events: [ControlEvent] = []
    /// What these events name beside what the controls hold.
    package internal(set) var interactionBytes: [UInt8] = []
    /// Payloads that these events may be of, and no control any more.
    var retired: [PayloadHandle] = []
    /// What providers are to be asked for, in order.
    package internal(set) var calls: [ControlCall] = []

    init(start: Instant) {
        wheel = TimerWheel(start: start)
    }

    /// One past the highest slot that was ever used.
    package var slotCount: Slot { slab.capacity }
    /// How many controls are placed.
    package var count: Int { slab.count }

    /// The record of a handle, or nil where it is gone.
    package func record(_ reference: SlotRef) -> ControlRecord? {
        slab.isCurrent(reference) ? slab[reference.slot] : nil
    }

    /// The record in a slot, or nil where the slot is free.
    package func record(at slot: Slot) -> ControlRecord? { slab.isUsed(slot) ? slab[slot] : nil }

    /// The handle of a used slot.
    package func reference(to slot: Slot) -> SlotRef { slab.reference(to: slot) }

    package func slot(of id: EntityID) -> Slot? { byID.find(id.keyedHash) { slab[$0].id == id } }

    /// The control of an app with an id. Only while a journal is read do several apps have the same one.
    func slot(of id: EntityID, app: AppID) -> Slot? {
        byID.find(id.keyedHash) { slab[$0].id == id && kinds[slab[$0].kind].app == app }
    }

    /// The newest decisions that are remembered about a control of an app, at most `count`, oldest first.
    package func newestDecisions(_ count: Int, about id: EntityID, of app: AppID) -> [ControlDecision] {
        decisions.newest(count, about: id, of: app)
    }

    /// The calls were taken over by the owner.
    package mutating func takeCalls() -> [ControlCall] {
        guard !calls.isEmpty else { return [] }
        defer { calls.removeAll(keepingCapacity: true) }
        return calls
    }

    /// The kinds whose declaration changed since a snapshot wrote them; they count as written.
    package mutating func takeChangedKinds(_ count: Int) -> [ControlKindID] {
        let taken = Array(changedKinds.prefix(count))
        for kind in taken { kinds[kind].isChanged = false }
        changedKinds.removeFirst(taken.count)
        return taken
    }
}

/// The controls of a device that was locked or unlocked, of which some hide or show each turn.
///
/// Whatever was not reached yet follows from the newest lock: it is hidden from readers as soon as that is answered.
struct LockSweep: Sendable {
    var device: DeviceID
    /// When it was locked or unlocked, the last time.
    var setAt: Instant
    /// As they were placed then. One that has gone since, or came to another device in its slot, is as its lock says.
    var slots: [Slot]
    var next = 0
    /// How many are left. Another lock on the way only lets it go once around again.
    var left: Int

    /// A device of at most so many controls is through with the command itself, and a step changes as many.
    static let controlsPerStep = 64
}

/// A reload of many controls.
typealias ControlSweep = ReloadSweep<ControlCause>

/// One decision about one control, for `control.explain`.
package struct ControlDecision: DecisionEntry, BitwiseCopyable {
    package typealias Outcome = DecisionOutcome<ControlEventName>

    package var id: EntityID
    package var app: AppID
    package var at: Instant
    package var rule: ControlRule
    package var outcome: Outcome
    package var from: ControlState?
    package var to: ControlState
    package var cause: ControlCause?
    package var failure: CallFailure
    package var client: EntityID?
    package var req: InlineText

    package var event: (seq: UInt64, revision: UInt32)? { outcome.event }
}
