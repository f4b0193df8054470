import IsletCore
import Testing

@Suite("Engine: start, and the order of checks")
struct EngineStartTests {
    /// What a frame of a given size looks like: an object with a string of the right length.
    static func object(_ bytes: Int) -> String { "{\"a\":\"\(String(repeating: "x", count: bytes - 8))\"}" }

    @Test("a start is one event, with all that it has")
    func start() throws {
        let rig = EngineRig()
        #expect(
            rig.start(
                attributes: "{\"a\":1}", content: "{\"c\":2}", stale: rig.now + 5, relevance: 3, style: .transient,
                pushType: "\"token\"", device: "d", key: "k"
            ).text == "applied")
        #expect(rig.told == ["started #1 r1 >active command"])
        let event = try #require(rig.events.first)
        #expect(event.seq == 1 && event.at == rig.now && event.lateBy == nil && event.isByCommand)
        let record = try #require(rig.record(rig.latest))
        #expect(rig.relevance(rig.latest) == 3 && record.machine.style == .transient)
        let cold = rig.engine.withBytes(of: record.cold) { [UInt8]($0) }
        #expect(cold[record.attributesRange].elementsEqual("{\"a\":1}".utf8))
        #expect(cold[record.keyRange].elementsEqual("k".utf8))
        #expect(cold[record.pushTypeRange].elementsEqual("\"token\"".utf8))
        #expect(record.alertRange.isEmpty)
        #expect(rig.content(rig.latest) == "{\"c\":2}")
        #expect(record.device.map { rig.engine.devices.name($0) } == Array("d".utf8))
    }

    @Test("a chosen id is kept; one that exists is refused, also once dismissed, until it is forgotten")
    func chosenID() {
        let rig = EngineRig()
        let id = EntityID(high: 7, low: 7)
        #expect(rig.start(id: id).text == "applied" && rig.state(id) == .active)
        #expect(rig.start(id: id).text == "reconnectNotPermitted")
        #expect(rig.start("com.b", id: id).text == "reconnectNotPermitted", "ids are of all apps")
        rig.dismiss(.id(id))
        #expect(rig.start(id: id).text == "reconnectNotPermitted")
        rig.pass(24 * MachineSample.hour)
        #expect(rig.start(id: id).text == "applied")
        #expect(rig.record(id)?.revision == 1)
    }

    @Test("row 4: a refused start leaves nothing behind")
    func refusedLeavesNothing() {
        let rig = EngineRig()
        #expect(rig.start(content: Self.object(4_095), device: "d", key: "k").text == "attributesTooLarge 4097/4096")
        #expect(rig.events.isEmpty && rig.engine.slotCount == 0 && rig.engine.devices.count == 0)
        #expect(rig.app("com.a") == nil)
        #expect(rig.get(.key("k", device: "d")).text == "notFound")
    }

    @Test(
        "the 4 096 bytes count attributes and content together, exactly",
        arguments: [
            (2, 4_094, true), (2, 4_095, false), (4_000, 96, true), (4_000, 97, false), (4_094, 2, true),
            (4_095, 2, false),
        ])
    func sizeEdge(attributes: Int, content: Int, fits: Bool) {
        func object(_ bytes: Int) -> String { bytes < 8 ? "{}" : Self.object(bytes) }
        let rig = EngineRig()
        let outcome = rig.start(attributes: object(attributes), content: object(content)).text
        #expect(outcome == (fits ? "applied" : "attributesTooLarge \(attributes + content)/4096"))
    }

    @Test("an update, an end and a renewal are measured with the attributes of the start; bytes count, not characters")
    func sizeOfOthers() {
        let rig = EngineRig()
        rig.start(attributes: Self.object(4_000))
        let id = rig.latest
        let wide = "{\"a\":\"\(String(repeating: "é", count: 44))\"}"
        #expect(wide.utf8.count == 96 && wide.count == 52)
        #expect(rig.update(.id(id), content: wide + " ").text == "attributesTooLarge 4097/4096")
        #expect(rig.update(.id(id), content: wide).text == "applied")
        #expect(rig.renew(.id(id), content: Self.object(97)).text == "attributesTooLarge 4097/4096")
        #expect(rig.end(.id(id), content: Self.object(97)).text == "attributesTooLarge 4097/4096")
        #expect(rig.state(id) == .active && rig.content(id) == wide)
        #expect(rig.end(.id(id), content: Self.object(96)).text == "applied")
        #expect(rig.content(id) == Self.object(96))
    }

    @Test("checks of a start: key, id, denied, visibility, size, the app's maximum, the device's, the service's")
    func orderOfStart() {
        var rules = RuleSet.standard
        rules.maximumPerApp = 2
        rules.maximumPerDevice = 2
        rules.maximumEntities = 2
        let rig = EngineRig(rules)
        let first = rig.started(device: "d", key: "k")
        let second = rig.started(device: "d")
        rig.report("d", .appBackground, app: "com.a")
        rig.set(device: "other", enabled: false)
        let big = Self.object(5_000)
        func start(
            key: String? = nil, id: EntityID? = nil, background: Bool? = nil, content: String = "{}", device: String?
        )
            -> String
        {
            let outcome = rig.start(content: content, device: device, key: key, id: id, background: background)
            #expect(rig.events.isEmpty, "a refusal makes no event")
            return outcome.text
        }
        #expect(start(key: "k", id: second, content: big, device: "d") == "held by #1 r1")
        #expect(start(key: "l", id: second, content: big, device: "d") == "reconnectNotPermitted")
        rig.report("other", .appBackground, app: "com.a")
        #expect(start(content: big, device: "other") == "denied")
        #expect(start(content: big, device: "d") == "visibility")
        #expect(start(background: false, content: big, device: "d") == "attributesTooLarge 5002/4096")
        #expect(start(background: false, device: "d") == "targetMaximumExceeded 2")
        #expect(rig.start("com.b", device: "d").text == "globalMaximumExceeded 2")
        #expect(start(background: false, device: "third") == "quotaExceeded 2")
        #expect(rig.app("com.a")?.seq == 2 && rig.state(first) == .active)
    }

    @Test("a maximum of none refuses an app that nobody knows, too")
    func maximumOfNone() {
        var rules = RuleSet.standard
        rules.maximumPerApp = 0
        let rig = EngineRig(rules)
        rig.report("d", .appBackground, app: "com.b")
        #expect(rig.start(device: "d").text == "targetMaximumExceeded 0")
        #expect(rig.start(device: "e").text == "targetMaximumExceeded 0")
    }

    @Test("checks of an update: notFound, ignored, ifRevision, timestamps, size, unchanged")
    func orderOfUpdate() {
        let rig = EngineRig()
        let ended = rig.started()
        rig.end(.id(ended))
        let gone = rig.started()
        rig.dismiss(.id(gone))
        let id = rig.started()
        let big = Self.object(5_000)
        let old = rig.now + -1
        let seq = rig.app("com.a")?.seq
        #expect(rig.update(.id(id), "com.b", content: big, stamped: old, ifRevision: 9).text == "notFound")
        #expect(rig.update(.id(EntityID(999)), content: big, stamped: old, ifRevision: 9).text == "notFound")
        #expect(rig.update(.id(ended), content: big, stamped: old, ifRevision: 9).text == "ignored ended")
        #expect(rig.update(.id(gone), content: big, stamped: old, ifRevision: 9).text == "ignored dismissed")
        #expect(rig.update(.id(id), content: big, stamped: old, ifRevision: 9).text == "conflict r1")
        #expect(rig.update(.id(id), content: big, stamped: old, ifRevision: 1).text == "ignored olderTimestamp")
        let late = rig.now + (8 * MachineSample.hour + 1)
        #expect(rig.update(.id(id), content: big, stamped: late, source: .push).text == "ignored futureTimestamp")
        #expect(rig.update(.id(id), content: big, ifRevision: 1).text == "attributesTooLarge 5002/4096")
        #expect(rig.update(.id(id), content: "{\"n\":0}", ifRevision: 1).text == "ignored unchanged")
        #expect(rig.app("com.a")?.seq == seq, "refused and ignored commands use no sequence number")
        #expect(rig.update(.id(id), ifRevision: 1).text == "applied")
        #expect(rig.told == ["updated #5 r2 active>active command"])
    }

    @Test("checks of an end: notFound, ignored, ifRevision, timestamps, size")
    func orderOfEnd() {
        let rig = EngineRig()
        let id = rig.started()
        let big = Self.object(5_000)
        let old = rig.now + -1
        #expect(rig.end(.id(id), "com.b", content: big, stamped: old, ifRevision: 9).text == "notFound")
        #expect(rig.end(.id(id), content: big, stamped: old, ifRevision: 9).text == "conflict r1")
        #expect(rig.end(.id(id), content: big, stamped: old, ifRevision: 1).text == "ignored olderTimestamp")
        #expect(rig.end(.id(id), content: big, ifRevision: 1).text == "attributesTooLarge 5002/4096")
        #expect(rig.end(.id(id), ifRevision: 1).text == "applied")
        #expect(rig.end(.id(id), content: big, ifRevision: 9).text == "ignored ended")
        #expect(rig.end(.id(id), policy: .immediate, ifRevision: 9).text == "conflict r2")
        #expect(rig.end(.id(id), policy: .immediate, ifRevision: 2).text == "applied")
        #expect(rig.end(.id(id), policy: .immediate, ifRevision: 9).text == "ignored dismissed")
    }

    @Test("ifRevision guards each change of one activity, and what is due comes before it")
    func ifRevision() {
        let rig = EngineRig()
        let id = rig.started(stale: rig.now + 10)
        #expect(rig.dismiss(.id(id), ifRevision: 2).text == "conflict r1")
        #expect(rig.renew(.id(id), ifRevision: 2).text == "conflict r1")
        rig.now = rig.now + 10
        #expect(rig.update(.id(id), ifRevision: 1).text == "conflict r2", "it went stale just before")
        #expect(rig.told == ["stale #1 r2 active>stale staleDate late 0"])
        #expect(rig.update(.id(id), ifRevision: 2).text == "applied")
        #expect(rig.dismiss(.id(id), ifRevision: 3).text == "applied")
    }

    @Test("other endpoints' operations are not the engine's")
    func wrongEndpoint() {
        let rig = EngineRig()
        #expect(rig.send(.servicePing, FrameBuilder()).text == "unavailable wrongEndpoint")
        #expect(rig.send(.clockAdvance(.by(1)), FrameBuilder()).text == "unavailable wrongEndpoint")
    }
}
