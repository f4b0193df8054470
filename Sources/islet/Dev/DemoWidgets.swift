import FoundationEssentials
import IsletClient

/// All widgets of the demo's travel app.
struct DemoWidgets: WidgetBundle {
    let travel: DemoTravel

    var body: [ProviderKind] {
        FlightWidget(travel: travel)
        WeatherWidget()
    }
}

/// Longer than usual: the demo must also do on a machine that is busy with other things.
private let demoDeadline = Duration.seconds(10)

/// A flight: its entries step through its life, and boarding matters most.
private struct FlightWidget: Widget {
    let travel: DemoTravel

    struct Entry: TimelineEntry {
        var date: Date
        var flight: String
        var status: DemoFlight.Status
        var gate: String?
        var seat: String?

        /// How much it matters; a landed one does so for a while.
        var relevance: TimelineEntryRelevance? {
            guard status.score > 0 else { return nil }
            return TimelineEntryRelevance(score: status.score, duration: status == .landed ? 600 : 0)
        }

        var widgetURL: URL? { URL(string: "travel://flight/" + flight.filter { $0 != " " }) }
    }

    struct Flights: TimelineProvider {
        let travel: DemoTravel

        func placeholder(in context: Context) -> Entry {
            Entry(date: context.now, flight: "IS 000", status: .scheduled)
        }

        func snapshot(in context: Context) async throws -> Entry {
            if context.isPreview { return Entry(date: context.now, flight: "IS 123", status: .boarding, gate: "B7") }
            let entries = await entries(at: context.now)
            return entries.last { $0.date <= context.now } ?? entries[0]
        }

        func timeline(in context: Context) async throws -> Timeline<Entry> {
            let entries = await entries(at: context.now)
            return Timeline(entries: entries, policy: .after(DemoFlight(at: context.now).end))
        }

        private func entries(at date: Date) async -> [Entry] {
            let flight = await travel.flight(at: date)
            let (gate, seat) = (await travel.gate(of: flight), await travel.seat(of: flight))
            return flight.steps.map { date, status in
                Entry(date: date, flight: flight.name, status: status, gate: gate, seat: seat)
            }
        }
    }

    /// What the button in the widget does.
    struct CheckIn: AppIntent {
        let travel: DemoTravel
        let seat: String

        func perform() async throws -> some IntentResult {
            await travel.checkIn(seat: seat)
            return .result()
        }
    }

    var body: some WidgetConfiguration {
        StaticConfiguration(kind: "Flight", provider: Flights(travel: travel))
            .configurationDisplayName("Flight")
            .description("Your next flight, from the gate to the landing.")
            .supportedFamilies([.systemSmall, .systemMedium, .accessoryRectangular])
            .deadlines(timeline: demoDeadline, action: demoDeadline)
            .action("checkIn") { [travel] parameters in
                CheckIn(travel: travel, seat: parameters["seat"]?.string ?? "12A")
            }
    }
}

/// The weather of the city that a person chooses, hour by hour.
private struct WeatherWidget: Widget {
    struct Settings: WidgetConfigurationIntent {
        var city = "berlin"
        static var parameters: [IntentParameter] {
            [.string("city", title: "City", optionsProvider: Cities())]
        }
    }

    struct Cities: DynamicOptionsProvider {
        func results() async throws -> [IntentParameterOption] {
            DemoWeather.cities.map { IntentParameterOption($0, title: title($0)) }
        }

        func defaultResult() async throws -> IntentParameterOption? {
            DemoWeather.cities.first.map { IntentParameterOption($0, title: title($0)) }
        }
    }

    struct Entry: TimelineEntry {
        var date: Date
        var city: String
        var weather: DemoWeather?
        var widgetLinks: [String: URL] = [:]

        var relevance: TimelineEntryRelevance? { weather.map { TimelineEntryRelevance(score: $0.score) } }
        var widgetURL: URL? { URL(string: "travel://weather/\(city)") }
    }

    struct Forecast: AppIntentTimelineProvider {
        /// How many hours a timeline has, and after how many the next one is wanted.
        private static let hours = 8
        private static let freshHours = 6.0

        func placeholder(in context: Context) -> Entry { Entry(date: context.now, city: "") }

        func snapshot(for configuration: Settings, in context: Context) async throws -> Entry {
            entry(configuration.city, context.now, context)
        }

        func timeline(for configuration: Settings, in context: Context) async throws -> Timeline<Entry> {
            let hour = Date(
                timeIntervalSince1970: (context.now.timeIntervalSince1970 / 3_600).rounded(.down) * 3_600)
            let entries = (0..<Self.hours).map { number in
                entry(configuration.city, hour.addingTimeInterval(Double(number) * 3_600), context)
            }
            return Timeline(entries: entries, policy: .after(hour.addingTimeInterval(Self.freshHours * 3_600)))
        }

        func recommendations() async throws -> [AppIntentRecommendation<Settings>] {
            DemoWeather.cities.map { AppIntentRecommendation(intent: Settings(city: $0), description: title($0)) }
        }

        private func entry(_ city: String, _ date: Date, _ context: Context) -> Entry {
            var entry = Entry(date: date, city: city, weather: DemoWeather(in: city, at: date))
            if context.family.allowsLinks, let tomorrow = URL(string: "travel://weather/\(city)/tomorrow") {
                entry.widgetLinks["tomorrow"] = tomorrow
            }
            return entry
        }
    }

    var body: some WidgetConfiguration {
        AppIntentConfiguration(kind: "Weather", provider: Forecast())
            .configurationDisplayName("Weather")
            .description("The hours ahead.")
            .supportedFamilies([.systemSmall, .systemMedium, .systemLarge, .accessoryInline])
            .supportedRenderingModes([.fullColor, .accented])
            .deadlines(timeline: demoDeadline)
    }
}

/// `Berlin` of `berlin`.
private func title(_ city: String) -> String {
    city.prefix(1).uppercased() + city.dropFirst()
}
