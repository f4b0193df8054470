import FoundationEssentials
import IsletClient
import Testing

/// Timelines as the service gets them, byte for byte, and as entities give them back.
@Suite(.timeLimit(.minutes(10))) struct TimelineCodingTests {
    /// What a provider of this timeline answers.
    private func answer<Entry: TimelineEntry>(
        _ timeline: Timeline<Entry>, placeholder: Entry? = nil
    ) async throws -> String {
        let provider = Fixed(drawn: try #require(placeholder ?? timeline.entries.first), fixed: timeline)
        let call = #"{"call":"1","op":"widget.timeline","kind":"test","widget":"w1","family":"systemMedium"}"#
        return try await replies(to: call) { StaticConfiguration(kind: "test", provider: provider) }[0]
    }

    @Test func `content, relevance, URL and links stand beside each other`() async throws {
        let links = try ["tomorrow": #require(URL(string: "weather://2")), "map": #require(URL(string: "/m"))]
        let entries = [
            WeatherEntry(date: minute(0), degrees: 7),
            WeatherEntry(
                date: minute(10), degrees: -2, relevance: .init(score: 0.1, duration: 90),
                widgetURL: URL(string: "weather://today?a=1&b=%C3%BC"), widgetLinks: links),
            WeatherEntry(date: minute(20), degrees: 0, relevance: .init(score: 3)),
        ]
        #expect(
            try await answer(Timeline(entries: entries, policy: .after(minute(30)))) == #"""
                {"op":"provider.answer","call":"1","entries":[\#
                {"date":1767225600000,"content":{"degrees":7}},\#
                {"date":1767226200000,"content":{"degrees":-2},"relevance":{"score":0.1,"duration":90000},\#
                "url":"weather://today?a=1&b=%C3%BC","links":{"map":"/m","tomorrow":"weather://2"}},\#
                {"date":1767226800000,"content":{"degrees":0},"relevance":{"score":3}}],\#
                "policy":{"after":1767227400000}}
                """#)
    }

    @Test func `the policies and a login entry`() async throws {
        let entry = WeatherEntry(date: minute(0), degrees: 7)
        let json = #""entries":[{"date":1767225600000,"content":{"degrees":7}}]"#
        let head = #"{"op":"provider.answer","call":"1","#
        #expect(try await answer(Timeline(entries: [entry], policy: .atEnd)) == head + json + #","policy":"atEnd"}"#)
        #expect(try await answer(Timeline(entries: [entry], policy: .never)) == head + json + #","policy":"never"}"#)
        #expect(
            try await answer(Timeline.needsLogin(entry)) == head + json + #","policy":"never","needsLogin":true}"#)
        #expect(
            try await answer(Timeline(entries: [], policy: .atEnd), placeholder: entry)
                == #"{"op":"provider.fail","call":"1","message":"the timeline has no entries, and must have one: it may "#
                + #"say that there is nothing to show"}"#)
    }

    @Test func `members of the same names and other meanings stay in the content`() async throws {
        let entry = NewsEntry(date: minute(0), headline: "Rain", relevance: "high", widgetLinks: ["a"])
        #expect(
            try await answer(Timeline(entries: [entry], policy: .atEnd)) == #"""
                {"op":"provider.answer","call":"1","entries":[{"date":1767225600000,"content":{"at":788918400,\#
                "headline":"Rain","relevance":"high","widgetLinks":["a"]}}],"policy":"atEnd"}
                """#)
    }

    @Test func `an entry that is no more than its date has no content`() async throws {
        struct Bare: TimelineEntry { var date: Date }
        #expect(
            try await answer(Timeline(entries: [Bare(date: minute(0))], policy: .never))
                == #"{"op":"provider.answer","call":"1","entries":[{"date":1767225600000}],"policy":"never"}"#)
    }

    @Test(arguments: [Float.nan, .infinity])
    func `a score that is no number fails the call`(score: Float) async throws {
        let entry = WeatherEntry(date: minute(0), degrees: 7, relevance: .init(score: score))
        let reply = try await answer(
            Timeline(entries: [entry], policy: .atEnd), placeholder: WeatherEntry(date: minute(0), degrees: 0))
        #expect(reply == #"{"op":"provider.fail","call":"1","message":"an entry cannot be written as JSON"}"#)
    }

    @Test func `a timeline that fits no frame fails, and is not sent`() async throws {
        let long = String(repeating: "x", count: 1_000)
        let entries = (0..<65).map {
            NewsEntry(date: minute($0), headline: long, relevance: "", widgetLinks: [])
        }
        let reply = try await answer(Timeline(entries: entries, policy: .atEnd))
        #expect(reply.hasPrefix(#"{"op":"provider.fail","call":"1","message":"the answer has "#))
        #expect(reply.hasSuffix(#" bytes, and may have 65000"}"#))
    }

    @Test func `an entity's entry is read as what it was`() async throws {
        let entry = WeatherEntry(
            date: minute(10), degrees: -2, relevance: .init(score: 0.1, duration: 90),
            widgetURL: URL(string: "weather://today"), widgetLinks: try ["map": #require(URL(string: "weather://m"))])
        let news = NewsEntry(date: minute(0), headline: "Rain", relevance: "high", widgetLinks: ["a"])
        try await withFakeService { fake in
            await fake.answerCommands { _, _ in
                let rows = #"""
                    [{"id":"a","kind":"weather","family":"systemMedium","state":"shown","revision":3,"policy":"atEnd",\#
                    "entry":{"date":1767226200000,"content":{"degrees":-2},"relevance":{"score":0.1,"duration":90000},\#
                    "url":"weather://today","links":{"map":"weather://m"}}},\#
                    {"id":"b","kind":"news","family":"systemFuture","state":"future","revision":1,\#
                    "policy":{"after":1767227400000},"needsLogin":true,"isInvalidated":true,"isOnTop":true,\#
                    "rendering":{"mode":"vibrant","showsContainerBackground":false,"levelOfDetail":"future"},\#
                    "configuration":{"number":"LH200"},\#
                    "entry":{"date":1767225600000,"content":{"at":788918400,"headline":"Rain","relevance":"high",\#
                    "widgetLinks":["a"]}}}]
                    """#
                return ["ok": .bool(true), "widgets": RawJSON(rows) ?? .null, "total": .integer(2)]
            }
            let session = IsletSession(app: "com.example.home", endpoints: fake.endpoints)
            let widgets = try await Islet.$session.withValue(session) {
                try await WidgetCenter.shared.currentConfigurations()
            }
            await session.close()
            try #require(widgets.count == 2)
            let (first, second) = (widgets[0], widgets[1])
            #expect(first.entry(as: WeatherEntry.self) == entry)
            #expect(first.entry(as: NewsEntry.self) == nil)
            #expect([first.id, first.kind] == ["a", "weather"])
            #expect(first.family == .systemMedium)
            #expect(first.state == .shown)
            #expect(first.policy == .atEnd)
            #expect(!first.needsLogin && !first.isInvalidated && !first.isOnTop)
            #expect(first.widgetConfigurationIntent(of: FlightIntent.self) == FlightIntent())
            #expect(second.entry(as: NewsEntry.self) == news)
            #expect(second.family == nil)
            #expect(second.state == nil)
            #expect(second.policy == .after(minute(30)))
            #expect(second.needsLogin && second.isInvalidated && second.isOnTop)
            #expect(second.rendering == WidgetRendering(mode: .vibrant, showsContainerBackground: false))
            #expect(second.widgetConfigurationIntent(of: FlightIntent.self) == FlightIntent(number: "LH200"))
        }
    }
}

/// Gives one timeline.
private struct Fixed<Content: TimelineEntry>: TimelineProvider {
    var drawn: Content
    var fixed: Timeline<Content>
    func placeholder(in context: Context) -> Content { drawn }
    func snapshot(in context: Context) async throws -> Content { drawn }
    func timeline(in context: Context) async throws -> Timeline<Content> { fixed }
}
