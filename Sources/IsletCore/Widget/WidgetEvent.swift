/// One event of a widget: the effect that a step has on the outside.
///
/// It holds the machine before and after, so that an encoder can write the merge patch; the bytes are in the engine.
package struct WidgetEvent: Sendable, BitwiseCopyable {
    package var name: WidgetEventName
    package var slot: Slot
    package var id: EntityID
    package var kind: DeclaredKindID
    package var app: AppID
    /// Dense within the app.
    package var seq: UInt64
    /// The sequence number of the widget's event before; 0 for its first.
    package var previous: UInt64
    /// When it took effect.
    package var at: Instant
    /// `at` minus the deadline; nil where no deadline made it.
    package var lateBy: Milliseconds?
    /// The machine before; nil where it is added, whose event carries the whole entity.
    package var before: WidgetMachine?
    package var after: WidgetMachine
    package var revision: UInt32
    package var rule: WidgetRule
    /// Whether the present command made it, so that `by` stands in it.
    package var isByCommand: Bool
    package var changes: Changes
    /// The timeline that ``after`` is of, and the entry that was carried over, until the events are released.
    package var timeline: PayloadHandle
    package var carried: PayloadHandle
    /// As they were after it.
    package var dates: StateDates
    /// The provider's reason that it has, as long.
    package var failureReason: PayloadHandle
    /// Why a reload was not charged; nil where it was, or where this is none.
    package var exemption: ReloadExemption?
    /// What a person did; nil for all other events.
    package var interaction: Interaction?
    /// How many events of any family were made before it and are not released.
    package var position: Int

    /// What it changed beside the machine.
    package struct Changes: Equatable, Sendable, BitwiseCopyable {
        package var configuration = false
        package var rendering = false
        /// The timeline: its entries, and the one that is shown.
        package var timeline = false
        /// The entry that is shown.
        package var entry = false
        /// The ledger of charged reloads.
        package var ledger = false
        /// The provider's reason.
        package var failureReason = false
        /// Entries of the timeline that came were earlier than the one that is shown by now.
        package var pastEntriesDropped = false
        /// Entries of the timeline that came are too close to one another to be shown each.
        package var entriesCoalesced = false

        package init() {}
    }

    /// What a person did with it. The ranges are of ``WidgetTable/interactionBytes``.
    package struct Interaction: Equatable, Sendable, BitwiseCopyable {
        /// The JSON string of the URL that opens the app, with its quotes.
        package var url: FrameRange?
        /// The name of a link.
        package var link: FrameRange?
        /// The name of an action.
        package var action: FrameRange?
        /// The action's parameters, a JSON object.
        package var parameters: FrameRange?

        package init() {}
    }
}

/// What a provider is to be asked for, or not any more; performed once the event that made it is committed.
package struct WidgetCall: Equatable, Sendable, BitwiseCopyable {
    package enum Kind: Equatable, Sendable, BitwiseCopyable {
        case askTimeline
        case perform
        /// The call that is out is given up; it was for an action or for a timeline.
        case cancel(isRemoved: Bool)
    }

    package var widget: SlotRef
    package var widgetKind: DeclaredKindID
    /// The widget's serial number of calls when it was made.
    package var serial: UInt32
    package var kind: Kind
    /// Whether somebody waits for it: it comes before those of its kind that are asked for together.
    package var isAwaited: Bool
}
