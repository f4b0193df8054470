import IsletClient
import Testing

/// The provider's side of the conversation, without sockets.
@Suite struct ProviderMachineTests {
    /// A machine with a clock and chance of the test's.
    fileprivate struct Rig {
        var now = ContinuousClock.now
        var machine: ProviderMachine
        var random = SystemRandomNumberGenerator()

        init(capacity: Int = 2, grace: Duration = .seconds(5), isRegistered: Bool = true) {
            machine = ProviderMachine(
                id: "me", app: "com.example.home", kinds: [("lamp", .object([]))], capacity: capacity,
                grace: grace, now: now)
            guard isRegistered else { return }
            _ = due()
            _ = receive(#"{"req":"register-1","ok":true,"pingLimit":15000}"#)
        }

        mutating func receive(_ frame: String) -> [String] {
            machine.received(Array(frame.utf8), now: now, using: &random).map(\.text)
        }

        mutating func call(_ id: String) -> [String] {
            receive(#"{"call":"\#(id)","op":"control.value","app":"a","kind":"lamp","control":"c","within":900}"#)
        }

        mutating func due() -> [String] { machine.due(now: now, using: &random).map(\.text) }

        mutating func pass(_ span: Duration) -> [String] {
            now += span
            return due()
        }

        /// The calls that begin now.
        mutating func begin() -> [ProviderCall] {
            machine.begin().compactMap { effect in
                guard case .begin(let call) = effect else { return nil }
                return call
            }
        }

        mutating func finish(_ call: ProviderCall, with value: RawJSON = .bool(true)) -> [String] {
            machine.finished(call, .answer(["value": value]), now: now).map(\.text)
        }

        mutating func disconnect() -> [String] { machine.disconnected(now: now, using: &random).map(\.text) }
        mutating func stop() -> [String] { machine.stop(now: now).map(\.text) }

        /// The service answers a goodbye on the first connection, or on the second.
        mutating func answerGoodbye() -> [String] {
            receive(#"{"req":"leave-1","ok":true}"#) + receive(#"{"req":"leave-2","ok":true}"#)
        }
    }

    private static let drain = #"send {"op":"provider.drain","req":"drain-1","provider":"me"}"#
    private static let drained = #"{"req":"drain-1","ok":true}"#
    private static let leave = #"send {"op":"provider.leave","req":"leave-1","provider":"me"}"#

    @Test func `it registers, and answers pings`() {
        var rig = Rig(isRegistered: false)
        #expect(
            rig.due() == [
                #"register {"op":"provider.register","req":"register-1","app":"com.example.home","#
                    + #""provider":"me","kinds":[{}],"capacity":2}"#
            ])
        #expect(rig.due() == [])
        #expect(rig.receive(#"{"req":"register-1","ok":true,"pingLimit":9000}"#) == ["registered"])
        #expect(rig.receive(#"{"op":"provider.ping","at":1}"#) == [#"send {"op":"provider.pong","provider":"me"}"#])
        #expect(rig.pass(.milliseconds(8_999)) == [])
        #expect(rig.pass(.milliseconds(1)) == ["lost the service is silent", "reconnect"])
    }

    @Test func `at most so many calls as its capacity begin, others wait, and more are failed`() {
        var rig = Rig(capacity: 2)
        #expect(rig.call("1") == [])
        #expect(rig.call("2") == [])
        #expect(
            rig.call("3") == [
                #"send {"op":"provider.fail","provider":"me","call":"3","message":"all places are taken","#
                    + #""retryable":true}"#
            ])
        let begun = rig.begin()
        #expect(begun.map(\.id) == ["1", "2"])
        #expect(rig.call("4") == [])
        #expect(rig.begin().isEmpty)
        #expect(
            rig.finish(begun[0]) == [#"send {"op":"provider.answer","provider":"me","call":"1","value":true}"#])
        #expect(rig.begin().map(\.id) == ["4"])
    }

    @Test func `an answer that the service could not read is a failure at once`() throws {
        var rig = Rig()
        _ = rig.call("1")
        _ = rig.call("2")
        let begun = rig.begin()
        var value = RawJSON.bool(true)
        for _ in 0..<64 { value = .array([value]) }
        #expect(rig.finish(begun[0], with: value).first?.hasPrefix(#"send {"op":"provider.answer""#) == true)
        #expect(
            rig.finish(begun[1], with: .array([value])) == [
                #"send {"op":"provider.fail","provider":"me","call":"2","#
                    + #""message":"the answer nests deeper than 64 objects and arrays"}"#
            ])
    }

    @Test func `a call is read with what it is about`() throws {
        var rig = Rig()
        _ = rig.receive(
            #"{"call":"7","op":"control.perform","app":"a","kind":"lamp","control":"c","configuration":{"x":1},"#
                + #""device":"d","attempt":2,"within":1500,"value":true}"#)
        let call = try #require(rig.begin().first)
        #expect(call.purpose == .control(.perform(value: true)))
        #expect([call.app, call.kind, call.instance, call.device] == ["a", "lamp", "c", "d"])
        #expect(call.configuration == ["x": .integer(1)])
        #expect(call.attempt == 2)
        #expect(call.deadline == rig.now + .milliseconds(1_500))
    }

    @Test func `a call of a widget is read with its family, its rendering and the service's time`() throws {
        var rig = Rig()
        _ = rig.receive(
            #"{"call":"7","op":"widget.timeline","app":"a","kind":"weather","widget":"w","family":"systemLarge","#
                + #""configuration":{"x":1},"rendering":{"mode":"vibrant"},"device":"d","now":1767225600000,"#
                + #""attempt":2,"within":1500}"#)
        let call = try #require(rig.begin().first)
        let context = TimelineProviderContext(
            family: .systemLarge, now: minute(0), id: "w", device: "d", rendering: WidgetRendering(mode: .vibrant))
        #expect(call.purpose == .widget(.timeline(context)))
        #expect([call.app, call.kind, call.instance, call.device] == ["a", "weather", "w", "d"])
        #expect(call.configuration == ["x": .integer(1)])
        #expect(call.family == .systemLarge)
        #expect(call.now == 1_767_225_600_000)
    }

    @Test(arguments: [
        (#""control.options","parameter":"p""#, .control(.options(parameter: "p", .suggestedEntities))),
        (
            #""widget.options","parameter":"p","query":"suggestedEntities""#,
            .widget(.options(parameter: "p", .suggestedEntities))
        ),
        (
            #""widget.options","parameter":"p","query":"entitiesFor","identifiers":["a","b"]"#,
            .widget(.options(parameter: "p", .entities(identifiers: ["a", "b"])))
        ),
        (
            #""control.options","parameter":"p","query":"defaultResult""#,
            .control(.options(parameter: "p", .defaultResult))
        ),
        (
            #""widget.snapshot","family":"accessoryInline","isPreview":true,"now":1767225600000"#,
            .widget(.snapshot(TimelineProviderContext(family: .accessoryInline, isPreview: true, now: minute(0))))
        ),
        (
            #""widget.perform","action":"go","parameters":{"a":1}"#,
            .widget(.perform(action: "go", parameters: ["a": .integer(1)]))
        ),
        (#""widget.perform","action":"go""#, .widget(.perform(action: "go", parameters: [:]))),
        (#""widget.recommendations""#, .widget(.recommendations)),
        (#""widget.relevance""#, .widget(.relevance)),
    ] as [(String, ProviderCall.Purpose)])
    func `what is wanted is read`(members: String, purpose: ProviderCall.Purpose) throws {
        var rig = Rig()
        _ = rig.receive(#"{"call":"1","kind":"k","op":\#(members)}"#)
        #expect(try #require(rig.begin().first).purpose == purpose)
    }

    @Test(arguments: [
        #"{"op":"control.options","call":"1","kind":"lamp"}"#, #"{"op":"widget.timeline","call":"1","kind":"lamp"}"#,
        #"{"op":"widget.timeline","call":"1","kind":"lamp","family":"systemFuture"}"#,
        #"{"op":"widget.perform","call":"1","kind":"lamp"}"#, #"{"op":"widget.options","call":"1","kind":"lamp"}"#,
        #"{"op":"widget.options","call":"1","kind":"lamp","parameter":"p","query":"future"}"#,
    ])
    func `a call that cannot be read fails at once`(frame: String) {
        var rig = Rig()
        let said = rig.receive(frame)
        #expect(said.count == 1 && said[0].hasPrefix(#"send {"op":"provider.fail","provider":"me","call":"1""#))
        #expect(rig.begin().isEmpty)
    }

    @Test func `a registration that the service cannot read ends it`() {
        var rig = Rig(isRegistered: false)
        _ = rig.due()
        let refusal = #"{"ok":false,"error":{"code":"badMessage","message":"too long","retry":"never"}}"#
        #expect(rig.receive(refusal).contains { $0.contains("badMessage") || $0.contains("too long") })
        #expect(rig.machine.nextWakeUp == nil)
    }

    @Test func `kinds of both families are registered together, or those that there are`() {
        func registration(kinds: [ProviderMachine.Declaration], widgets: [ProviderMachine.Declaration]) -> String {
            var rig = Rig(isRegistered: false)
            rig.machine = ProviderMachine(
                id: "me", app: "a", kinds: kinds, widgets: widgets, capacity: 1, grace: .zero, now: rig.now)
            return rig.due().first ?? ""
        }
        let (lamp, weather) = (("lamp", RawJSON.integer(1)), ("weather", RawJSON.integer(2)))
        #expect(
            registration(kinds: [lamp], widgets: [weather]).hasSuffix(
                #""provider":"me","kinds":[1],"widgets":[2],"capacity":1}"#))
        #expect(
            registration(kinds: [], widgets: [weather]).hasSuffix(#""provider":"me","widgets":[2],"capacity":1}"#))
    }

    @Test func `who has widgets asks how many entries a timeline may have, and knows the usual before`() {
        var rig = Rig(isRegistered: false)
        rig.machine = ProviderMachine(
            id: "me", app: "a", kinds: [], widgets: [("weather", .integer(2))], capacity: 9, grace: .zero, now: rig.now)
        #expect(rig.due().last == #"send {"op":"service.info","req":"rules-1"}"#)
        var last = 0
        func entries(after answer: String) -> Int? {
            _ = rig.receive(answer)
            last += 1
            _ = rig.receive(
                #"{"call":"\#(last)","op":"widget.timeline","kind":"weather","widget":"w","family":"systemSmall"}"#)
            return rig.begin().first?.maximumEntries
        }
        #expect(entries(after: #"{"req":"register-1","ok":true}"#) == 256)
        #expect(entries(after: #"{"req":"rules-1","ok":true,"info":{"ruleSet":{"maximumTimelineEntries":3}}}"#) == 3)
        #expect(entries(after: #"{"req":"rules-1","ok":false,"error":{"code":"unavailable","message":"m"}}"#) == 256)
        #expect(entries(after: #"{"req":"rules-1","ok":true}"#) == 256)
    }

    @Test func `a call that came together with its end never begins`() {
        var rig = Rig()
        _ = rig.call("1")
        #expect(rig.receive(#"{"op":"provider.cancel","call":"1","reason":"timedOut"}"#) == [])
        #expect(rig.begin().isEmpty)
        // Not even where the end stood before it.
        _ = rig.receive(#"{"op":"provider.cancel","call":"2","reason":"timedOut"}"#)
        _ = rig.call("2")
        #expect(rig.begin().isEmpty)
    }

    @Test func `a call that comes twice begins once`() {
        var rig = Rig()
        _ = rig.call("1")
        #expect(rig.begin().count == 1)
        _ = rig.call("1")
        #expect(rig.begin().isEmpty)
    }

    @Test func `a cancelled call keeps its place until its handler ends, and nothing is said of it`() {
        var rig = Rig(capacity: 1)
        _ = rig.call("1")
        let begun = rig.begin()
        #expect(rig.receive(#"{"op":"provider.cancel","call":"1","reason":"superseded"}"#) == ["cancel 1"])
        _ = rig.call("2")
        #expect(rig.begin().isEmpty)
        #expect(rig.finish(begun[0]) == [])
        #expect(rig.begin().map(\.id) == ["2"])
    }

    @Test func `a lost connection cancels calls and leads to a new registration`() throws {
        var rig = Rig()
        _ = rig.call("1")
        let begun = rig.begin()
        _ = rig.call("2")
        #expect(rig.disconnect() == ["cancel 1", "lost disconnected"])
        // What was still on its way is of the old connection.
        #expect(rig.call("3") == [])
        #expect(rig.begin().isEmpty)
        #expect(rig.finish(begun[0]) == [])
        let again = rig.pass(.milliseconds(200))
        #expect(again.count == 1)
        #expect(again.first?.contains(#""req":"register-2","app":"com.example.home","provider":"me""#) == true)
        #expect(rig.receive(#"{"req":"register-1","ok":true}"#) == [])
        #expect(rig.receive(#"{"req":"register-2","ok":true}"#) == ["registered"])
        // The ids of the new connection may be those of the old one.
        _ = rig.call("1")
        #expect(rig.begin().map(\.id) == ["1"])
    }

    @Test func `a call that overtakes the answer to the registration begins with it`() {
        var rig = Rig(isRegistered: false)
        _ = rig.due()
        _ = rig.call("1")
        #expect(rig.begin().isEmpty)
        _ = rig.receive(#"{"req":"register-1","ok":true}"#)
        #expect(rig.begin().map(\.id) == ["1"])
    }

    @Test func `it waits as long as a busy service says, and longer each time that nothing comes of it`() {
        var rig = Rig(isRegistered: false)
        _ = rig.due()
        let busy =
            #"{"req":"register-1","ok":false,"error":{"code":"busy","message":"m","retry":"later","#
            + #""retryAfter":60000}}"#
        #expect(rig.receive(busy) == ["refused busy"])
        #expect(rig.pass(.milliseconds(59_999)) == [])
        #expect(rig.pass(.milliseconds(1)).count == 1)
        #expect(rig.pass(ProviderMachine.registrationLimit) == ["lost no answer to the registration", "reconnect"])
        #expect(rig.pass(.milliseconds(199)) == [])
        #expect(rig.pass(.milliseconds(201)).count == 1)
    }

    @Test func `a refusal for good ends it`() {
        var rig = Rig(isRegistered: false)
        _ = rig.due()
        let refusal = #"{"req":"register-1","ok":false,"error":{"code":"badField","message":"m","retry":"never"}}"#
        #expect(rig.receive(refusal) == ["end badField"])
        #expect(rig.pass(.seconds(100)) == [])
    }

    @Test func `a conflict with one that was killed passes`() {
        var rig = Rig(isRegistered: false)
        _ = rig.due()
        #expect(rig.receive(Self.conflict(1)) == ["refused conflict"])
        #expect(rig.pass(.milliseconds(99)) == [])
        #expect(rig.pass(.milliseconds(101)).count == 1)
        #expect(rig.receive(Self.conflict(2)) == ["refused conflict"])
        #expect(rig.pass(.milliseconds(400)).count == 1)
        #expect(rig.receive(#"{"req":"register-3","ok":true,"pingLimit":15000}"#) == ["registered"])
        // Another one much later has its own time.
        _ = rig.pass(ProviderMachine.conflictLimit) + rig.pass(.milliseconds(200))
        #expect(rig.receive(Self.conflict(4)) == ["refused conflict"])
    }

    @Test func `a conflict that stays ends it once whoever was killed would have been found`() {
        var rig = Rig(isRegistered: false)
        _ = rig.due()
        #expect(rig.receive(Self.conflict(1)) == ["refused conflict"])
        #expect(rig.pass(ProviderMachine.conflictLimit - .milliseconds(1)).count == 1)
        #expect(rig.receive(Self.conflict(2)) == ["refused conflict"])
        #expect(rig.pass(.seconds(10)).count == 1)
        #expect(rig.receive(Self.conflict(3)) == ["end conflict"])
        #expect(rig.pass(.seconds(100)) == [])
    }

    private static func conflict(_ registration: Int) -> String {
        #"{"req":"register-\#(registration)","ok":false,"error":{"code":"conflict","message":"m","retry":"refresh"}}"#
    }

    @Test func `one that was dropped, or is not known, registers again on a new connection`() {
        var rig = Rig()
        #expect(
            rig.receive(#"{"op":"provider.dropped","provider":"me","reason":"silent"}"#)
                == ["lost dropped by the service: silent", "reconnect"])
        rig = Rig()
        #expect(
            rig.receive(#"{"ok":false,"error":{"code":"notFound","message":"m","detail":{"call":"9"}}}"#)
                == ["lost the service does not know this provider", "reconnect"])
        rig = Rig()
        #expect(
            rig.receive(#"{"ok":false,"error":{"code":"unknownCall","message":"m","detail":{"call":"9"}}}"#)
                == ["answer refused unknownCall"])
    }

    @Test func `a stop lets calls at work end, fails those that wait, and says goodbye`() {
        var rig = Rig(capacity: 1)
        _ = rig.call("1")
        let begun = rig.begin()
        _ = rig.call("2")
        #expect(
            rig.stop() == [
                Self.drain,
                #"send {"op":"provider.fail","provider":"me","call":"2","message":"the provider is stopping","#
                    + #""retryable":true}"#,
            ])
        #expect(rig.call("3").first?.contains("stopping") == true)
        #expect(rig.receive(Self.drained) == [])
        #expect(
            rig.finish(begun[0])
                == [#"send {"op":"provider.answer","provider":"me","call":"1","value":true}"#, Self.leave])
        #expect(rig.receive(#"{"req":"leave-1","ok":true}"#) == ["end"])
    }

    /// An action that comes.
    private static func perform(_ call: String) -> String {
        #"{"call":"\#(call)","op":"control.perform","app":"a","kind":"lamp","control":"c","within":900,"value":true}"#
    }

    @Test func `an action begins though handlers that nobody waits for keep the places of all else`() {
        var rig = Rig(capacity: 1)
        _ = rig.call("1")
        let begun = rig.begin()
        #expect(rig.receive(#"{"op":"provider.cancel","call":"1","reason":"timedOut"}"#) == ["cancel 1"])
        _ = rig.receive(Self.perform("2"))
        let action = rig.begin()
        #expect(action.map(\.id) == ["2"])
        #expect(rig.finish(action[0]).count == 1)
        // What it may have changed is asked for, and has no place yet.
        _ = rig.call("3")
        #expect(rig.begin().isEmpty)
        _ = rig.finish(begun[0])
        #expect(rig.begin().map(\.id) == ["3"])
    }

    @Test func `an action that crossed a stop is performed before the goodbye`() {
        var rig = Rig(capacity: 1)
        _ = rig.receive(Self.perform("1"))
        let first = rig.begin()
        // Its place is taken yet.
        _ = rig.receive(Self.perform("2"))
        #expect(rig.stop() == [Self.drain])
        #expect(rig.finish(first[0]).count == 1)
        let second = rig.begin()
        #expect(second.map(\.id) == ["2"])
        #expect(rig.receive(Self.perform("3")) == [])
        #expect(rig.receive(Self.drained) == [])
        #expect(rig.finish(second[0]).count == 1)
        let third = rig.begin()
        #expect(
            rig.finish(third[0])
                == [#"send {"op":"provider.answer","provider":"me","call":"3","value":true}"#, Self.leave])
    }

    @Test func `what is asked while it stops goes to others, and what comes behind the answer does not begin`() {
        var rig = Rig()
        _ = rig.receive(Self.perform("1"))
        let begun = rig.begin()
        #expect(rig.stop() == [Self.drain])
        #expect(rig.call("2").first?.contains(#""retryable":true"#) == true)
        #expect(rig.receive(Self.drained) == [])
        #expect(rig.receive(Self.perform("3")).first?.contains("stopping") == true)
        #expect(rig.begin().isEmpty)
        #expect(rig.finish(begun[0]).last == Self.leave)
    }

    @Test func `a drain that nobody answers is not waited for any longer than a goodbye`() {
        var rig = Rig()
        #expect(rig.stop() == [Self.drain])
        #expect(rig.pass(ProviderMachine.goodbyeLimit - .milliseconds(1)) == [])
        #expect(rig.pass(.milliseconds(1)) == [Self.leave])
        #expect(rig.pass(ProviderMachine.goodbyeLimit) == ["end"])
    }

    @Test func `a drain that nobody answers is not waited for any longer than the grace`() {
        var rig = Rig(grace: .milliseconds(100))
        #expect(rig.stop() == [Self.drain])
        #expect(rig.pass(.milliseconds(99)) == [])
        #expect(rig.pass(.milliseconds(1)) == [Self.leave])
    }

    @Test func `a drain that the service refuses, since it does not know this provider, ends it`() {
        var rig = Rig()
        _ = rig.stop()
        let refusal = #"{"req":"drain-1","ok":false,"error":{"code":"notFound","message":"m","retry":"never"}}"#
        #expect(rig.receive(refusal) == ["end"])
    }

    @Test func `an action that crossed a stop and was cancelled does not hold it up`() {
        var rig = Rig()
        _ = rig.stop()
        #expect(rig.receive(Self.perform("1")) == [])
        #expect(rig.receive(Self.drained) == [])
        #expect(rig.receive(#"{"op":"provider.cancel","call":"1","reason":"timedOut"}"#) == [Self.leave])
    }

    @Test func `an action that comes with the answer to a registration that crossed a stop is performed`() {
        var rig = Rig(isRegistered: false)
        _ = rig.due()
        _ = rig.receive(Self.perform("1"))
        #expect(rig.stop() == [Self.drain])
        #expect(rig.receive(#"{"req":"register-1","ok":true}"#) == [])
        _ = rig.receive(Self.perform("2"))
        let begun = rig.begin()
        #expect(begun.map(\.id) == ["1", "2"])
        #expect(rig.receive(Self.drained) == [])
        #expect(rig.finish(begun[0]).count == 1)
        #expect(rig.finish(begun[1]).last == Self.leave)
    }

    @Test func `a stop waits for a handler whose call was given up, and no longer`() {
        var rig = Rig()
        _ = rig.call("1")
        _ = rig.call("2")
        let begun = rig.begin()
        _ = rig.stop()
        #expect(rig.receive(#"{"op":"provider.cancel","call":"1","reason":"timedOut"}"#) == ["cancel 1"])
        #expect(rig.receive(#"{"op":"provider.cancel","call":"2","reason":"timedOut"}"#) == ["cancel 2"])
        #expect(rig.receive(Self.drained) == [])
        #expect(rig.finish(begun[0]) == [])
        #expect(rig.finish(begun[1]) == [Self.leave])
    }

    @Test func `a stop does not wait longer than the grace, nor for a goodbye that nobody answers`() {
        var rig = Rig()
        _ = rig.call("1")
        _ = rig.begin()
        _ = rig.stop()
        #expect(rig.pass(.milliseconds(4_999)) == [])
        #expect(rig.pass(.milliseconds(1)) == ["cancel 1", Self.leave])
        #expect(rig.pass(ProviderMachine.goodbyeLimit) == ["end"])
    }

    @Test func `a stop without a connection ends at once`() {
        var rig = Rig()
        _ = rig.disconnect()
        #expect(rig.stop() == ["end"])
        rig = Rig()
        #expect(rig.stop() == [Self.drain])
        #expect(rig.receive(Self.drained) == [Self.leave])
        #expect(rig.disconnect() == ["end"])
    }

    @Test func `a stop without a connection waits for the handlers at work, and no longer than the grace`() {
        var rig = Rig()
        _ = rig.call("1")
        let begun = rig.begin()
        #expect(rig.disconnect() == ["cancel 1", "lost disconnected"])
        #expect(rig.stop() == [])
        #expect(rig.finish(begun[0]) == ["end"])

        rig = Rig()
        _ = rig.call("1")
        _ = rig.begin()
        _ = rig.stop()
        _ = rig.pass(.seconds(2))
        #expect(rig.disconnect() == ["cancel 1"])
        #expect(rig.pass(.milliseconds(2_999)) == [])
        #expect(rig.pass(.milliseconds(1)) == ["end"])
    }

    /// Where an end finds handlers at work.
    enum Place: CaseIterable, Sendable {
        case resting, registering, refused, registered, givenUp, halfGivenUp

        /// Begins the handlers, and gives their calls.
        fileprivate func reach(_ rig: inout Rig) -> [ProviderCall] {
            _ = rig.call("1")
            if self == .halfGivenUp { _ = rig.call("2") }
            let begun = rig.begin()
            switch self {
            case .registered: break
            case .givenUp: _ = rig.receive(#"{"op":"provider.cancel","call":"1","reason":"timedOut"}"#)
            case .halfGivenUp: _ = rig.receive(#"{"op":"provider.cancel","call":"2","reason":"timedOut"}"#)
            case .resting: _ = rig.disconnect()
            case .registering: _ = rig.disconnect() + rig.pass(.milliseconds(200))
            case .refused:
                _ = rig.disconnect() + rig.pass(.milliseconds(200))
                let refusal =
                    #"{"req":"register-2","ok":false,"error":{"code":"badField","message":"m","retry":"never"}}"#
                #expect(!rig.receive(refusal).contains { $0.hasPrefix("end") })
            }
            return begun
        }
    }

    /// What comes after a stop.
    enum Sequel: CaseIterable, Sendable {
        case nothing, disconnected, dropped, unknown, goodbye

        fileprivate func come(to rig: inout Rig) -> [String] {
            switch self {
            case .nothing: []
            case .disconnected: rig.disconnect()
            case .dropped: rig.receive(#"{"op":"provider.dropped","provider":"me","reason":"silent"}"#)
            case .unknown: rig.receive(#"{"ok":false,"error":{"code":"notFound","message":"m","retry":"never"}}"#)
            case .goodbye: rig.answerGoodbye()
            }
        }
    }

    @Test(arguments: Place.allCases, Sequel.allCases)
    func `an end waits for the handlers at work wherever it finds them, and no longer than the grace`(
        place: Place, sequel: Sequel
    ) {
        func isEnd(_ effect: String) -> Bool { effect.hasPrefix("end") }
        var rig = Rig()
        let begun = place.reach(&rig)
        let end = place == .refused ? "end badField" : "end"
        #expect(!(rig.stop() + sequel.come(to: &rig)).contains(where: isEnd))
        #expect(!(rig.pass(ProviderMachine.goodbyeLimit) + rig.answerGoodbye()).contains(where: isEnd))

        var slow = rig
        var said: [String] = []
        for call in begun {
            #expect(!said.contains(where: isEnd))
            said += rig.finish(call) + rig.answerGoodbye()
        }
        #expect(said.last == end)

        #expect(!slow.pass(.milliseconds(3_999)).contains(where: isEnd))
        said = slow.pass(.milliseconds(1)) + slow.answerGoodbye()
        #expect(said.last == end)
    }

    @Test(arguments: [
        "", "[]", "nonsense", "{}", #"{"op":"control.future","call":"1","kind":"lamp"}"#, #"{"op":"provider.cancel"}"#,
        #"{"op":"control.value"}"#, #"{"req":"x","ok":true}"#,
        #"{"op":"provider.cancel","call":"unknown"}"#, #"{"op":7}"#,
        #"{"op":"provider.dropped","provider":"another","reason":"silent"}"#,
    ])
    func `what it does not know is passed over`(frame: String) {
        var rig = Rig()
        #expect(rig.receive(frame) == [])
        #expect(rig.begin().isEmpty)
    }
}

extension ProviderMachine.Effect {
    /// In short.
    fileprivate var text: String {
        switch self {
        case .register(let frame): "register " + String(decoding: frame, as: UTF8.self)
        case .send(let frame): "send " + String(decoding: frame, as: UTF8.self)
        case .reconnect: "reconnect"
        case .begin(let call): "begin \(call.id)"
        case .cancel(let number): "cancel \(number)"
        case .tell(.registered): "registered"
        case .tell(.connectionLost(let reason)): "lost \(reason)"
        case .tell(.registrationRefused(let error)): "refused \(error.code.name)"
        case .tell(.answerRefused(let error)): "answer refused \(error.code.name)"
        case .tell(.callFailed(let kind, _, _)): "failed \(kind)"
        case .end(let error): error.map { "end \($0.code?.name ?? "?")" } ?? "end"
        }
    }
}
