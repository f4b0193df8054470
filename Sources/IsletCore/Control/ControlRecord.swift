/// One placed control in the slab: the machine and where its bytes are. Plain bits.
package struct ControlRecord: Sendable, BitwiseCopyable {
    package let id: EntityID
    package let kind: ControlKindID
    package let device: DeviceID?
    package let addedAt: Instant
    package internal(set) var machine: ControlMachine
    /// Dense within the entity, from 1.
    package internal(set) var revision: UInt32 = 0
    /// The sequence number of its last event; 0 before the first.
    package internal(set) var lastSeq: UInt64 = 0
    /// The exact bytes of the configuration; empty: none.
    package internal(set) var configuration = PayloadHandle.empty
    /// The exact bytes of a button's value: the provider's or, where that is not known, its kind's preview as it was
    /// when the control was placed or configured.
    package internal(set) var value = PayloadHandle.empty
    /// Status, tint and action hint, one after another: JSON strings with their quotes.
    package internal(set) var texts = PayloadHandle.empty
    package internal(set) var textCounts = ControlTextCounts()
    /// What its provider said of the call that it failed, while the failure is `threw`: a JSON string with its quotes.
    package internal(set) var failureReason = PayloadHandle.empty
    package internal(set) var dates = StateDates()
    /// Rises with every call that it asks for or gives up: what comes of an older one is nothing to it any more.
    package internal(set) var callSerial: UInt32 = 0
    /// When an action was given up that nobody said was over, the last time.
    package internal(set) var actionGivenUpAt = Instant.never
    /// Whether a button shows as active, where its provider says.
    package internal(set) var isActive: Bool?

    /// Where it comes among those of its device.
    var placing: (Instant, EntityID) { (addedAt, id) }
    /// Everything that it holds of the store.
    var payloads: [PayloadHandle] { [configuration, value, texts, failureReason] }
}

/// How long each of a control's texts is, with its quotes; 0: absent.
package struct ControlTextCounts: Equatable, Sendable, BitwiseCopyable {
    var status: UInt16 = 0
    var tint: UInt16 = 0
    var actionHint: UInt16 = 0

    package var statusRange: Range<Int> { 0..<Int(status) }
    package var tintRange: Range<Int> { Int(status)..<Int(status) + Int(tint) }
    package var actionHintRange: Range<Int> { tintRange.upperBound..<tintRange.upperBound + Int(actionHint) }
}

/// One event of a control: the effect that a step has on the outside.
///
/// It holds the machine before and after, so that an encoder can write the merge patch; the bytes are in the engine.
package struct ControlEvent: Sendable, BitwiseCopyable {
    package var name: ControlEventName
    package var slot: Slot
    package var id: EntityID
    package var kind: ControlKindID
    package var app: AppID
    /// Dense within the app.
    package var seq: UInt64
    /// The sequence number of the control's event before; 0 for its first.
    package var previous: UInt64
    /// When it took effect.
    package var at: Instant
    /// `at` minus the deadline; nil where no deadline made it.
    package var lateBy: Milliseconds?
    /// The machine before; nil where it is added, whose event carries the whole entity.
    package var before: ControlMachine?
    package var after: ControlMachine
    package var revision: UInt32
    package var rule: ControlRule
    /// Whether the present command made it, so that `by` stands in it.
    package var isByCommand: Bool
    package var changes: Changes
    /// As they were after it.
    package var dates: StateDates
    /// The provider's reason that ``after`` has, until the events are released.
    package var failureReason: PayloadHandle
    /// What the action that was performed opens: in ``ControlTable/interactionBytes``, a JSON string with its quotes.
    package var url: FrameRange?
    /// How many events of any family were made before it and are not released.
    package var position: Int

    /// What it changed beside the machine.
    package struct Changes: Equatable, Sendable, BitwiseCopyable {
        package var configuration = false
        package var value = false
        /// Status, tint, action hint or `isActive`.
        package var look = false
        /// The provider's reason.
        package var failureReason = false

        package init() {}
    }
}

/// What a provider is to be asked for, or not any more; performed once the event that made it is committed.
package struct ControlCall: Equatable, Sendable, BitwiseCopyable {
    package enum Kind: Equatable, Sendable, BitwiseCopyable {
        case askValue
        case perform(ControlMachine.Wish)
        /// The call that is out is given up; it was for an action or for a value.
        case cancel(isRemoved: Bool)
    }

    package var control: SlotRef
    package var controlKind: ControlKindID
    /// The control's serial number of calls when it was made.
    package var serial: UInt32
    package var kind: Kind
    /// Whether somebody waits for it: it comes before those of its kind that are asked for together.
    package var isAwaited: Bool
}
