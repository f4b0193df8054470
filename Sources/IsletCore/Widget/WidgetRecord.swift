/// One placed widget in the slab: the machine and where its bytes are. Plain bits.
package struct WidgetRecord: Sendable, BitwiseCopyable {
    package let id: EntityID
    package let kind: DeclaredKindID
    package let family: WidgetFamily
    package let device: DeviceID?
    package let addedAt: Instant
    /// Its place in the order of placing, which is one for all widgets. 0: placed by an earlier release, which knew none.
    package let ordinal: UInt64
    package internal(set) var machine: WidgetMachine
    /// Dense within the entity, from 1.
    package internal(set) var revision: UInt32 = 0
    /// The sequence number of its last event; 0 before the first.
    package internal(set) var lastSeq: UInt64 = 0
    /// The exact bytes of the configuration; empty: none.
    package internal(set) var configuration = PayloadHandle.empty
    /// The exact bytes of the instance's rendering facts; empty: none.
    package internal(set) var rendering = PayloadHandle.empty
    /// The ``TimelineBlob``; empty: none.
    package internal(set) var timeline = PayloadHandle.empty
    /// The entry that is shown, where it is of the timeline before; empty: none was carried over.
    package internal(set) var carried = PayloadHandle.empty
    /// The ``ReloadLedger``; empty: nothing was charged.
    package internal(set) var ledger = PayloadHandle.empty
    /// The action that runs or ran last, and its parameters; behind the action's name a zero byte.
    package internal(set) var action = PayloadHandle.empty
    /// What its provider said of the call that it failed, while the failure is `threw`: a JSON string with its quotes.
    package internal(set) var failureReason = PayloadHandle.empty
    package internal(set) var dates = StateDates()
    /// Rises with every call that it asks for or gives up: what comes of an older one is nothing to it any more.
    package internal(set) var callSerial: UInt32 = 0
    /// When an action was given up that nobody said was over, the last time.
    package internal(set) var actionGivenUpAt = Instant.never
    /// When its place in the Smart Stack may change by itself.
    var stackAt = Instant.never

    /// When something happens by itself.
    var deadline: Instant { min(machine.next.at, stackAt) }
    /// Where it comes among those of its device when nothing else tells.
    var placing: (Instant, UInt64, EntityID) { (addedAt, ordinal, id) }
    /// Everything that it holds of the store.
    var payloads: [PayloadHandle] { [configuration, rendering, timeline, carried, ledger, action, failureReason] }

    init(
        id: EntityID, kind: DeclaredKindID, family: WidgetFamily, device: DeviceID?, addedAt: Instant,
        ordinal: UInt64, machine: WidgetMachine
    ) {
        self.id = id
        self.kind = kind
        self.family = family
        self.device = device
        self.addedAt = addedAt
        self.ordinal = ordinal
        self.machine = machine
    }
}
