import IsletCore
import Testing

@Suite("Engine: update, end, heartbeat")
struct EngineUpdateTests {
    private let hour = MachineSample.hour

    @Test("an update that changes nothing is ignored, and does not move the timestamp; each single change counts")
    func unchanged() {
        let rig = EngineRig()
        rig.start(content: "{\"n\":1}", stale: rig.now + hour, relevance: 2)
        let id = rig.latest
        let stale = rig.now + hour
        let started = rig.now
        rig.now = rig.now + 10
        #expect(rig.update(.id(id), content: "{\"n\":1}", stale: stale, relevance: 2).text == "ignored unchanged")
        #expect(rig.record(id)?.machine.timestamp == started && rig.record(id)?.revision == 1 && rig.events.isEmpty)
        #expect(rig.update(.id(id), content: "{\"n\":1} ", stale: stale, relevance: 2).text == "applied")
        #expect(rig.events.first?.contentChanged == true && rig.events.first?.relevanceChanged == false)
        #expect(rig.update(.id(id), content: "{\"n\":1} ", stale: stale + 1, relevance: 2).text == "applied")
        #expect(rig.events.first?.contentChanged == false)
        #expect(rig.update(.id(id), content: "{\"n\":1} ", relevance: 2).text == "applied", "the stale date is cleared")
        #expect(rig.record(id)?.machine.staleDate == .never)
        #expect(rig.update(.id(id), content: "{\"n\":1} ").text == "applied", "no relevance is 0")
        #expect(rig.events.first?.relevanceChanged == true && rig.relevance(id) == 0)
        #expect(rig.update(.id(id), content: "{\"n\":1} ", relevance: 0).text == "ignored unchanged")
        #expect(
            rig.update(.id(id), content: "{\"n\":1} ", alert: "{}").text == "applied", "an alert is shown each time")
        #expect(rig.record(id)?.revision == 6 && rig.record(id)?.machine.timestamp == rig.now)
    }

    @Test("without the rule, an update that changes nothing is an event without content")
    func unchangedCounts() {
        var rules = RuleSet.standard
        rules.ignoresUnchangedUpdates = false
        let rig = EngineRig(rules)
        let id = rig.started()
        #expect(rig.update(.id(id), content: "{\"n\":0}").text == "applied")
        #expect(rig.events.map(\.contentChanged) == [false])
    }

    @Test("an update with a stale date that has passed is two events and two revisions, in the command's time")
    func twoSteps() {
        let rig = EngineRig()
        let id = rig.started()
        rig.update(.id(id), stale: rig.now + -5)
        #expect(
            rig.told == ["updated #1 r2 active>active command", "stale #1 r3 active>stale staleDate late 0"])
        #expect(rig.events.map(\.contentChanged) == [true, false])
        #expect(rig.events.map(\.isByCommand) == [true, true])
    }

    @Test("an end: its content is shown for good, without content the last stays; an ended one takes none")
    func endContent() {
        let rig = EngineRig()
        let id = rig.started()
        rig.end(.id(id), content: "{\"final\":1}", policy: .after(rig.now + hour))
        #expect(rig.events.map(\.contentChanged) == [true] && rig.content(id) == "{\"final\":1}")
        rig.end(.id(id), content: "{\"other\":1}", policy: .immediate)
        #expect(rig.events.map(\.contentChanged) == [false])
        let other = rig.started()
        rig.end(.id(other))
        #expect(rig.content(other) == "{\"n\":0}" && rig.events.map(\.contentChanged) == [false])
    }

    @Test("an immediate end is ended by the command and dismissed by its policy")
    func immediate() {
        let rig = EngineRig()
        rig.end(.id(rig.started()), policy: .immediate)
        #expect(
            rig.told == ["ended #1 r2 active>ended command", "dismissed #1 r3 ended>dismissed dismissalPolicy late 0"])
        #expect(rig.events.map(\.seq) == [2, 3])
    }

    @Test("a dismissed one stays readable without its content, and takes nothing any more (row 41)")
    func dismissed() throws {
        let rig = EngineRig()
        let id = rig.started(device: "d")
        rig.dismiss(.id(id))
        let record = try #require(rig.record(id))
        #expect(rig.get(.id(id)).text == "found" && record.content.count == 0)
        #expect(rig.update(.id(id)).text == "ignored dismissed" && rig.end(.id(id)).text == "ignored dismissed")
        #expect(rig.end(.id(id), policy: .immediate).text == "ignored dismissed")
        #expect(rig.dismiss(.id(id)).text == "ignored dismissed")
        rig.report("d", .uninstall, app: "com.a")
        rig.set(enabled: false)
        #expect(rig.events.isEmpty && rig.record(id)?.revision == 2)
    }

    @Test("heartbeat is refused where no rule asks for it, and does its work where one does")
    func heartbeat() {
        let off = EngineRig()
        #expect(off.heartbeat(.id(off.started())).text == "unavailable ruleOff")

        var rules = RuleSet.standard
        rules.heartbeatStaleAfter = 1_000
        let rig = EngineRig(rules)
        let id = rig.started(key: "k")
        rig.pass(999)
        #expect(rig.heartbeat(.key("k")).text == "applied" && rig.events.isEmpty, "nothing to tell")
        #expect(rig.engine.earliestDeadline() == rig.now + 1_000, "and yet its deadline has moved")
        rig.pass(1_000)
        #expect(rig.told == ["stale #1 r2 active>stale heartbeat late 0"])
        rig.pass(5)
        rig.heartbeat(.id(id))
        #expect(rig.told == ["updated #1 r3 stale>active heartbeat"])
        #expect(rig.heartbeat(.id(id), ifRevision: 9).text == "conflict r3")
        rig.end(.id(id))
        #expect(rig.heartbeat(.id(id)).text == "ignored ended" && rig.heartbeat(.key("k")).text == "notFound")
    }

    @Test("an update that changes nothing is a sign of life all the same, and ends a silence")
    func unchangedIsAlive() {
        var rules = RuleSet.standard
        rules.heartbeatStaleAfter = 1_000
        let rig = EngineRig(rules)
        let id = rig.started()
        rig.pass(600)
        #expect(rig.update(.id(id), content: "{\"n\":0}").text == "ignored unchanged")
        rig.pass(600)
        #expect(rig.events.isEmpty && rig.engine.earliestDeadline() == rig.now + 400)
        rig.pass(400)
        #expect(rig.state(id) == .stale)
        #expect(rig.update(.id(id), content: "{\"n\":0}").text == "applied")
        #expect(rig.told == ["updated #1 r3 stale>active command"])
    }

    @Test("explain remembers what was applied, ignored and refused, who asked, and the newest 32 768 of all")
    func decisions() throws {
        let rig = EngineRig()
        let id = rig.started(stale: rig.now + 5)
        rig.update(.id(id), stamped: rig.now + -1)
        rig.update(.id(id), ifRevision: 5)
        var frame = FrameBuilder()
        var envelope = Envelope()
        envelope.client = EntityID(5)
        let req = String(repeating: "r", count: 64)
        let range: FrameRange = frame.run(req)
        envelope.req = range
        let address = ActivityAddress(app: frame.run("com.a"), target: .id(id))
        _ = rig.send(
            .activityUpdate(ActivityUpdate(address: address, contentState: frame.run("{}"))), frame, envelope)
        let seen = rig.decisions(id)
        #expect(seen.map(\.rule) == [.startedAtOnce, .olderTimestamp, .revisionGuard, .updated])
        #expect(seen[1].outcome == .ignored(.olderTimestamp) && seen[2].outcome == .refused)
        #expect(seen[3].outcome == .applied(name: .updated, seq: 2, revision: 2))
        #expect(seen[3].client == EntityID(5) && seen[3].from == .active && seen[3].to == .active)
        #expect(seen[3].req.withBytes { String(decoding: $0, as: UTF8.self) } == req)
        #expect(seen[2].client == nil && seen[2].req.count == 0)

        let other = rig.started()
        rig.isChecked = false
        for _ in 0..<DecisionLog<Decision>.capacity - 2 { rig.update(.id(other), stamped: rig.now + -1) }
        #expect(rig.decisions(id).map(\.rule) == [.updated], "the oldest went first")
        #expect(rig.decisions(other).count == DecisionLog<Decision>.capacity - 1)
    }
}
