import FoundationEssentials
import IsletClient
import Synchronization
import Testing

/// What is declared of widget kinds, and what providers say to calls about them.
@Suite(.timeLimit(.minutes(10))) struct WidgetProviderTests {
    private func call(_ id: String, _ op: String, kind: String = "weather", _ rest: String = "") -> String {
        #"{"call":"\#(id)","op":"widget.\#(op)","app":"com.example.home","kind":"\#(kind)","attempt":1,"#
            + #""within":30000,"now":1767225600000\#(rest)}"#
    }

    private static let family = #","family":"systemMedium""#

    // MARK: Declarations

    @Test func `a kind is declared with its families, its placeholder and its deadlines`() async throws {
        let frame = try await registration { WeatherWidget() }
        #expect(frame["kinds"] == nil)
        #expect(
            frame["widgets"]?.description
                == #"[{"kind":"weather","families":["systemSmall","systemMedium"],"displayName":"Weather","#
                + #""placeholder":{"degrees":0},"providesRelevance":true,"timelineDeadline":30000,"#
                + #""actionDeadline":60000}]"#)
    }

    @Test func `a configurable kind is declared with all that renderers need`() async throws {
        let frame = try await registration { FlightWidget() }
        #expect(
            frame["widgets"]?.description == #"""
                [{"kind":"flight","families":["systemMedium","accessoryInline"],"displayName":"Flight",\#
                "description":"Where it stands","parameters":[{"name":"number","type":"string","title":"Flight",\#
                "default":"LH100","options":[{"value":"LH100"},{"value":"LH200"}]},\#
                {"name":"from","type":"entity","isOptional":true,"dynamicOptions":true}],\#
                "placeholder":{"number":"–"},"promptsForUserConfiguration":true,"providesRelevance":true,\#
                "providesRecommendations":true,"supplementalFamilies":["small"],\#
                "rendering":{"modes":["fullColor","vibrant"],"accentedGroups":["gate"],\#
                "containerBackgroundRemovable":true,"mountingStyles":["recessed"],"texture":"paper",\#
                "levelsOfDetail":["default","simplified"]},"timelineDeadline":3000}]
                """#)
    }

    @Test func `a bundle has kinds of both families, which may share a name`() async throws {
        struct HomeBundle: WidgetBundle {
            var hasFlights = true
            var body: [ProviderKind] {
                WeatherWidget(kind: "lamp")
                LampControl(lamp: Lamp())
                if hasFlights { FlightWidget() }
            }
        }
        let frame = try await registration { HomeBundle() }
        func names(_ member: String) -> [String] {
            (frame[member]?.elements ?? []).compactMap { $0.object?["kind"]?.string }
        }
        #expect(names("kinds") == ["lamp"])
        #expect(names("widgets") == ["lamp", "flight"])
    }

    @Test func `a kind that comes in no family, or whose placeholder is too large, is not registered`() async throws {
        let session = IsletSession(app: "com.example.home", endpoints: .free)
        await #expect(throws: IsletError.invalid("weather: a widget comes in at least one family")) {
            try await ProviderService(session: session) { WeatherWidget().body.supportedFamilies([]) }.run()
        }
        struct Large: TimelineProvider {
            func placeholder(in context: Context) -> NewsEntry {
                let headline = String(repeating: "x", count: 4_096)
                return NewsEntry(date: context.now, headline: headline, relevance: "", widgetLinks: [])
            }
            func snapshot(in context: Context) async throws -> NewsEntry { placeholder(in: context) }
            func timeline(in context: Context) async throws -> Timeline<NewsEntry> {
                Timeline(entries: [placeholder(in: context)], policy: .atEnd)
            }
        }
        let error = await #expect(throws: IsletError.self) {
            try await ProviderService(session: session) {
                StaticConfiguration(kind: "large", provider: Large())
            }.run()
        }
        #expect(error?.description.hasPrefix("large: the placeholder has ") == true)
        await #expect(throws: IsletError.invalid("the kind 'weather' is declared twice")) {
            try await ProviderService(session: session) {
                WeatherWidget()
                WeatherWidget()
            }.run()
        }
    }

    // MARK: Calls

    @Test func `timelines and snapshots get the configuration, the family and the service's time`() async throws {
        let configured = #","configuration":{"from":{"id":"OSL","name":"Oslo"}}"#
        let replies = try await replies(
            to: call("1", "timeline", kind: "flight", Self.family + configured + #","widget":"w1""#),
            call("2", "snapshot", kind: "flight", Self.family + #","isPreview":true"#),
            call("3", "snapshot", kind: "flight", Self.family + #","configuration":{"number":7}"#)
        ) { FlightWidget() }
        #expect(
            replies == [
                #"{"op":"provider.answer","call":"1","entries":[{"date":1767225600000,"#
                    + #""content":{"gate":"OSL systemMedium","number":"LH100"}}],"policy":{"after":1767229200000}}"#,
                #"{"op":"provider.answer","call":"2","entries":[{"date":1767225600000,"#
                    + #""content":{"gate":"A1","number":"LH100"}}]}"#,
                #"{"op":"provider.fail","call":"3","message":"the configuration is no FlightIntent"}"#,
            ])
    }

    @Test func `a parameter that is null is one that is left out, also of an optional with a default`() async throws {
        let null = #","configuration":{"number":null,"from":null}"#
        let replies = try await replies(
            to: call("1", "timeline", kind: "flight", Self.family + null),
            call("2", "timeline", kind: "tour", Self.family),
            call("3", "timeline", kind: "tour", Self.family + #","configuration":{"days":null}"#)
        ) {
            FlightWidget()
            AppIntentConfiguration(kind: "tour", provider: TourProvider())
        }
        #expect(replies.count == 3 && replies[0].contains(#""content":{"number":"LH100"}"#), "\(replies)")
        #expect(replies.dropFirst().allSatisfy { $0.contains(#""content":{"days":5}"#) }, "\(replies)")
    }

    @Test func `an entity of which the identifier alone is configured is asked of its query`() async throws {
        let replies = try await replies(
            to: call("1", "timeline", kind: "flight", Self.family + #","configuration":{"from":"OSL"}"#),
            call("2", "timeline", kind: "flight", Self.family + #","configuration":{"from":{"id":"BER"}}"#),
            call("3", "snapshot", kind: "flight", Self.family + #","configuration":{"from":"XXX"}"#),
            call(
                "4", "perform", kind: "flight",
                #","widget":"w1","action":"checkIn","parameters":{"seat":"7"},"configuration":{"from":"XXX"}"#),
            call("5", "options", kind: "flight", #","parameter":"from","configuration":{"from":"XXX"}"#)
        ) { FlightWidget() }
        #expect(replies.count == 5)
        #expect(replies[0].contains(#""gate":"OSL systemMedium""#))
        #expect(replies[1].contains(#""gate":"BER systemMedium""#))
        let unknown = "the query of 'from' finds nothing that has the id 'XXX'"
        #expect(replies[2] == #"{"op":"provider.fail","call":"3","message":"\#(unknown)"}"#)
        #expect(replies[3] == #"{"op":"provider.answer","call":"4"}"#)
        #expect(replies[4].contains(#""title":"Oslo (OSL)""#), "whoever chooses anew may")
    }

    @Test func `options are those that are suggested, those of identifiers, and the default`() async throws {
        let replies = try await replies(
            to: call("1", "options", kind: "flight", #","parameter":"from","query":"suggestedEntities""#),
            call(
                "2", "options", kind: "flight",
                #","parameter":"from","query":"entitiesFor","identifiers":["OSL","X"]"#),
            call("3", "options", kind: "flight", #","parameter":"from","query":"defaultResult""#),
            call("4", "options", kind: "flight", #","parameter":"number""#)
        ) { FlightWidget() }
        let oslo = #"{"value":{"id":"OSL","name":"Oslo"},"title":"Oslo (OSL)"}"#
        let berlin = #"{"value":{"id":"BER","name":"Berlin"},"title":"Berlin (BER)"}"#
        #expect(
            replies == [
                #"{"op":"provider.answer","call":"1","value":[\#(berlin),\#(oslo)]}"#,
                #"{"op":"provider.answer","call":"2","value":[\#(oslo)]}"#,
                #"{"op":"provider.answer","call":"3","value":[\#(berlin)]}"#,
                #"{"op":"provider.fail","call":"4","message":"no options are computed for 'number'"}"#,
            ])
    }

    @Test func `options without queries of their own are found by their identifiers`() async throws {
        let options = RoomIntent.Rooms()
        #expect(try await options.results(for: ["study", "attic"]) == [.init("study")])
        #expect(try await options.defaultResult() == nil)
        struct Objects: DynamicOptionsProvider {
            func results() async throws -> [IntentParameterOption] {
                [.init(json: .object([.init("id", .string("a"))])), .init(7)]
            }
        }
        #expect(try await Objects().results(for: ["a", "7"]).map(\.value.description) == [#"{"id":"a"}"#])
    }

    @Test func `recommendations and relevance are in order, with what is configured`() async throws {
        let weather = WeatherProvider(
            relevant: WidgetRelevance([.init(context: .date(from: minute(5))), .init(context: .always)]))
        let replies = try await replies(
            to: call("1", "recommendations", kind: "flight"), call("2", "relevance", kind: "flight"),
            call("3", "relevance"), call("4", "recommendations")
        ) {
            FlightWidget()
            WeatherWidget(provider: weather)
        }
        #expect(
            replies == [
                #"{"op":"provider.answer","call":"1","value":[{"configuration":{"number":"LH200"},"#
                    + #""description":"To Oslo"}]}"#,
                #"{"op":"provider.answer","call":"2","value":[{"configuration":{"number":"LH100"},"#
                    + #""from":1767225600000,"to":1767229200000},{"configuration":{"number":"LH200"}}]}"#,
                #"{"op":"provider.answer","call":"3","value":[{"from":1767225900000},{}]}"#,
                #"{"op":"provider.answer","call":"4","value":[]}"#,
            ])
    }

    @Test func `what the service would refuse of what is offered is a failure of its call`() async throws {
        struct Odd: DynamicOptionsProvider {
            func results() async throws -> [IntentParameterOption] { .init(repeating: .init("a"), count: 1_001) }
            func defaultResult() async throws -> IntentParameterOption? { .init(json: .null) }
        }
        struct OddIntent: WidgetConfigurationIntent {
            var room = "kitchen"
            var size = "small"
            static let parameters: [IntentParameter] = [
                .string("room", optionsProvider: Odd()),
                IntentParameter("size", type: .enum, options: [.init("small"), .init("large")]),
            ]
        }
        struct OddProvider: AppIntentTimelineProvider {
            func placeholder(in context: Context) -> WeatherEntry { WeatherEntry(date: context.now, degrees: 0) }
            func snapshot(for configuration: OddIntent, in context: Context) async throws -> WeatherEntry {
                WeatherEntry(date: context.now, degrees: 0, widgetLinks: ["a": URL(filePath: "/")])
            }
            func timeline(for configuration: OddIntent, in context: Context) async throws -> Timeline<WeatherEntry> {
                Timeline(entries: [], policy: .never)
            }
            func recommendations() async throws -> [AppIntentRecommendation<OddIntent>] {
                [.init(intent: OddIntent(size: "huge"), description: "Huge")]
            }
            func relevance() async throws -> WidgetRelevance<OddIntent> {
                WidgetRelevance([.init(configuration: OddIntent(), context: .date(from: minute(1), to: minute(0)))])
            }
        }
        let replies = try await replies(
            to: call("1", "options", kind: "odd", #","parameter":"room""#),
            call("2", "options", kind: "odd", #","parameter":"room","query":"defaultResult""#),
            call("3", "recommendations", kind: "odd"), call("4", "relevance", kind: "odd"),
            call("5", "snapshot", kind: "odd", #","family":"systemSmall""#)
        ) { AppIntentConfiguration(kind: "odd", provider: OddProvider()) }
        let messages = replies.map { RawObject(Array($0.utf8))?["message"]?.string }
        #expect(
            messages == [
                "there are 1001 options, and may be 1000", "an option is null, which stands for no value",
                #"the configuration {"room":"kitchen","size":"huge"} does not fit the parameter 'size'"#,
                "a relevance ends at 1767225600000, before it begins at 1767225660000",
                "entries[0]: systemSmall has no place for links, and there are 1",
            ])
    }

    @Test func `actions get their parameters, and their errors are told`() async throws {
        let calls = Mutex<[String]>([])
        struct Told: AppIntent {
            let tell: @Sendable (String?) -> Void
            let text: String?
            func perform() async throws -> some IntentResult {
                tell(text.map { "\($0) of \(ProviderContext.current?.id ?? "nothing")" })
                return .result()
            }
        }
        let tell: @Sendable (String?) -> Void = { text in calls.withLock { $0.append(text ?? "none") } }
        let replies = try await replies(
            to: call("1", "perform", kind: "flight", #","widget":"w1","action":"checkIn","parameters":{"seat":"7"}"#),
            call("2", "perform", kind: "flight", #","widget":"w1","action":"checkIn","parameters":{"seat":"13"}"#),
            call("3", "perform", kind: "flight", #","widget":"w1","action":"checkIn""#),
            call("4", "perform", kind: "flight", #","widget":"w1","action":"future""#),
            call("5", "perform", #","widget":"w1","action":"refresh","parameters":{"x":1}"#),
            call("6", "perform", #","widget":"w1","action":"mark","parameters":{"as":"done"}"#)
        ) {
            FlightWidget()
            WeatherWidget().body
                .action("refresh", Told(tell: tell, text: nil))
                .action("mark") { Told(tell: tell, text: $0["as"]?.string) }
        }
        #expect(
            replies == [
                #"{"op":"provider.answer","call":"1"}"#,
                #"{"op":"provider.fail","call":"2","message":"there is no row 13"}"#,
                #"{"op":"provider.fail","call":"3","message":"the parameters are no CheckInIntent"}"#,
                #"{"op":"provider.fail","call":"4","message":"there is no action 'future'"}"#,
                #"{"op":"provider.answer","call":"5"}"#,
                #"{"op":"provider.answer","call":"6"}"#,
            ])
        #expect(calls.withLock(\.self) == ["none", "done of w1"])
    }

    @Test func `what timelines throw is told, and what may be retried is said to be`() async throws {
        struct Offline: Error {}
        let replies = try await replies(
            to: call("1", "timeline", Self.family), call("2", "timeline", kind: "other", Self.family),
            call("3", "timeline", kind: "lamp", Self.family)
        ) {
            WeatherWidget(provider: WeatherProvider(timeline: { _ in throw ProviderCallError.retryable("offline") }))
            WeatherWidget(kind: "other", provider: WeatherProvider(timeline: { _ in throw Offline() }))
            LampControl(lamp: Lamp())
        }
        #expect(
            replies == [
                #"{"op":"provider.fail","call":"1","message":"offline","retryable":true}"#,
                #"{"op":"provider.fail","call":"2","message":"Offline()"}"#,
                #"{"op":"provider.fail","call":"3","message":"'lamp' is not declared here"}"#,
            ])
    }

    @Test func `a timeline that nobody waits for is cancelled, with its deadline known`() async throws {
        let (begun, ended) = (Moment(), Moment())
        let remaining = Mutex<Duration?>(nil)
        let provider = WeatherProvider(timeline: { _ in
            remaining.withLock { $0 = ProviderContext.current.map { ContinuousClock.now.duration(to: $0.deadline) } }
            begun.comes()
            defer { ended.comes() }
            try await untilCancelled()
            throw CancellationError()
        })
        try await withFakeService { fake in
            await fake.answerCommands { command, _ in
                command["req"] == nil ? nil : ["ok": .bool(true), "pingLimit": .integer(600_000)]
            }
            let run = ProviderRun(IsletSession(app: "com.example.home", endpoints: fake.endpoints), capacity: 1) {
                WeatherWidget(provider: provider)
            }
            try await run.registered()
            await fake.say(try #require(RawObject(Array(call("1", "timeline", Self.family).utf8))))
            try await within { try await begun.wait() }
            let left = remaining.withLock(\.self)
            #expect(try #require(left) <= .seconds(30))
            await fake.say(["op": .string("provider.cancel"), "call": .string("1"), "reason": .string("timedOut")])
            try await within { try await ended.wait() }
            // The one place is free again, and this call's answer is the first thing that is said.
            await fake.say(try #require(RawObject(Array(call("2", "snapshot", Self.family).utf8))))
            try await within { await fake.wait { $0.received.contains { $0["call"]?.string == "2" } } }
            #expect(await fake.received.allSatisfy { $0["call"]?.string != "1" })
            try await run.stop()
        }
    }

    @Test func `both families are registered again with a service that comes back`() async throws {
        try await withFakeService { fake in
            await fake.answerCommands { command, _ in
                command["req"] == nil ? nil : ["ok": .bool(true), "pingLimit": .integer(600_000)]
            }
            let run = ProviderRun(IsletSession(app: "com.example.home", endpoints: fake.endpoints)) {
                WeatherWidget()
                LampControl(lamp: Lamp())
            }
            try await run.registered()
            try await fake.restartCommands()
            try await run.registered()
            let registrations = await fake.received.filter { $0["op"]?.string == "provider.register" }.map { frame in
                var frame = frame
                frame["req"] = nil
                return frame
            }
            #expect(registrations.count == 2)
            #expect(Set(registrations).count == 1)
            try await run.stop()
        }
    }
}
