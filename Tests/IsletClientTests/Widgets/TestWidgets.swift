import FoundationEssentials
import IsletClient

/// A date of the bus: 2026-01-01T00:00Z and so many minutes.
func minute(_ minutes: Int) -> Date { Date(timeIntervalSince1970: 1_767_225_600 + Double(minutes) * 60) }

struct WeatherEntry: TimelineEntry, Equatable {
    var date: Date
    var degrees: Int
    var relevance: TimelineEntryRelevance?
    var widgetURL: URL?
    var widgetLinks: [String: URL] = [:]
}

/// An entry whose own members have the names of what travels beside it, and other meanings.
struct NewsEntry: TimelineEntry, Equatable {
    var date: Date
    var headline: String
    var relevance: String
    var widgetLinks: [String]
    private enum CodingKeys: String, CodingKey {
        case date = "at"
        case headline, relevance, widgetLinks
    }
}

/// Weather whose handlers are the test's.
struct WeatherProvider: TimelineProvider {
    var snapshot: @Sendable (Context) async throws -> WeatherEntry = { WeatherEntry(date: $0.now, degrees: 20) }
    var timeline: @Sendable (Context) async throws -> Timeline<WeatherEntry> = {
        Timeline(entries: [WeatherEntry(date: $0.now, degrees: 7)], policy: .atEnd)
    }
    var relevant = WidgetRelevance<Void>([])

    func placeholder(in context: Context) -> WeatherEntry { WeatherEntry(date: context.now, degrees: 0) }
    func snapshot(in context: Context) async throws -> WeatherEntry { try await snapshot(context) }
    func timeline(in context: Context) async throws -> Timeline<WeatherEntry> { try await timeline(context) }
    func relevance() async throws -> WidgetRelevance<Void> { relevant }
}

struct WeatherWidget: Widget {
    var kind = "weather"
    var provider = WeatherProvider()

    var body: some WidgetConfiguration {
        StaticConfiguration(kind: kind, provider: provider)
            .configurationDisplayName("Weather")
            .supportedFamilies([.systemSmall, .systemMedium])
            .deadlines(timeline: .seconds(30), action: .seconds(60))
    }
}

struct Airport: AppEntity, Equatable {
    var id: String
    var name: String
    var displayRepresentation: DisplayRepresentation { "\(name) (\(id))" }
}

struct AirportQuery: EntityQuery {
    private static let all = [Airport(id: "BER", name: "Berlin"), Airport(id: "OSL", name: "Oslo")]

    func entities(for identifiers: [String]) async throws -> [Airport] {
        Self.all.filter { identifiers.contains($0.id) }
    }
    func suggestedEntities() async throws -> [Airport] { Self.all }
    func defaultResult() async throws -> Airport? { Self.all.first }
}

struct FlightIntent: WidgetConfigurationIntent, Equatable {
    var number = "LH100"
    var from: Airport?

    static let parameters: [IntentParameter] = [
        .string("number", title: "Flight", options: [.init("LH100"), .init("LH200")]),
        .entity("from", query: AirportQuery()),
    ]
}

struct FlightEntry: TimelineEntry, Equatable {
    var date: Date
    var number: String
    var gate: String?
}

struct FlightProvider: AppIntentTimelineProvider {
    func placeholder(in context: Context) -> FlightEntry { FlightEntry(date: context.now, number: "–") }

    func snapshot(for configuration: FlightIntent, in context: Context) async throws -> FlightEntry {
        FlightEntry(date: context.now, number: configuration.number, gate: context.isPreview ? "A1" : nil)
    }

    func timeline(for configuration: FlightIntent, in context: Context) async throws -> Timeline<FlightEntry> {
        let gate = configuration.from.map { "\($0.id) \(context.family.rawValue)" }
        let entry = FlightEntry(date: context.now, number: configuration.number, gate: gate)
        return Timeline(entries: [entry], policy: .after(context.now + 3_600))
    }

    func recommendations() async throws -> [AppIntentRecommendation<FlightIntent>] {
        [AppIntentRecommendation(intent: FlightIntent(number: "LH200"), description: "To Oslo")]
    }

    func relevance() async throws -> WidgetRelevance<FlightIntent> {
        WidgetRelevance([
            .init(configuration: FlightIntent(), context: .date(from: minute(0), to: minute(60))),
            .init(configuration: FlightIntent(number: "LH200"), context: .always),
        ])
    }
}

/// Checks a traveller in, or out; told to whoever waits.
struct CheckInIntent: AppIntent, Decodable {
    var seat: String
    var value: Bool?

    func perform() async throws -> some IntentResult {
        guard seat != "13" else { throw ProviderCallError.failed("there is no row 13") }
        return .result(status: "never told of a widget")
    }
}

struct FlightWidget: Widget {
    var body: some WidgetConfiguration {
        AppIntentConfiguration(kind: "flight", provider: FlightProvider())
            .configurationDisplayName("Flight")
            .description("Where it stands")
            .supportedFamilies([.systemMedium, .accessoryInline])
            .promptsForUserConfiguration()
            .supplementalFamilies([.small])
            .supportedRenderingModes([.fullColor, .vibrant])
            .accentedGroups(["gate"])
            .containerBackgroundRemovable()
            .supportedMountingStyles([.recessed])
            .widgetTexture(.paper)
            .supportedLevelsOfDetail([.default, .simplified])
            .deadlines(timeline: .seconds(3))
            .action("checkIn", of: CheckInIntent.self)
    }
}

/// A configuration whose optional has a default.
struct TourIntent: WidgetConfigurationIntent {
    var days: Int? = 5

    static let parameters: [IntentParameter] = [.integer("days")]
}

struct TourEntry: TimelineEntry {
    var date: Date
    var days: Int?
}

struct TourProvider: AppIntentTimelineProvider {
    func placeholder(in context: Context) -> TourEntry { TourEntry(date: context.now) }

    func snapshot(for configuration: TourIntent, in context: Context) async throws -> TourEntry {
        TourEntry(date: context.now, days: configuration.days)
    }

    func timeline(for configuration: TourIntent, in context: Context) async throws -> Timeline<TourEntry> {
        Timeline(entries: [try await snapshot(for: configuration, in: context)], policy: .never)
    }
}
