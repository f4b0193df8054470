public import FoundationEssentials

/// What a widget shows from a date on.
///
///     struct WeatherEntry: TimelineEntry {
///         let date: Date
///         let degrees: Int
///         var relevance: TimelineEntryRelevance? { .init(score: Float(degrees)) }
///         var widgetURL: URL? { URL(string: "weather://today") }
///     }
///
/// Its JSON, as `Codable` makes it, is the content that renderers get: without `date`, `relevance`, `widgetURL` and
/// `widgetLinks`, which travel beside it. Dates inside the content are seconds since 2001, as Foundation writes them.
public protocol TimelineEntry: Codable, Sendable {
    /// From when it is shown.
    var date: Date { get }

    /// How important it is beside other widgets; nil: not at all. Without it: nil.
    var relevance: TimelineEntryRelevance? { get }

    /// What a tap opens; nil: just the app. Without it: nil.
    var widgetURL: URL? { get }

    /// What taps on its parts open, by names that the renderer knows; only where the family allows links (see
    /// ``WidgetFamily/allowsLinks``). Without it: none.
    var widgetLinks: [String: URL] { get }
}

extension TimelineEntry {
    /// Not at all.
    public var relevance: TimelineEntryRelevance? { nil }
    /// Just the app.
    public var widgetURL: URL? { nil }
    /// None.
    public var widgetLinks: [String: URL] { [:] }
}

/// How important an entry is, compared with the other entries of its provider alone.
public struct TimelineEntryRelevance: Sendable, Hashable, Codable {
    /// The higher the more important; 0: not at all.
    public var score: Float
    /// For how long, in seconds; 0: until the next entry.
    public var duration: TimeInterval

    /// A relevance of this score.
    public init(score: Float, duration: TimeInterval = 0) {
        self.score = score
        self.duration = duration
    }
}

/// When a widget's timeline is asked for again.
public enum TimelineReloadPolicy: Sendable, Hashable {
    /// After the date of the last entry.
    case atEnd
    /// After a date: not before it, within the widget's budget.
    case after(Date)
    /// Only when somebody asks for it.
    case never
}

/// What a widget shows, from entry to entry.
public struct Timeline<Entry: TimelineEntry>: Sendable {
    /// The entries, in the order of their dates: at least one, and at most 256 where the service has no other rule
    /// (`maximumTimelineEntries`). Without data, give one that says so, or throw: what is shown stays.
    public var entries: [Entry]
    /// When the next timeline is asked for.
    public var policy: TimelineReloadPolicy
    /// Whether the one entry says that the person has to log in first.
    public private(set) var needsLogin = false

    /// A timeline of these entries.
    public init(entries: [Entry], policy: TimelineReloadPolicy) {
        self.entries = entries
        self.policy = policy
    }

    /// What is shown while there is no session: one entry, until the app asks for a reload.
    public static func needsLogin(_ entry: Entry, policy: TimelineReloadPolicy = .never) -> Timeline {
        var timeline = Timeline(entries: [entry], policy: policy)
        timeline.needsLogin = true
        return timeline
    }
}
