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
}
