import IsletCore
import Testing

@Suite("Engine: renew")
struct EngineRenewTests {
    private let hour = MachineSample.hour

    @Test("the old one ends and goes, the new one starts with the same attributes, key, device and relevance")
    func renew() throws {
        let rig = EngineRig()
        rig.start(
            attributes: "{\"a\":1}", content: "{\"n\":1}", stale: rig.now + hour, relevance: 7, style: .transient,
            pushType: "\"token\"", device: "d", key: "k")
        let old = rig.latest
        rig.now = rig.now + 30 * MachineSample.minute
        #expect(rig.renew(.key("k", device: "d")).text == "applied")
        let new = rig.latest
        #expect(
            rig.told == [
                "ended #1 r2 active>ended renewal", "dismissed #1 r3 ended>dismissed renewal",
                "started #2 r1 >active renewal",
            ])
        #expect(rig.events.map(\.renewalChanged) == [true, false, false])
        #expect(rig.renewal(old)?.renewedBy == new && rig.renewal(old)?.renews == nil)
        #expect(rig.renewal(new)?.renews == old && rig.renewal(new)?.renewedBy == nil)

        let record = try #require(rig.record(new))
        let cold = rig.engine.withBytes(of: record.cold) { [UInt8]($0) }
        #expect(cold[record.attributesRange].elementsEqual("{\"a\":1}".utf8))
        #expect(cold[record.keyRange].elementsEqual("k".utf8))
        #expect(cold[record.pushTypeRange].elementsEqual("\"token\"".utf8))
        #expect(rig.content(new) == "{\"n\":1}" && rig.relevance(new) == 7)
        #expect(record.machine.style == .transient && record.machine.staleDate == .never)
        #expect(record.machine.startedAt == rig.now && record.machine.expiresAt(.standard) == rig.now + 8 * hour)
        #expect(rig.get(.key("k", device: "d")).reference.flatMap { rig.engine.record($0)?.id } == new)
        #expect(rig.engine.entityCount == 1)
    }

    @Test("with content and a stale date of its own, which may have passed already")
    func withContent() {
        let rig = EngineRig()
        let old = rig.started()
        rig.renew(.id(old), content: "{\"new\":1}", stale: rig.now)
        #expect(rig.told.suffix(2) == ["started #2 r1 >active renewal", "stale #2 r2 active>stale staleDate late 0"])
        #expect(rig.content(rig.latest) == "{\"new\":1}")
    }

    @Test("a chain of renewals: the one in the middle knows both sides, until each is forgotten")
    func chain() {
        let rig = EngineRig()
        var ids = [rig.started(key: "k")]
        for _ in 0..<3 {
            rig.pass(7 * hour)
            rig.renew(.key("k"))
            ids.append(rig.latest)
        }
        #expect(rig.renewal(ids[1])?.renews == ids[0] && rig.renewal(ids[1])?.renewedBy == ids[2])
        rig.pass(16 * hour)
        #expect(rig.record(ids[0]) == nil && rig.record(ids[1]) != nil)
        #expect(rig.renewal(ids[1])?.renews == ids[0], "a link is only a name")
        rig.pass(40 * hour)
        // The slots are used again, and nothing of the links is left on them.
        for _ in 0..<4 { rig.start() }
        #expect(rig.engine.slotCount <= 4)
        for slot in 0..<rig.engine.slotCount {
            if let record = rig.engine.record(at: slot) {
                let links = rig.engine.renewal(of: slot, record)
                #expect(links.renews == nil && links.renewedBy == nil)
            }
        }
    }

    @Test("a pending one is cancelled, and its successor starts now")
    func pending() {
        let rig = EngineRig()
        rig.start(on: rig.now + hour)
        rig.renew(.id(rig.latest))
        #expect(rig.told == ["dismissed #1 r2 pending>dismissed renewal", "started #2 r1 >active renewal"])
        #expect(rig.events.last?.alert == ActivityEvent.Alert.none)
        rig.pass(2 * hour)
        #expect(rig.events.isEmpty, "the scheduled start is off")
    }

    @Test("ended and dismissed ones are not renewed")
    func over() {
        let rig = EngineRig()
        let id = rig.started()
        rig.end(.id(id))
        #expect(rig.renew(.id(id)).text == "ignored ended")
        rig.end(.id(id), policy: .immediate)
        #expect(rig.renew(.id(id)).text == "ignored dismissed")
        #expect(rig.renew(.id(EntityID(99))).text == "notFound")
    }
}
