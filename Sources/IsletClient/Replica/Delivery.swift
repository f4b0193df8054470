/// What a stream tells its reader, in order.
public enum Delivery: Sendable, Hashable {
    /// The subscriptions are active: nothing that happens from now on is lost. The first delivery of all, and only once;
    /// the apps that there are follow with their ``synced(_:)``.
    case joined
    /// What is known now, as a whole: at the beginning, and wherever continuity was lost. Everything held before for
    /// this app is replaced by it.
    case synced(SyncedState)
    /// One event, each one once and in the stream's order.
    case event(StreamEvent, EventContext)
    /// The service is stopping in good order; what follows comes after its return.
    case closing(app: String)
}

/// Where a reader begins, or begins again.
public struct SyncedState: Sendable, Hashable {
    /// Why the reader is (again) told everything.
    public enum Reason: Sendable, Hashable {
        /// The beginning.
        case joined
        /// The service cannot promise continuity, for example because it was restarted with a store in memory.
        case epochChanged
        /// Events were lost that the service does not keep any more.
        case eventsLost
        /// What was held differs from what the service has.
        case inconsistent
    }

    public let app: String
    /// Nil where the app has no events yet.
    public let position: StreamPosition?
    public let reason: Reason
    /// The listed entities, in no order; empty for readers of events alone. Each is as the service had it at one moment
    /// while the snapshot was made; events that a row has in it already come with `isNews` false.
    public let entities: [Entity]
    /// Events that were never delivered, where that is known: numbers after the last delivered one.
    public let missed: ClosedRange<UInt64>?
}

/// What a replica adds to an event.
public struct EventContext: Sendable, Hashable {
    /// The whole entity after the event; nil for readers of events alone.
    public let entity: Entity?
    /// False for an event that the entities told of in ``SyncedState`` contain already.
    public let isNews: Bool
}
