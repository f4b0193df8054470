import FoundationEssentials
import IsletClient
import Synchronization
import Testing

/// Providers of widgets and the center against the real service, whose clock only the tests move.
@Suite(.timeLimit(.minutes(10))) struct WidgetServiceTests {
    private let center = WidgetCenter.shared

    /// The widget as soon as it is as wanted, with the names of the events until then.
    ///
    /// - Parameter after: what is done once all is followed.
    private func widget(
        _ id: String, _ connection: IsletConnection,
        where isWanted: @escaping @Sendable (WidgetInfo) -> Bool = { $0.state == .shown },
        after: (@Sendable () async throws -> Void)? = nil
    ) async throws -> (info: WidgetInfo, events: [String]) {
        try await within {
            var events: [String] = []
            for try await delivery in try await connection.entities("com.example.pizza/widget/") {
                let entities: [Entity]
                switch delivery {
                case .synced(let state):
                    entities = after == nil ? state.entities : []
                    if let after { try await after() }
                case .event(let event, let context):
                    entities = context.entity.map { [$0] } ?? []
                    if context.isNews, event.id == id { events.append(event.name) }
                case .joined, .closing: entities = []
                }
                for entity in entities where entity.id == id {
                    if let info = WidgetInfo(entity), isWanted(info) { return (info, events) }
                }
            }
            throw CancellationError()
        }
    }

    @Test func `each entry is shown at its date, and the next timeline is asked for by the policy`() async throws {
        let asked = Mutex<[Date]>([])
        let provider = WeatherProvider(timeline: { context in
            asked.withLock { $0.append(context.now) }
            let entries = (0..<3).map { WeatherEntry(date: context.now + Double($0) * 600, degrees: $0) }
            return Timeline(entries: entries, policy: .after(context.now + 3_600))
        })
        try await withProvider {
            WeatherWidget(provider: provider)
            LampControl(lamp: Lamp())
        } _: { connection, _ in
            let id = try await center.add(kind: "weather", family: .systemSmall, device: "phone")
            let first = try await widget(id, connection).info
            #expect(first.entry(as: WeatherEntry.self) == WeatherEntry(date: minute(0), degrees: 0))
            #expect(first.policy == .after(minute(60)))
            #expect(first.family == .systemSmall)
            #expect(first.device == "phone")
            for step in 1...2 {
                try await connection.advance(minutes: 10)
                let info = try #require(try await center.widget(id))
                #expect(info.entry(as: WeatherEntry.self)?.degrees == step)
            }
            // At most a tenth of the time until then is added, against herds.
            try await connection.advance(minutes: 46)
            let next = try await widget(id, connection) { $0.state == .shown && $0.members["entryIndex"]?.integer == 0 }
            let date = try #require(next.info.entry(as: WeatherEntry.self)?.date)
            #expect((minute(60)...minute(66)).contains(date))
            #expect(asked.withLock(\.self) == [minute(0), date])
            // One provider serves both families.
            #expect(try await ControlCenter.shared.control(ControlCenter.shared.add(kind: "lamp"))?.kind == "lamp")
        }
    }

    @Test func `an action runs with its parameters, and its widget is asked for its timeline after it`() async throws {
        try await withProvider {
            FlightWidget()
        } _: { connection, _ in
            let intent = FlightIntent(number: "LH200", from: Airport(id: "OSL", name: "Oslo"))
            let id = try await center.add(kind: "flight", family: .systemMedium, configuration: intent)
            let shown = try await widget(id, connection).info
            #expect(shown.entry(as: FlightEntry.self)?.gate == "OSL systemMedium")
            #expect(shown.widgetConfigurationIntent(of: FlightIntent.self) == intent)

            let tap = { @Sendable [center] (seat: String) in
                _ = try await center.tap(id, action: "checkIn", parameters: ["seat": .string(seat)])
            }
            let acted = try await widget(id, connection, after: { try await tap("7") })
            #expect(acted.events == ["widget.acting", "widget.performed", "widget.timeline"])
            #expect(acted.info.members["failure"] == nil)
            let failed = try await widget(
                id, connection, where: { $0.members["failure"]?.string == "threw" }, after: { try await tap("13") })
            #expect(failed.events.prefix(2) == ["widget.acting", "widget.failed"])
        }
    }

    @Test func `a tap on a link tells what it opens`() async throws {
        let provider = WeatherProvider(timeline: { context in
            let links = ["map": URL(string: "weather://map")].compactMapValues(\.self)
            let entry = WeatherEntry(
                date: context.now, degrees: 1, widgetURL: URL(string: "weather://today"), widgetLinks: links)
            return Timeline(entries: [entry], policy: .never)
        })
        try await withProvider {
            WeatherWidget(provider: provider)
        } _: { connection, _ in
            let id = try await center.add(kind: "weather", family: .systemMedium)
            _ = try await widget(id, connection)
            let stream = StreamReader(try await connection.events("com.example.pizza/widget/"))
            _ = try await stream.synced()
            try await center.tap(id)
            try await center.tap(id, link: "map")
            var interactions: [Interaction] = []
            while interactions.count < 2, let delivery = try await stream.next() {
                if case .event(let event, _) = delivery, let told = event.interaction { interactions.append(told) }
            }
            #expect(interactions.map(\.url) == ["weather://today", "weather://map"])
            #expect(interactions.map(\.link) == [nil, "map"])
            #expect(interactions.map(\.family) == [.systemMedium, .systemMedium])
            let unknown = await #expect(throws: IsletError.self) { try await center.tap(id, link: "future") }
            #expect(unknown?.code == .badField)
        }
    }

    @Test func `a timeline that breaks a rule is a failure of its call`() async throws {
        let provider = WeatherProvider(timeline: { context in
            let dates = [context.now + 60, context.now]
            return Timeline(entries: dates.map { WeatherEntry(date: $0, degrees: 0) }, policy: .atEnd)
        })
        try await withProvider {
            WeatherWidget(provider: provider)
        } _: { connection, _ in
            let id = try await center.add(kind: "weather", family: .systemSmall)
            let info = try await widget(id, connection) { $0.state == .placeholder }.info
            #expect(info.members["failure"]?.string == "threw")
            #expect(info.entry(as: WeatherEntry.self) == nil)
        }
    }

    @Test func `who has to log in is told so`() async throws {
        let provider = WeatherProvider(timeline: { .needsLogin(WeatherEntry(date: $0.now, degrees: -1)) })
        try await withProvider {
            WeatherWidget(provider: provider)
        } _: { connection, _ in
            let id = try await center.add(kind: "weather", family: .systemSmall)
            let info = try await widget(id, connection).info
            #expect(info.needsLogin)
            #expect(info.policy == .never)
            #expect(info.entry(as: WeatherEntry.self)?.degrees == -1)
        }
    }

    @Test func `the gallery has snapshots, options and recommendations`() async throws {
        try await withProvider {
            FlightWidget()
        } _: { connection, _ in
            func ask(_ op: String, _ fields: RawObject) async throws -> Answer {
                var command = Command("widget.\(op)", app: "com.example.pizza", ["kind": .string("flight")])
                for member in fields.members { command[member.name] = member.value }
                return try await connection.send(command)
            }
            let snapshot = try await ask("snapshot", ["family": .string("systemMedium"), "isPreview": .bool(true)])
            #expect(
                snapshot["snapshot"]?.description
                    == #"{"date":1767225600000,"content":{"gate":"A1","number":"LH100"}}"#)
            let oslo = #"{"value":{"id":"OSL","name":"Oslo"},"title":"Oslo (OSL)"}"#
            let berlin = #"{"value":{"id":"BER","name":"Berlin"},"title":"Berlin (BER)"}"#
            let from: RawObject = ["parameter": .string("from")]
            #expect(try await ask("options", from)["options"]?.description == "[\(berlin),\(oslo)]")
            var query = from
            query["query"] = .string("entitiesFor")
            query["identifiers"] = .array([.string("OSL")])
            #expect(try await ask("options", query)["options"]?.description == "[\(oslo)]")
            query = from
            query["query"] = .string("defaultResult")
            #expect(try await ask("options", query)["options"]?.description == "[\(berlin)]")
            #expect(
                try await ask("recommendations", [:])["recommendations"]?.description
                    == #"[{"configuration":{"number":"LH200"},"description":"To Oslo"}]"#)
            #expect(try await center.invalidateConfigurationRecommendations() == 1)
        }
    }

    @Test func `what matters now is on top of the Smart Stack`() async throws {
        try await withProvider {
            FlightWidget()
        } _: { connection, _ in
            let plain = try await center.add(
                kind: "flight", family: .systemMedium, configuration: FlightIntent(number: "LH300"), device: "phone")
            let relevant = try await center.add(
                kind: "flight", family: .systemMedium, configuration: FlightIntent(), device: "phone")
            _ = try await widget(relevant, connection) { $0.isOnTop }
            let rows = try await center.smartStack(of: "phone")
            #expect(rows.map(\.id) == [relevant, plain])
            #expect(rows.map(\.rule) == [.widgetRelevance, .placement])
            #expect(rows.allSatisfy { $0.app == "com.example.pizza" && $0.kind == "flight" && $0.score == nil })
            #expect(try await center.smartStack(of: "watch").isEmpty)
        }
    }

    @Test func `a timeline says what is shown now, then, and what comes next`() async throws {
        let provider = WeatherProvider(timeline: { context in
            let entries = (0..<3).map { step in
                WeatherEntry(
                    date: context.now + Double(step) * 600, degrees: step,
                    relevance: TimelineEntryRelevance(score: step == 1 ? 0.5 : 1, duration: step == 1 ? 120 : 0))
            }
            return Timeline(entries: entries, policy: .after(context.now + 3_600))
        })
        try await withProvider {
            WeatherWidget(provider: provider)
        } _: { connection, _ in
            let id = try await center.add(kind: "weather", family: .systemSmall, device: "phone")
            _ = try await widget(id, connection)
            let timeline = try #require(try await center.timeline(of: id, at: minute(15)))
            #expect(timeline.entries(as: WeatherEntry.self)?.map(\.degrees) == [0, 1, 2])
            #expect(timeline.policy == .after(minute(60)))
            #expect([timeline.timelineAt, timeline.next?.at] == [minute(0), minute(10)])
            #expect(timeline.entryIndex == 0 && timeline.next?.cause == "entry")
            #expect(timeline.moment?.at == minute(15) && timeline.moment?.entryIndex == 1)
            #expect(timeline.moment?.entry(as: WeatherEntry.self)?.degrees == 1)
            try await connection.advance(minutes: 10)
            let later = try #require(try await center.timeline(of: id))
            #expect(later.entryIndex == 1 && later.moment == nil)
            let row = try #require(try await center.smartStack(of: "phone").first)
            #expect(row.rule == .entryRelevance && row.score == 0.5 && row.until == minute(12))
            #expect(try await center.timeline(of: "0198c0de-0000-7000-8000-00000000000a") == nil)
        }
    }

    @Test func `a budget says what was spent, what was not charged, and what waits`() async throws {
        let provider = WeatherProvider(timeline: { context in
            Timeline(entries: [WeatherEntry(date: context.now, degrees: 0)], policy: .never)
        })
        try await withProvider {
            WeatherWidget(provider: provider)
        } _: { connection, _ in
            let id = try await center.add(kind: "weather", family: .systemSmall)
            _ = try await widget(id, connection)
            let fresh = try #require(try await center.budget(of: id))
            #expect(fresh.spent == 0 && fresh.left == fresh.limit && fresh.isLearning && !fresh.isDeveloperMode)
            #expect(fresh.exempt == ["placement": 1] && fresh.lastReloadAt == minute(0) && fresh.held == nil)
            for _ in 0..<3 { try await center.reloadTimeline(of: id) }
            let held = try #require(try await center.budget(of: id)?.held)
            #expect(held.until == minute(5) && held.reason == "spacing" && held.cause == "request")
            #expect(held.merged == 2)
            try await connection.advance(minutes: 5)
            _ = try await widget(id, connection) { $0.state == .shown && $0.members["held"] == nil }
            let spent = try #require(try await center.budget(of: id))
            #expect(spent.spentAt == [minute(5)] && spent.left == spent.limit - 1 && spent.freeAt == nil)
            #expect(try await center.budget(of: "0198c0de-0000-7000-8000-00000000000a") == nil)
        }
    }

    @Test func `current configurations are those that are placed, and are reloaded by kind or all`() async throws {
        try await withProvider {
            FlightWidget()
            WeatherWidget()
        } _: { connection, _ in
            #expect(try await center.currentConfigurations().isEmpty)
            let weather = try await center.add(kind: "weather", family: .systemSmall)
            let flight = try await center.add(
                kind: "flight", family: .accessoryInline, rendering: WidgetRendering(mode: .vibrant))
            for id in [weather, flight] { _ = try await widget(id, connection) }
            let placed = try await center.currentConfigurations()
            #expect(Set(placed.map(\.id)) == [weather, flight])
            #expect(placed.first { $0.id == flight }?.rendering == WidgetRendering(mode: .vibrant))
            #expect(try await center.reloadTimelines(ofKind: "weather") == 1)
            #expect(try await center.reloadAllTimelines() == 2)
            #expect(try await center.invalidateRelevance(ofKind: "flight") == .applied)
            #expect(try await center.configure(flight, configuration: FlightIntent(number: "LH200")) == .applied)
            let number = try await widget(flight, connection) {
                $0.state == .shown && $0.entry(as: FlightEntry.self)?.number == "LH200"
            }.info.entry(as: FlightEntry.self)?.number
            #expect(number == "LH200")
            #expect(try await center.remove(weather) == .applied)
            #expect(try await center.currentConfigurations().map(\.id) == [flight])
            #expect(try await center.widget(weather)?.state ?? .removed == .removed)
        }
    }
}
