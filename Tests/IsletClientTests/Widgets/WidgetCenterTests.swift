import FoundationEssentials
import IsletClient
import Synchronization
import Testing

/// What the centers ask of the service, and how its answers are read.
@Suite(.timeLimit(.minutes(10))) struct WidgetCenterTests {
    /// What commands are sent, without what every one of them has.
    private func sent(
        answer: RawObject, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        var commands: [String] = []
        try await withFakeService { fake in
            await fake.answerCommands { _, _ in answer }
            let session = IsletSession(app: "com.example.home", endpoints: fake.endpoints, options: .patient)
            try await Islet.$session.withValue(session) { try await body() }
            commands = await fake.received.map { command in
                #expect(command["app"]?.string == "com.example.home")
                var command = command
                for name in ["app", "req", "client"] { command[name] = nil }
                return command.description
            }
            await session.close()
        }
        return commands
    }

    @Test func `persons place, configure, tap and remove widgets`() async throws {
        let answer: RawObject = [
            "ok": .bool(true), "outcome": .string("applied"), "seq": .integer(1),
            "widget": .object([.init("id", .string("w1")), .init("revision", .integer(1))]),
        ]
        let center = WidgetCenter.shared
        let commands = try await sent(answer: answer) {
            #expect(try await center.add(kind: "weather", family: .systemSmall) == "w1")
            try await center.add(
                kind: "flight", family: .systemMedium, configuration: FlightIntent(number: "LH200"),
                rendering: WidgetRendering(mode: .accented, supplementalFamily: .small), device: "phone", id: "w2")
            #expect(try await center.configure("w1", configuration: FlightIntent()) == .applied)
            try await center.configure("w1", rendering: WidgetRendering(showsContainerBackground: false))
            try await center.tap("w1")
            try await center.tap("w1", link: "map")
            try await center.tap("w1", action: "checkIn", parameters: ["seat": .string("7")])
            try await center.reloadTimeline(of: "w1")
            try await center.becameVisible("w1")
            try await center.remove("w1")
        }
        #expect(
            commands == [
                #"{"op":"widget.add","kind":"weather","family":"systemSmall"}"#,
                #"{"op":"widget.add","kind":"flight","family":"systemMedium","configuration":{"number":"LH200"},"#
                    + #""rendering":{"mode":"accented","supplementalFamily":"small"},"device":"phone","id":"w2"}"#,
                #"{"op":"widget.configure","id":"w1","configuration":{"number":"LH100"}}"#,
                #"{"op":"widget.configure","id":"w1","rendering":{"showsContainerBackground":false}}"#,
                #"{"op":"widget.tap","id":"w1"}"#,
                #"{"op":"widget.tap","id":"w1","link":"map"}"#,
                #"{"op":"widget.tap","id":"w1","action":"checkIn","parameters":{"seat":"7"}}"#,
                #"{"op":"widget.reload","id":"w1"}"#,
                #"{"op":"widget.visible","id":"w1"}"#,
                #"{"op":"widget.remove","id":"w1"}"#,
            ])
    }

    @Test func `an app reloads and invalidates`() async throws {
        let answer: RawObject = ["ok": .bool(true), "outcome": .string("applied"), "count": .integer(3)]
        let center = WidgetCenter.shared
        let commands = try await sent(answer: answer) {
            let counts = [
                try await center.reloadTimelines(ofKind: "weather"), try await center.reloadAllTimelines(),
                try await center.invalidateConfigurationRecommendations(),
            ]
            #expect(counts == [3, 3, 3])
            let outcome = try await center.invalidateRelevance(ofKind: "weather")
            #expect(outcome == .applied)
        }
        #expect(
            commands == [
                #"{"op":"widget.reload","kind":"weather"}"#, #"{"op":"widget.reload"}"#,
                #"{"op":"widget.invalidateRecommendations"}"#,
                #"{"op":"widget.invalidateRelevance","kind":"weather"}"#,
            ])
    }

    @Test func `all pages of a list are read`() async throws {
        try await withFakeService { fake in
            await fake.answerCommands { command, _ in
                let id = command["cursor"]?.string ?? "a"
                let row = #"[{"id":"\#(id)","kind":"weather","family":"systemSmall"},{"future":true}]"#
                var answer: RawObject = ["ok": .bool(true), "widgets": RawJSON(row) ?? .null]
                answer["next"] = id == "a" ? .string("b") : nil
                return answer
            }
            let session = IsletSession(app: "com.example.home", endpoints: fake.endpoints, options: .patient)
            try await Islet.$session.withValue(session) {
                #expect(try await WidgetCenter.shared.currentConfigurations().map(\.id) == ["a", "b"])
                let told = try await withCheckedThrowingContinuation { continuation in
                    WidgetCenter.shared.getCurrentConfigurations { continuation.resume(with: $0) }
                }
                #expect(told.map(\.id) == ["a", "b"])
            }
            await session.close()
        }
    }

    /// Cursors are of the service's process: after a restart they are refused, and a list begins with its first page.
    @Test(arguments: [1, 2, 3, 4]) func `a list that restarts of the service cut is read anew`(restarts: Int) async throws {
        try await withFakeService { fake in
            let beginnings = Mutex(0)
            await fake.answerCommands { command, _ in
                let cursor = command["cursor"]?.string
                let beginning = beginnings.withLock { number in
                    number += cursor == nil ? 1 : 0
                    return number
                }
                if cursor == "b", beginning <= restarts { return Self.cursorRefusal }
                let id = "\(cursor ?? "a")\(beginning)"
                let row = #"[{"id":"\#(id)","kind":"weather","family":"systemSmall"}]"#
                var answer: RawObject = ["ok": .bool(true), "widgets": RawJSON(row) ?? .null]
                answer["next"] = cursor == nil ? .string("b") : nil
                return answer
            }
            let session = IsletSession(app: "com.example.home", endpoints: fake.endpoints, options: .patient)
            try await Islet.$session.withValue(session) {
                if restarts < ListPages.maximumBeginnings {
                    let read = try await WidgetCenter.shared.currentConfigurations().map(\.id)
                    #expect(read == ["a\(restarts + 1)", "b\(restarts + 1)"])
                } else {
                    let error = await #expect(throws: IsletError.self) {
                        try await WidgetCenter.shared.currentConfigurations()
                    }
                    #expect(error?.code == .badField)
                }
            }
            #expect(beginnings.withLock { $0 } == min(restarts + 1, ListPages.maximumBeginnings))
            await session.close()
        }
    }

    private static let cursorRefusal: RawObject = [
        "ok": .bool(false),
        "error": .object([
            .init("code", .string("badField")), .init("message", .string("no")), .init("retry", .string("never")),
            .init("detail", .object([.init("field", .string("cursor"))])),
        ]),
    ]

    @Test func `persons place, configure, tap, set and remove controls`() async throws {
        let answer: RawObject = [
            "ok": .bool(true), "outcome": .string("ignored"), "reason": .string("unchanged"),
            "control": .object([.init("id", .string("c1")), .init("kind", .string("lamp"))]),
        ]
        let center = ControlCenter.shared
        let commands = try await sent(answer: answer) {
            #expect(try await center.add(kind: "lamp") == "c1")
            try await center.add(kind: "thermostat", configuration: RoomIntent(room: "attic"), device: "d", id: "c2")
            #expect(try await center.configure("c1", configuration: RoomIntent()) == .ignored(reason: "unchanged"))
            try await center.tap("c1")
            try await center.set("c1", isOn: true)
            try await center.reloadControl("c1")
            #expect(try await center.control("c1")?.kind == "lamp")
            try await center.remove("c1")
        }
        #expect(
            commands == [
                #"{"op":"control.add","kind":"lamp"}"#,
                #"{"op":"control.add","kind":"thermostat","configuration":{"room":"attic","scale":"celsius"},"#
                    + #""device":"d","id":"c2"}"#,
                #"{"op":"control.configure","id":"c1","configuration":{"room":"kitchen","scale":"celsius"}}"#,
                #"{"op":"control.tap","id":"c1"}"#,
                #"{"op":"control.set","id":"c1","value":true}"#,
                #"{"op":"control.reload","id":"c1"}"#,
                #"{"op":"control.get","id":"c1"}"#,
                #"{"op":"control.remove","id":"c1"}"#,
            ])
    }

    @Test func `what is not there is nil`() async throws {
        let error: RawObject = [
            "code": .string("notFound"), "message": .string("none"), "retry": .string("never"),
        ]
        _ = try await sent(answer: ["ok": .bool(false), "error": error.json]) {
            let widget = try await WidgetCenter.shared.widget("w1")
            #expect(widget == nil)
            let control = try await ControlCenter.shared.control("c1")
            #expect(control == nil)
        }
    }

    @Test func `an event tells what a person has done`() throws {
        func event(_ name: String, _ rest: String) throws -> StreamEvent {
            let text = #"{"epoch":"e","seq":1,"at":0,"event":"\#(name)","from":"shown","to":"shown"\#(rest)}"#
            return try #require(StreamEvent(topic: "a/widget/flight/w1", bytes: Array(text.utf8)))
        }
        let tapped = try #require(
            try event(
                "widget.tapped",
                #","interaction":{"kind":"flight","family":"systemMedium","configuration":{"number":"LH200"},"#
                    + #""link":"map"},"widget":{"id":"w1","revision":2}"#
            ).interaction)
        #expect([tapped.kind, tapped.link] == ["flight", "map"])
        #expect(tapped.family == .systemMedium)
        #expect(tapped.configuration["number"]?.string == "LH200")
        #expect(tapped.url == nil && tapped.action == nil && tapped.parameters == [:])
        let opened = try event("activity.tapped", #","interaction":{"type":"Order","url":"shop://7"}"#).interaction
        #expect([opened?.kind, opened?.url] == ["Order", "shop://7"])
        #expect(try event("widget.entry", "").interaction == nil)
    }
}
