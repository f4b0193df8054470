/// Reads for who runs the service: figures, timers, slots, subscribers, problems, and what has a name. None of them changes
/// anything or names an app that it must be about.
package enum InspectionOperation: Equatable, Sendable, BitwiseCopyable {
    /// `service.stats`.
    case stats
    /// `timer.list`.
    case timers(TimerList)
    /// `slot.list`.
    case slots(SlotList)
    /// `subscriber.list`.
    case subscribers(SubscriberList)
    /// `problem.list`.
    case problems(ProblemList)
    /// `entity.find`.
    case find(EntityFind)
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

/// `problem.list`: what is wrong, the worst first. A name that is nil filters nothing.
package struct ProblemList: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange?
    package var family: ProblemFamily?
    /// At most this many rows, 1...1 000.
    package var limit = 100

    package init() {}
}

/// `entity.find`: what has a name, in whichever app.
package struct EntityFind: Equatable, Sendable, BitwiseCopyable {
    /// An id, the end of one, an activity's key, or the kind of a control or widget.
    package var name: FrameRange
    /// Of all that have events, but for groups; nil: any.
    package var family: EntityFamily?
    package var app: FrameRange?
    package var device: FrameRange?
    /// At most this many rows, 1...100.
    package var limit = 20

    package init(name: FrameRange) {
        self.name = name
    }
}
