/// One event of an activity: the effect that a step has on the outside.
///
/// It holds the machine before and after, so that an encoder can write the merge patch without asking further; the
/// bytes of payloads are still in the engine, or in the frame of the command that made the event.
package struct ActivityEvent: Equatable, Sendable, BitwiseCopyable {
    /// Where the bytes of the alert are that the event carries.
    package enum Alert: Equatable, Sendable, BitwiseCopyable {
        case none
        /// In the frame of the command.
        case inFrame(FrameRange)
        /// Stored with the scheduled start.
        case stored
    }

    package var name: ActivityEventName
    package var slot: Slot
    package var id: EntityID
    package var kind: KindID
    package var app: AppID
    /// Dense within the app.
    package var seq: UInt64
    /// The sequence number of the entity's event before; 0 for its first.
    package var previous: UInt64
    /// When it took effect.
    package var at: Instant
    /// `at` minus the deadline; nil where no deadline made it.
    package var lateBy: Milliseconds?
    /// The machine before; nil for a start, whose event carries the whole entity.
    package var before: ActivityMachine?
    package var after: ActivityMachine
    package var revision: UInt32
    package var rule: Rule
    /// Whether the present command made it, so that `by` stands in it.
    package var isByCommand: Bool
    package var contentChanged: Bool
    package var relevanceChanged: Bool
    /// Whether `renewedBy` was set by it.
    package var renewalChanged: Bool
    package var alert: Alert
    /// The URL that a tap opens, with its quotes: in the engine's ``Engine/interactionBytes``.
    package var url: FrameRange?

    /// Why it happened. A tap is a person's, and leaves the activity with the cause of its last change.
    package var cause: Cause { name == .tapped ? .person : after.cause }
}
