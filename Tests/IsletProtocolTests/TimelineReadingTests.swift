import IsletCore
import IsletProtocol
import Testing

@Suite("Timelines and other answers of providers of widgets")
struct TimelineReadingTests {
    private static let date: Int64 = 1_763_700_000_000

    /// A timeline, or the mistake as `reason`, `reason index`, with its limit where it has one.
    private func read(
        _ entries: String?, policy: String? = nil, needsLogin: Bool? = nil, family: WidgetFamily = .systemMedium,
        limit: Int = 200
    ) -> (timeline: WidgetTimeline?, frame: [UInt8], mistake: String) {
        let text = "\(entries ?? "")\(policy ?? "")"
        let frame = Array(text.utf8)
        let count = entries?.utf8.count ?? 0
        do {
            let timeline = try TimelineReading.read(
                frame.span, entries: entries == nil ? nil : FrameRange(0..<count),
                policy: policy == nil ? nil : FrameRange(count..<frame.count), needsLogin: needsLogin, family: family,
                limit: limit)
            return (timeline, frame, "ok")
        } catch {
            return (nil, frame, told(error))
        }
    }

    private func told(_ bad: BadTimeline) -> String {
        "\(bad.reason.wireName)" + (bad.index.map { " \($0)" } ?? "") + (bad.limit.map { " of \($0)" } ?? "")
    }

    @Test("entries are read with their relevance, and their bytes are found in the frame")
    func whole() throws {
        let entries = [
            #"{"date":1763700000000,"content":{"a":[1, 2]},"relevance":{"score":0.5,"duration":60000}}"#,
            #"{ "url":"weather:\/\/x", "d\u0061te":1763700000000 }"#,
            #"{"date":1763703600000,"relevance":{"score":7},"links":{"tomorrow":"w://1","day.2":"w://2"},"url":null}"#,
            #"{"date":1763703600001,"relevance":{"score":0,"duration":null},"content":null,"links":null}"#,
        ]
        let (timeline, frame, mistake) = read(
            "[\(entries.joined(separator: " , "))]", policy: #"{"after":1763707200000}"#)
        #expect(mistake == "ok")
        let read = try #require(timeline)
        #expect(read.entries.map(\.date.milliseconds) == [0, 0, 3_600_000, 3_600_001].map { Self.date + $0 })
        #expect(read.entries.map(\.score) == [0.5, nil, 7, 0])
        #expect(read.entries.map(\.duration) == [60_000, 0, 0, 0])
        #expect(read.entries.map { String(decoding: frame[$0.bytes.indices], as: UTF8.self) } == entries)
        #expect(read.policy == .after(Instant(1_763_707_200_000)) && !read.needsLogin)
    }

    @Test("the policy is one of three, or not said")
    func policies() {
        let entry = #"[{"date":1763700000000}]"#
        let cases: [(String?, TimelineReloadPolicy?)] = [
            (nil, nil), ("null", nil), (#""atEnd""#, .atEnd), (#""n\u0065ver""#, .never),
            (#"{ "after" : 1763707200000 }"#, .after(Instant(1_763_707_200_000))),
        ]
        for (policy, expected) in cases {
            let (timeline, _, mistake) = read(entry, policy: policy)
            #expect(mistake == "ok" && timeline?.policy == expected, "\(policy ?? "nil")")
        }
        let wrong = [
            #""soon""#, #""""#, "5", "true", "[]", "{}", #"{"after":null}"#, #"{"after":"1763707200000"}"#,
            #"{"after":1763707200}"#, #"{"after":1763707200000.5}"#, #"{"after":1763707200000,"after":1763707200000}"#,
            #"{"after":1763707200000,"until":1}"#, #"{"before":1763707200000}"#,
        ]
        for policy in wrong { #expect(read(entry, policy: policy).mistake == "badPolicy", "\(policy)") }
    }

    @Test("each bad timeline has its reason, and the place of its entry")
    func mistakes() {
        let good = #"{"date":1763700000000}"#
        func second(_ members: String) -> String { #"[\#(good),{"date":1763700000000,\#(members)}]"# }
        let url = String(repeating: "x", count: 2_049)
        let cases: [(String?, String)] = [
            (nil, "emptyTimeline"), ("[]", "emptyTimeline"),
            ("[\(good),5]", "badEntry 1"), ("[null]", "badEntry 0"), ("[\(good),{}]", "badEntry 1"),
            ("[\(good),{\"date\":null}]", "badEntry 1"), (#"[{"date":"1763700000000"}]"#, "badEntry 0"),
            (#"[{"date":[]}]"#, "badEntry 0"), (second(#""title":"x""#), "badEntry 1"),
            (second(#""date":1763700000000"#), "badEntry 1"), (second(#""content":[]"#), "badEntry 1"),
            (second(#""content":"x""#), "badEntry 1"), (second(#""url":5"#), "badEntry 1"),
            (second(#""url":"\#(url)""#), "badEntry 1"), (second(#""links":[]"#), "badEntry 1"),
            (second(#""links":{"a":1}"#), "badEntry 1"), (second(#""links":{"a b":"x"}"#), "badEntry 1"),
            (second(#""links":{"":"x"}"#), "badEntry 1"), (second(#""links":{"\ud800":"x"}"#), "badEntry 1"),
            (second(#""links":{"a":"x","\u0061":"y"}"#), "badEntry 1"),
            (second(#""links":{"a":"\#(url)"}"#), "badEntry 1"),
            (#"[\#(good),{"date":1763700000}]"#, "implausibleDate 1"), (#"[{"date":-1}]"#, "implausibleDate 0"),
            (#"[{"date":1763700000.25}]"#, "implausibleDate 0"), (#"[{"date":1.7637e12}]"#, "implausibleDate 0"),
            (#"[{"date":1763700000000000}]"#, "implausibleDate 0"),
            (#"[{"date":17637000000000000000000}]"#, "implausibleDate 0"),
            (#"[\#(good),{"date":1763700000002},{"date":1763700000001}]"#, "entriesOutOfOrder 2"),
            (#"[\#(good),{"date":1763699999999}]"#, "entriesOutOfOrder 1"),
            (second(#""relevance":1"#), "badRelevance 1"), (second(#""relevance":{}"#), "badRelevance 1"),
            (second(#""relevance":{"score":null}"#), "badRelevance 1"),
            (second(#""relevance":{"score":"1"}"#), "badRelevance 1"),
            (second(#""relevance":{"score":-0.1}"#), "badRelevance 1"),
            (second(#""relevance":{"score":1e39}"#), "badRelevance 1"),
            (second(#""relevance":{"score":1e999}"#), "badRelevance 1"),
            (second(#""relevance":{"score":1,"duration":-1}"#), "badRelevance 1"),
            (second(#""relevance":{"score":1,"duration":1.5}"#), "badRelevance 1"),
            (second(#""relevance":{"score":1,"duration":9007199254740993}"#), "badRelevance 1"),
            (second(#""relevance":{"score":1,"until":5}"#), "badRelevance 1"),
            (second(#""relevance":{"score":1,"score":1}"#), "badRelevance 1"),
        ]
        for (entries, expected) in cases {
            #expect(read(entries).mistake == expected, "\((entries ?? "nil").prefix(120))")
        }
        // All reasons but the ones below.
        let told = Set(cases.map { $0.1.prefix { $0 != " " } })
        let rest = ["tooManyEntries", "linksNotAllowed", "badPolicy", "needsLoginEntries"]
        #expect(told.union(rest.map { $0[...] }).count == BadTimeline.Reason.allCases.count)
    }

    @Test("there are as many entries as the rule says, and no more")
    func limit() {
        func entries(_ count: Int) -> String {
            "[\((0..<count).map { #"{"date":\#(Self.date + Int64($0))}"# }.joined(separator: ","))]"
        }
        #expect(read(entries(3), limit: 3).timeline?.entries.count == 3)
        #expect(read(entries(4), limit: 3).mistake == "tooManyEntries of 3")
        // Too many are refused before any is looked at.
        #expect(read("[1,2,3,4]", limit: 3).mistake == "tooManyEntries of 3")
    }

    @Test("links are for families that have room for them")
    func links() {
        let entries = #"[{"date":1763700000000},{"date":1763700000000,"links":{"a":"x"}}]"#
        for family in WidgetFamily.allCases {
            let expected = family.allowsLinks ? "ok" : "linksNotAllowed 1"
            #expect(read(entries, family: family).mistake == expected, "\(family.wireName)")
        }
        let url = #"[{"date":1763700000000,"url":"x","links":null}]"#
        #expect(read(url, family: .accessoryInline).mistake == "ok")
        #expect(WidgetFamily.allCases.filter(\.allowsLinks).count == 4)
    }

    @Test("what asks for a login is one entry")
    func login() {
        let one = #"{"date":1763700000000}"#
        let (timeline, _, _) = read("[\(one)]", needsLogin: true)
        #expect(timeline?.needsLogin == true && timeline?.policy == nil)
        #expect(read("[\(one),\(one)]", needsLogin: true).mistake == "needsLoginEntries")
        #expect(read("[]", needsLogin: true).mistake == "emptyTimeline")
        #expect(read("[\(one),\(one)]", needsLogin: false).mistake == "ok")
        #expect(read("[\(one)]", policy: #""atEnd""#, needsLogin: true).timeline?.policy == .atEnd)
    }

    @Test("a snapshot is one entry")
    func snapshots() throws {
        func snapshot(_ text: String, _ family: WidgetFamily = .systemSmall) -> String {
            let frame = Array("xx\(text)".utf8)
            do throws(BadTimeline) {
                let entry = try TimelineReading.readSnapshot(
                    frame.span, entries: FrameRange(2..<frame.count), family: family)
                return String(decoding: frame[entry.bytes.indices], as: UTF8.self)
            } catch {
                return told(error)
            }
        }
        let one = #"{ "date":1763700000000, "content":{} }"#
        #expect(snapshot("[\(one)]") == one)
        #expect(snapshot("[\(one),\(one)]") == "tooManyEntries of 1")
        #expect(snapshot("[]") == "emptyTimeline")
        #expect(snapshot(#"[{"date":5}]"#) == "implausibleDate 0")
        #expect(snapshot(#"[{"date":1763700000000,"links":{}}]"#) == "linksNotAllowed 0")
        #expect(throws: BadTimeline(.emptyTimeline)) {
            try TimelineReading.readSnapshot(Span(), entries: nil, family: .systemSmall)
        }
    }

    @Test("a bad timeline is told with its call, its reason and its place")
    func refusal() throws {
        let frame = Array(#"{"call":"17"}"#.utf8)
        let call = FrameRange(offset: 9, count: 2)
        for reason in BadTimeline.Reason.allCases {
            var writer = JSONWriter()
            writer.refused(Envelope(), frame.span, .badTimeline(call: call, BadTimeline(reason, index: 3, limit: 9)))
            let error = try #require(try TestJSON(writer.copy())["error"])
            #expect(error["code"]?.string == "badAnswer" && error["detail"]?["call"]?.string == "17")
            #expect(error["detail"]?["reason"]?.string == "\(reason)")
            #expect(error["detail"]?["index"]?.integer == 3 && error["detail"]?["limit"]?.integer == 9)
        }
    }

    @Test("what a tap opens stands in the entry")
    func urls() {
        func url(_ entry: String) -> String? {
            EntryReading.url(of: Array(entry.utf8).span).map { String(decoding: $0, as: UTF8.self) }
        }
        func link(_ name: String, _ entry: String) -> String? {
            EntryReading.link(named: Array(name.utf8), of: Array(entry.utf8).span)
                .map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(url(#"{"date":1,"url":"w:\/\/x"}"#) == #""w:\/\/x""#, "byte for byte")
        #expect(url(#"{"\u0075rl":"y"}"#) == #""y""#)
        #expect(url(#"{"date":1}"#) == nil && url(#"{"url":null}"#) == nil && url("") == nil && url("[") == nil)
        #expect(url(#"{"content":{"url":"deeper"}}"#) == nil)
        let entry = #"{"url":"u","links":{"a":"1","\u0062":"2","c.d":"\u2600"}}"#
        #expect(link("a", entry) == #""1""# && link("b", entry) == #""2""# && link("c.d", entry) == #""\u2600""#)
        #expect(link("e", entry) == nil && link("", entry) == nil && link("a", #"{"links":[]}"#) == nil)
        #expect(link("url", entry) == nil)
    }

    // MARK: Recommendations and relevance

    @Test("recommendations have a configuration that fits, and a description")
    func recommendations() throws {
        let json =
            #"{"kind":"T","families":["systemSmall"],"parameters":[{"name":"city","type":"enum","#
            + #""options":[{"value":"berlin"},{"value":"paris"}]}]}"#
        let kind = try WidgetDeclarations.readOne(Array(json.utf8).span)
        func areWell(_ text: String) -> Bool {
            let frame = Array("x\(text)".utf8)
            return RecommendationsReading.areRecommendations(frame.span, at: FrameRange(1..<frame.count), for: kind)
        }
        let one = #"{"configuration":{"city":"paris"},"description":"Paris"}"#
        #expect(areWell("[]") && areWell("[\(one)]") && areWell("[ \(one) , \(one) ]"))
        #expect(areWell("[\(Array(repeating: one, count: 100).joined(separator: ","))]"))
        let wrong = [
            "[\(Array(repeating: one, count: 101).joined(separator: ","))]", "{}", "null", "\"x\"", "[1]", "[{}]", "",
            #"[{"configuration":{"city":"paris"}}]"#, #"[{"description":"Paris"}]"#,
            #"[{"configuration":{"city":"rome"},"description":"Rome"}]"#,
            #"[{"configuration":{},"description":"Nowhere"}]"#,
            #"[{"configuration":"paris","description":"Paris"}]"#,
            #"[{"configuration":{"city":"paris"},"description":5}]"#,
            #"[{"configuration":{"city":"paris"},"description":"\#(String(repeating: "x", count: 257))"}]"#,
            #"[{"configuration":{"city":"paris"},"description":"Paris","score":1}]"#,
            #"[{"configuration":{"city":"paris"},"description":"Paris","description":"Paris"}]"#,
        ]
        for text in wrong { #expect(!areWell(text), "\(text.prefix(100))") }
    }

    @Test("relevance is read in its order")
    func relevance() {
        func read(_ text: String) -> [WidgetRelevance]? {
            let frame = Array("x\(text)".utf8)
            return RelevanceReading.read(frame.span, at: FrameRange(1..<frame.count))
        }
        let from = Instant(1_763_700_000_000)
        let to = Instant(1_763_703_600_000)
        #expect(
            read(
                #"[{"configuration":{ "city":"paris" },"from":1763700000000,"to":1763703600000},{},"#
                    + #"{"from":null,"to":1763703600000},{"from":1763700000000,"to":1763700000000}]"#)
                == [
                    WidgetRelevance(configuration: Array(#"{ "city":"paris" }"#.utf8), from: from, to: to),
                    WidgetRelevance(), WidgetRelevance(to: to), WidgetRelevance(from: from, to: from),
                ])
        #expect(read("[]") == [])
        #expect(read("[\(Array(repeating: "{}", count: 100).joined(separator: ","))]")?.count == 100)
        let wrong = [
            "[\(Array(repeating: "{}", count: 101).joined(separator: ","))]", "{}", "5", "", "[[]]", #"[{"score":1}]"#,
            #"[{"configuration":[]}]"#, #"[{"from":"x"}]"#, #"[{"from":1763700000}]"#, #"[{"to":1.5}]"#,
            #"[{"from":1763703600000,"to":1763700000000}]"#, #"[{"to":1763700000000,"to":1763700000000}]"#,
        ]
        for text in wrong { #expect(read(text) == nil, "\(text.prefix(100))") }
    }
}
