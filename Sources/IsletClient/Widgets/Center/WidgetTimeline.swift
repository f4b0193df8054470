public import FoundationEssentials

/// The timeline that a widget has: what its provider gave, and where it stands.
public struct WidgetTimeline: Sendable, Hashable {
    /// The entries as they were given, in the order of their dates; empty while there is none.
    public let entries: [RawObject]
    /// When the next one is asked for; nil while there is none.
    public let policy: TimelineReloadPolicy?
    /// When it came; nil while there is none.
    public let timelineAt: Date?
    /// The place of the entry that is shown, from 0; nil while none of them is.
    public let entryIndex: Int?
    /// What happens next by itself; nil: nothing.
    public let next: WidgetNext?
    /// What is shown at the date that was asked for; nil where none was.
    public let moment: Moment?

    /// What a timeline shows at a date.
    public struct Moment: Sendable, Hashable {
        /// The date.
        public let at: Date
        /// The place of the entry in the timeline, from 0; nil where it is none of it.
        public let entryIndex: Int?
        /// The entry as it was given; nil where none is known to be shown then.
        public let entry: RawObject?

        /// The entry; nil where none is known to be shown then, and where it is of another type.
        public func entry<Entry: TimelineEntry>(as type: Entry.Type) -> Entry? { TimelineCoding.entry(type, entry) }

        init?(_ members: RawObject) {
            guard let at = members["at"]?.integer else { return nil }
            self.at = Date(milliseconds: at)
            entryIndex = members["entryIndex"]?.integer.map(Int.init(clamping:))
            entry = members["entry"]?.object
        }
    }

    /// Reads an answer's.
    init(_ members: RawObject, at moment: RawObject?) {
        entries = (members["entries"]?.elements ?? []).compactMap(\.object)
        policy = members["policy"].flatMap(TimelineReloadPolicy.init)
        timelineAt = members["timelineAt"]?.integer.map(Date.init(milliseconds:))
        entryIndex = members["entryIndex"]?.integer.map(Int.init(clamping:))
        next = members["next"]?.object.flatMap(WidgetNext.init)
        self.moment = moment.flatMap(Moment.init)
    }

    /// The entries; nil where one is of another type.
    public func entries<Entry: TimelineEntry>(as type: Entry.Type) -> [Entry]? {
        let read = entries.compactMap { TimelineCoding.entry(type, $0) }
        return read.count == entries.count ? read : nil
    }
}

/// What happens to a widget next, by itself.
public struct WidgetNext: Sendable, Hashable {
    /// When.
    public let at: Date
    /// What: `entry`, `policy`, `retry` or `held`; a later service may have others.
    public let cause: String

    init?(_ members: RawObject) {
        guard let at = members["at"]?.integer, let cause = members["cause"]?.string else { return nil }
        self.at = Date(milliseconds: at)
        self.cause = cause
    }
}
