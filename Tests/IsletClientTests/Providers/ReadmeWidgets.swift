import FoundationEssentials
import IsletClient

struct Tide: TimelineEntry {
    let date: Date
    let metres: Double
}

struct TideProvider: TimelineProvider {
    func placeholder(in context: Context) -> Tide { Tide(date: context.now, metres: 0) }
    func snapshot(in context: Context) async throws -> Tide { Tide(date: context.now, metres: 2.5) }

    func timeline(in context: Context) async throws -> Timeline<Tide> {
        let hours = (0..<6).map { Tide(date: context.now + Double($0) * 3_600, metres: 4 - Double($0)) }
        return Timeline(entries: hours, policy: .atEnd)
    }
}

struct TideWidget: Widget {
    var body: some WidgetConfiguration {
        StaticConfiguration(kind: "com.example.tide", provider: TideProvider())
            .supportedFamilies([.systemSmall, .systemMedium])
            .action("bell", RingBellIntent())
    }
}

/// What the README does not show.
struct RingBellIntent: AppIntent {
    func perform() async throws -> some IntentResult { .result() }
}

func runTides() async throws {
    try await ProviderService {
        TorchControl()
        TideWidget()
    }.run()
}

func useTides() async throws {
    try await WidgetCenter.shared.reloadTimelines(ofKind: "com.example.tide")
    let shared = AppGroupStore(suiteName: "group.com.example.tide")
    try await shared.set(["oslo"], forKey: "harbours")
    for try await change in shared.changes() { print(change) }
}
