/// Computes what the widgets of a kind show, all of them alike.
///
///     struct WeatherProvider: TimelineProvider {
///         func placeholder(in context: Context) -> WeatherEntry { WeatherEntry(date: context.now, degrees: 0) }
///         func snapshot(in context: Context) async throws -> WeatherEntry { try await weather(at: context.now) }
///         func timeline(in context: Context) async throws -> Timeline<WeatherEntry> {
///             Timeline(entries: try await forecast(from: context.now), policy: .atEnd)
///         }
///     }
///
/// It is WidgetKit's, whose `getSnapshot` and `getTimeline` are functions that return here and may throw. One instance
/// serves all widgets of its kind, several at a time.
public protocol TimelineProvider: Sendable {
    /// What is shown.
    associatedtype Entry: TimelineEntry
    /// For what it is asked.
    typealias Context = TimelineProviderContext

    /// What is drawn while nothing is known, for all widgets of the kind. It is asked for once, when the kind is
    /// registered; its content must be the same each time.
    func placeholder(in context: Context) -> Entry

    /// One entry, soon: sample data does where `context.isPreview`.
    func snapshot(in context: Context) async throws -> Entry

    /// What is shown from now on. The service waits for it as long as the kind's deadline says, then cancels the task.
    ///
    /// - Throws: anything; the widget keeps its last entry and the service asks again later. With
    ///   ``ProviderCallError/retryable(_:)`` it may ask another provider at once.
    func timeline(in context: Context) async throws -> Timeline<Entry>

    /// When the kind matters, most important first. Without it: never more than at other times.
    func relevance() async throws -> WidgetRelevance<Void>
}

extension TimelineProvider {
    /// Never more than at other times.
    public func relevance() async throws -> WidgetRelevance<Void> { WidgetRelevance([]) }
}

/// Computes what widgets show that a person configures; else as ``TimelineProvider``.
public protocol AppIntentTimelineProvider: Sendable {
    /// What is shown.
    associatedtype Entry: TimelineEntry
    /// What a person configures.
    associatedtype Intent: WidgetConfigurationIntent
    /// For what it is asked.
    typealias Context = TimelineProviderContext

    /// What is drawn while nothing is known; as ``TimelineProvider/placeholder(in:)``.
    func placeholder(in context: Context) -> Entry

    /// One entry of what is configured, soon.
    func snapshot(for configuration: Intent, in context: Context) async throws -> Entry

    /// What is shown from now on; as ``TimelineProvider/timeline(in:)``.
    func timeline(for configuration: Intent, in context: Context) async throws -> Timeline<Entry>

    /// Configurations that are worth offering. Without it: none.
    func recommendations() async throws -> [AppIntentRecommendation<Intent>]

    /// When which configurations matter, most important first. Without it: never more than at other times.
    func relevance() async throws -> WidgetRelevance<Intent>
}

extension AppIntentTimelineProvider {
    /// None.
    public func recommendations() async throws -> [AppIntentRecommendation<Intent>] { [] }

    /// Never more than at other times.
    public func relevance() async throws -> WidgetRelevance<Intent> { WidgetRelevance([]) }
}
