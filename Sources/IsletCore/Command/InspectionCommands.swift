/// Reads for who runs the service: figures, timers, slots, subscribers. None of them changes anything or names an entity.
package enum InspectionOperation: Equatable, Sendable, BitwiseCopyable {
    /// `service.stats`.
    case stats
    /// `timer.list`.
    case timers(TimerList)
    /// `slot.list`.
    case slots(SlotList)
    /// `subscriber.list`.
    case subscribers(SubscriberList)
}

/// `timer.list`: what happens next by itself. A name that is nil filters nothing.
package struct TimerList: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange?
    package var device: FrameRange?
    package var family: EntityFamily?
    /// At most this many rows, 1...1 000.
    package var limit = 50

    package init() {}
}

/// `slot.list`: the devices that hold slots of the maxima.
package struct SlotList: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange?
    package var device: FrameRange?
    /// At most this many rows, 1...1 000.
    package var limit = 50
    /// An opaque string from the page before.
    package var cursor: FrameRange?

    package init() {}
}

/// `subscriber.list`: the subscribers that report how far they are.
package struct SubscriberList: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange?
    /// At most this many rows, 1...1 000.
    package var limit = 50

    package init() {}
}
