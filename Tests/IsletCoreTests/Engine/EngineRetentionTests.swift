import IsletCore
import Testing

@Suite("Engine: retention")
struct EngineRetentionTests {
    private let hour = MachineSample.hour

    @Test(
        "what a long journey of the manual clock dismisses and outlives is told before it is forgotten",
        arguments: [1, 2, 1_000])
    func journey(limit: Int) {
        let rig = EngineRig()
        rig.dating = .whenDue
        let ids = (0..<5).map { _ in rig.started(device: "d", key: nil) }
        rig.pass(48 * hour, limit: limit)
        #expect(rig.told.count { $0.hasPrefix("dismissed") } == 5)
        for id in ids { #expect(rig.record(id) == nil, "12 hours and the retention are over") }
        #expect(rig.engine.devices.count == 0)
        #expect(rig.engine.nextWork() == .never)
    }

    @Test("no retention at all: told, then forgotten")
    func none() {
        var rules = RuleSet.standard
        rules.retention = 0
        let rig = EngineRig(rules)
        let id = rig.started()
        rig.pass(12 * hour)
        #expect(rig.told.last == "dismissed #1 r3 ended>dismissed dismissalPolicy late 0")
        #expect(rig.record(id) == nil)
    }

    @Test("a dismissed one is readable for the retention, to the millisecond, and then its id is free")
    func readable() {
        let rig = EngineRig()
        let id = rig.started(key: "k")
        rig.dismiss(.id(id))
        let handle = rig.get(.id(id)).reference
        rig.pass(24 * hour - 1)
        #expect(rig.get(.id(id)).text == "found" && rig.get(.key("k")).text == "found")
        rig.pass(1)
        #expect(rig.get(.id(id)).text == "notFound" && rig.get(.key("k")).text == "notFound")
        #expect(rig.events.isEmpty, "retention makes no event")
        #expect(handle.map { rig.engine.record($0) == nil } == true)
        let other = rig.started(key: "k")
        #expect(rig.engine.slotCount == 1, "the slot is used again")
        #expect(handle.map { rig.engine.record($0) == nil } == true, "and an old handle does not reach it")
        #expect(rig.get(.key("k")).reference.flatMap { rig.engine.record($0)?.id } == other)
    }

    @Test("the oldest go where there are more than may be kept")
    func maximum() {
        var rules = RuleSet.standard
        rules.maximumRetained = 3
        let rig = EngineRig(rules)
        let ids = (0..<10).map { _ in rig.started() }
        for id in ids { rig.dismiss(.id(id)) }
        rig.settle()
        #expect(ids.map { rig.record($0) != nil } == Array(repeating: false, count: 7) + [true, true, true])
        #expect(rig.engine.countByState == [0, 0, 0, 0, 3])
    }

    @Test("a bounded number is forgotten in a turn")
    func bounded() {
        let rig = EngineRig()
        for _ in 0..<100 { rig.dismiss(.id(rig.started())) }
        rig.now = rig.now + 24 * hour
        #expect(rig.fire(limit: 30) && rig.engine.countByState[4] == 70)
        rig.settle(limit: 30)
        #expect(rig.engine.countByState[4] == 0)
    }

    @Test("a steady coming and going holds the memory where it is")
    func steady() {
        var rules = RuleSet.standard
        rules.retention = 1_000
        let rig = EngineRig(rules)
        rig.isChecked = false
        for round in 0..<20_000 {
            rig.start(device: "d\(round)", key: "k\(round)")
            if round % 3 == 0 { rig.renew(.id(rig.latest)) }
            rig.end(.id(rig.latest), policy: .immediate)
            rig.pass(10)
        }
        rig.pass(1_000)
        #expect(rig.engine.slotCount < 400 && rig.engine.devices.count == 0)
        #expect(rig.engine.armedTimers == 0 && rig.engine.nextWork() == .never)
        rig.follower.check(rig.engine)
    }
}
