import IsletCore
import Testing

@Suite("Engine: keys")
struct EngineKeyTests {
    @Test("a key is unique per app and device, and the activities without a device are one more place")
    func places() {
        let rig = EngineRig()
        let home = rig.started(key: "k")
        let onD = rig.started(device: "d", key: "k")
        let onE = rig.started(device: "e", key: "k")
        let other = rig.started("com.b", device: "d", key: "k")
        #expect(rig.start(key: "k").text == "held by #1 r1")
        #expect(rig.start(device: "d", key: "k").text == "held by #2 r1")
        #expect(rig.start("com.b", device: "d", key: "k").text == "held by #4 r1")
        #expect(rig.start(device: "d", key: "kk").text == "applied")
        rig.update(.key("k"), content: "{\"home\":1}")
        rig.update(.key("k", device: "e"), content: "{\"e\":1}")
        #expect(
            rig.content(home) == "{\"home\":1}" && rig.content(onE) == "{\"e\":1}" && rig.content(onD) == "{\"n\":0}")
        #expect(rig.update(.key("k"), "com.b").text == "notFound")
        #expect(rig.update(.key("k", device: "nobody's"), "com.a").text == "notFound")
        #expect(rig.update(.key("K", device: "d"), "com.b").text == "notFound")
        #expect(rig.content(other) == "{\"n\":0}")
    }

    @Test("an ended one gives its key away; while nobody holds it, it leads to the newest that is kept")
    func newestRetained() {
        let rig = EngineRig()
        let first = rig.started(key: "k")
        rig.end(.key("k"))
        #expect(rig.update(.key("k")).text == "ignored ended")
        #expect(rig.renew(.key("k")).text == "notFound", "only an open one is renewed by its key")
        let second = rig.started(key: "k")
        rig.update(.key("k"), content: "{\"second\":1}")
        #expect(rig.content(second) == "{\"second\":1}" && rig.content(first) == "{\"n\":0}")
        rig.end(.key("k"), policy: .immediate)
        #expect(rig.state(second) == .dismissed && rig.state(first) == .ended)
        let reached = rig.get(.key("k")).reference.flatMap { rig.engine.record($0)?.id }
        #expect(reached == second)
        #expect(rig.end(.key("k")).text == "ignored dismissed")
        #expect(rig.update(.key("k")).text == "ignored dismissed")
        rig.pass(40 * MachineSample.hour)
        #expect(rig.get(.key("k")).text == "notFound")
        #expect(rig.start(key: "k").text == "applied")
    }

    @Test("a holder whose 8 hours are over when the start comes gives the key away")
    func dueHolder() {
        let rig = EngineRig()
        rig.start(key: "k")
        rig.now = rig.now + (8 * MachineSample.hour - 1)
        #expect(rig.start(key: "k").text == "held by #1 r1")
        rig.now = rig.now + 1
        #expect(rig.start(key: "k").text == "applied")
        #expect(rig.told == ["ended #1 r2 active>ended activeLimit late 0", "started #3 r1 >active command"])
    }

    @Test("ifExists update: content, dates, relevance and alert change; attributes, style and pushType do not")
    func ifExists() throws {
        let rig = EngineRig()
        let id = rig.started(key: "k")
        let outcome = rig.start(
            attributes: "{\"other\":1}", content: "{\"n\":9}", stale: rig.now + 5, relevance: 4, style: .transient,
            alert: "{}", pushType: "\"token\"", key: "k", updatesExisting: true)
        #expect(outcome.text == "applied" && rig.told == ["updated #1 r2 active>active command"])
        let record = try #require(rig.record(id))
        #expect(record.machine.style == .standard && record.pushTypeRange.isEmpty && rig.relevance(id) == 4)
        #expect(record.machine.staleDate == rig.now + 5 && rig.content(id) == "{\"n\":9}")
        #expect(rig.engine.withBytes(of: record.cold) { $0[record.attributesRange].elementsEqual("{}".utf8) })
        let event = try #require(rig.events.first)
        guard case .inFrame = event.alert else {
            Issue.record("the alert is lost")
            return
        }
    }

    @Test("ifExists update is a start where nobody open holds the key, and an update also with the holder's own id")
    func ifExistsStarts() {
        let rig = EngineRig()
        let id = EntityID(77)
        #expect(rig.start(key: "k", id: id, updatesExisting: true).text == "applied")
        #expect(rig.start(content: "{\"n\":2}", key: "k", id: id, updatesExisting: true).text == "applied")
        #expect(rig.told == ["updated #77 r2 active>active command"])
        #expect(rig.start(content: "{\"n\":2}", key: "k", updatesExisting: true).text == "ignored unchanged")
        #expect(rig.start(key: "k", updatesExisting: true, ifRevision: 9).text == "conflict r2")
        rig.end(.key("k"))
        #expect(rig.start(key: "k", updatesExisting: true).text == "applied")
        #expect(rig.told.first?.hasPrefix("started") == true)
    }

    @Test("muted: for a while after a person dismissed it, on its own device only, and only where the rule is on")
    func muted() {
        var rules = RuleSet.standard
        rules.muteAfterPersonDismissal = 1_000
        let rig = EngineRig(rules)
        rig.start(device: "d", key: "k")
        rig.dismiss(.key("k", device: "d"))
        let until = rig.now + 1_000
        #expect(rig.start(device: "d", key: "k").text == "muted until \(until.milliseconds)")
        #expect(rig.start(device: "d", key: "l").text == "applied")
        #expect(rig.start(device: "e", key: "k").text == "applied")
        rig.pass(999)
        #expect(rig.start(device: "d", key: "k").text == "muted until \(until.milliseconds)")
        rig.pass(1)
        #expect(rig.start(device: "d", key: "k").text == "applied")
        rig.dismiss(.key("k", device: "d"), by: .system)
        #expect(rig.start(device: "d", key: "k").text == "applied", "the system is no person")

        let free = EngineRig()
        free.start(key: "k")
        free.dismiss(.key("k"))
        #expect(free.start(key: "k").text == "applied")
    }

    @Test("an id is taken for as long as the key of its activity is muted, also when that is retained no longer")
    func mutedID() {
        var rules = RuleSet.standard
        rules.muteAfterPersonDismissal = 2 * rules.retention
        let rig = EngineRig(rules)
        let id = EntityID(high: 7, low: 7)
        rig.start(key: "k", id: id)
        rig.dismiss(.id(id))
        rig.pass(rules.retention)
        #expect(rig.get(.id(id)).text == "notFound")
        #expect(rig.start(id: id).text == "reconnectNotPermitted")
        #expect(rig.start("com.b", id: id).text == "reconnectNotPermitted", "ids are of all apps")
        #expect(rig.start(key: "k", id: id).text == "reconnectNotPermitted", "what comes again is not to come later")
        #expect(rig.start(key: "k").text.hasPrefix("muted until"))
        rig.pass(rules.retention - 1)
        #expect(rig.start(id: id).text == "reconnectNotPermitted")
        rig.pass(1)
        #expect(rig.start(id: id).text == "applied")
    }

    @Test("a muted key leads to the newest that is retained, also where the one that a person dismissed is not any more")
    func mutedKeyLeadsToRetained() {
        var rules = RuleSet.standard
        rules.muteAfterPersonDismissal = 2 * rules.retention
        let rig = EngineRig(rules)
        let first = rig.started(key: "k")
        rig.end(.key("k"))
        let second = rig.started(key: "k")
        rig.dismiss(.key("k"))
        #expect(rig.get(.key("k")).reference.flatMap { rig.engine.record($0)?.id } == second)
        rig.pass(rules.retention)
        #expect(rig.get(.id(second)).text == "notFound")
        #expect(rig.get(.key("k")).reference.flatMap { rig.engine.record($0)?.id } == first)
        #expect(rig.update(.key("k")).text == "ignored dismissed")
        #expect(rig.start(key: "k").text.hasPrefix("muted until"))
        rig.pass(rules.dismissalLimit)
        #expect(rig.update(.key("k")).text == "notFound")
    }
}
