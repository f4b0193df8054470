import IsletCore
import Testing

@Suite("Engine: maxima")
struct EngineMaximaTests {
    private let hour = MachineSample.hour

    @Test("five of an app and twenty of all on a device; without a device there is no maximum")
    func maxima() {
        let rig = EngineRig()
        for app in ["com.a", "com.b", "com.c", "com.d"] {
            for _ in 0..<5 { #expect(rig.start(app, device: "d").text == "applied") }
            #expect(rig.start(app, device: "d").text == "targetMaximumExceeded 5")
        }
        #expect(rig.start("com.e", device: "d").text == "globalMaximumExceeded 20")
        #expect(rig.start("com.a", device: "e").text == "applied")
        for _ in 0..<50 { #expect(rig.start("com.a").text == "applied") }
    }

    @Test("every way out of open frees a place, once", arguments: ["end", "immediate", "person", "renew", "8 hours"])
    func freed(way: String) {
        var rules = RuleSet.standard
        rules.maximumPerApp = 1
        let rig = EngineRig(rules)
        let id = rig.started(device: "d")
        #expect(rig.start(device: "d").text == "targetMaximumExceeded 1")
        switch way {
        case "end": rig.end(.id(id))
        case "immediate": rig.end(.id(id), policy: .immediate)
        case "person": rig.dismiss(.id(id))
        case "renew":
            #expect(rig.renew(.id(id)).text == "applied", "a renewal needs no place of its own")
            #expect(rig.start(device: "d").text == "targetMaximumExceeded 1", "its successor counts")
            rig.end(.id(rig.renewal(id)?.renewedBy ?? id))
        default: rig.pass(8 * hour)
        }
        #expect(rig.start(device: "d").text == "applied")
        #expect(rig.start(device: "d").text == "targetMaximumExceeded 1")
    }

    @Test("pending ones count")
    func pendingCounts() {
        let rig = EngineRig()
        for _ in 0..<5 { rig.start(on: rig.now + hour, device: "d") }
        #expect(rig.start(device: "d").text == "targetMaximumExceeded 5")
        rig.pass(hour)
        #expect(rig.told.count == 5)
        #expect(rig.start(device: "d").text == "targetMaximumExceeded 5")
    }

    @Test("ended ones do not count, unless the rule says so")
    func endedCount() {
        let rig = EngineRig()
        for _ in 0..<7 { rig.end(.id(rig.started(device: "d"))) }
        #expect(rig.start(device: "d").text == "applied")

        var rules = RuleSet.standard
        rules.endedCountTowardMaxima = true
        let strict = EngineRig(rules)
        for _ in 0..<5 { strict.end(.id(strict.started(device: "d"))) }
        #expect(strict.start(device: "d").text == "targetMaximumExceeded 5")
        strict.now = strict.now + 4 * hour
        #expect(strict.start(device: "d").text == "applied", "their four hours are over")
        #expect(strict.events.count == 6)
    }

    @Test("what is due on the device takes effect before its places are counted, in the order of each one's dates")
    func dueFirst() {
        let rig = EngineRig()
        for _ in 0..<5 { rig.start(stale: rig.now + hour, device: "d") }
        rig.start(stale: rig.now + hour, device: "e")
        rig.now = rig.now + 8 * hour
        #expect(rig.start(device: "d").text == "applied")
        #expect(rig.events.count == 11, "five went stale and ended, one started")
        #expect(rig.told.last == "started #7 r1 >active command")
        #expect(!rig.told.contains { $0.contains("#6") }, "another device's wait")
        let stale = rig.events.filter { $0.name == .stale }
        #expect(stale.count == 5 && stale.allSatisfy { $0.lateBy == 7 * hour && $0.at == rig.now && !$0.isByCommand })
    }

    @Test("many ended ones on a device cost a start nothing of note")
    func endedAreNoBurden() {
        let rig = EngineRig()
        rig.isChecked = false
        for _ in 0..<20_000 { rig.end(.id(rig.started(device: "d"))) }
        #expect(rig.engine.entityCount == 20_000)
        #expect(rig.start(device: "d").text == "applied")
        rig.follower.check(rig.engine)
    }
}
