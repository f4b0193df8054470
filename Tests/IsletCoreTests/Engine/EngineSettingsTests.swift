import IsletCore
import Testing

@Suite("Engine: settings")
struct EngineSettingsTests {
    @Test("rows 12 and 29: switched off, all of the app go and none may start, wherever they are")
    func switchedOff() {
        let rig = EngineRig()
        let ended = rig.started(device: "e")
        rig.end(.id(ended))
        let ids = [rig.started(), rig.started(device: "d"), rig.started(on: rig.now + 5), ended]
        let other = rig.started("com.b", device: "d")
        rig.set(enabled: false)
        #expect(rig.events.count == 4 && rig.events.allSatisfy { $0.name == .dismissed && !$0.isByCommand })
        for id in ids { #expect(rig.state(id) == .dismissed && rig.record(id)?.machine.cause == .settings) }
        #expect(rig.state(other) == .active)
        #expect(rig.start().text == "denied" && rig.start(device: "d").text == "denied")
        #expect(rig.start("com.b").text == "applied")
        rig.set(enabled: true)
        #expect(rig.events.isEmpty && rig.start().text == "applied")
    }

    @Test("switched off on one device, the others and those without a device stay")
    func oneDevice() {
        let rig = EngineRig()
        let onD = rig.started(device: "d")
        let staying = [rig.started(device: "e"), rig.started(), rig.started("com.b", device: "d")]
        rig.set(device: "d", enabled: false)
        #expect(rig.told == ["dismissed #1 r2 active>dismissed settings"] && rig.state(onD) == .dismissed)
        for id in staying { #expect(rig.state(id) == .active) }
        #expect(rig.start(device: "d").text == "denied" && rig.start(device: "e").text == "applied")
        #expect(!rig.settings(device: "d").activitiesEnabled && rig.settings(device: "e").activitiesEnabled)
        #expect(rig.settings().activitiesEnabled && rig.settings("com.unknown", device: "d").activitiesEnabled)
    }

    @Test("what is set for all overrides what a device said before, and a device may say otherwise again")
    func overrides() {
        let rig = EngineRig()
        rig.set(device: "d", enabled: false)
        rig.set(enabled: true)
        #expect(rig.settings(device: "d").activitiesEnabled && rig.start(device: "d").text == "applied")
        rig.set(enabled: false)
        rig.set(device: "d", enabled: true)
        #expect(rig.start(device: "d").text == "applied" && rig.start(device: "e").text == "denied")
    }

    @Test("each switch is overridden for itself")
    func eachSwitch() {
        let rig = EngineRig()
        rig.set(device: "d", enabled: false, frequent: false)
        rig.set(frequent: true)
        #expect(!rig.settings(device: "d").activitiesEnabled && rig.settings(device: "d").frequentPushesEnabled)
        rig.set(device: "d", frequent: false)
        rig.set(enabled: true)
        #expect(rig.settings(device: "d").activitiesEnabled && !rig.settings(device: "d").frequentPushesEnabled)
    }

    @Test("row 30: a change of frequent updates ends what runs where it is a change, and only there")
    func frequent() {
        let rig = EngineRig()
        let ids = [rig.started(), rig.started(device: "d"), rig.started(device: "e")]
        let pending = rig.started(on: rig.now + 5)
        rig.set(frequent: true)
        #expect(rig.events.isEmpty, "as it was")
        rig.set(device: "d", frequent: false)
        #expect(rig.told == ["ended #2 r2 active>ended settings"])
        let again = rig.started(device: "d")
        rig.set(frequent: false)
        #expect(Set(rig.events.map(\.id)) == [ids[0], ids[2]])
        #expect(rig.state(again) == .active, "it was started under this setting")
        #expect(rig.state(pending) == .pending)
        rig.pass(5)
        #expect(rig.state(pending) == .active)
        rig.set(frequent: false)
        #expect(rig.events.isEmpty)
        rig.set(frequent: true)
        #expect(Set(rig.events.map(\.id)) == [again, pending])
    }

    @Test("what was due before the setting has its effect before it")
    func dueFirst() {
        let rig = EngineRig()
        rig.start(stale: rig.now + 5)
        rig.start(on: rig.now + 5, device: "d")
        rig.now = rig.now + 9
        rig.set(frequent: false)
        #expect(
            Set(rig.told) == [
                "stale #1 r2 active>stale staleDate late 4", "ended #1 r3 stale>ended settings",
                "started #2 r2 pending>active startDate late 4", "ended #2 r3 active>ended settings",
            ])
    }

    @Test("device settings that were overridden do not keep a device known")
    func overriddenAreForgotten() {
        let rig = EngineRig()
        rig.set(device: "d", enabled: true)
        rig.dismiss(.id(rig.started(device: "d")))
        rig.set(enabled: true)
        rig.pass(24 * MachineSample.hour)
        #expect(rig.engine.devices.count == 0)
    }
}

/// One setting that reaches far more activities than a turn may look at.
@Suite("Engine: settings that reach many")
struct EngineSweepTests {
    /// Of three activities two are of the app that is switched off.
    private static let count = 36_000

    private static func crowd() -> (EngineRig, mine: [EntityID], others: [EntityID]) {
        let rig = EngineRig()
        rig.isChecked = false
        var mine: [EntityID] = []
        var others: [EntityID] = []
        for index in 0..<count {
            if index % 3 == 2 { others.append(rig.started("com.b")) } else { mine.append(rig.started()) }
        }
        return (rig, mine, others)
    }

    @Test("goes in bounded turns, and each activity feels it at the latest before its own next command")
    func bounded() {
        let (rig, mine, others) = Self.crowd()
        rig.set(enabled: false)
        #expect(rig.events.count >= Engine.sweepEvents && rig.events.count < Engine.sweepEvents + 4)
        var dismissed = rig.events.count
        #expect(rig.engine.nextWork() <= rig.now, "there is more to do at once")
        #expect(rig.start().text == "denied", "a start feels it at once")

        let last = mine[mine.count - 1]
        #expect(rig.update(.id(last)).text == "ignored dismissed")
        #expect(rig.told == ["dismissed #\(last.number) r2 active>dismissed settings"])
        dismissed += 1
        #expect(rig.update(.id(others[others.count - 1]), "com.b").text == "applied")

        var turns = 0
        while rig.fire() {
            turns += 1
            #expect(rig.events.count < Engine.sweepEvents + 4)
            dismissed += rig.events.count
        }
        dismissed += rig.events.count
        #expect(dismissed == mine.count && turns + 2 >= mine.count / (Engine.sweepEvents + 4))
        #expect(rig.engine.entityCount == others.count)
        rig.follower.check(rig.engine)
    }

    @Test("what has ended on a device is not written anew for each change of frequent updates there")
    func endedOnDevice() {
        let rig = EngineRig()
        rig.engine.isJournalled = true
        for _ in 0..<100 { rig.end(.id(rig.started(device: "d"))) }
        let before = rig.engine.notes.count
        for isOn in [false, true, false] { rig.set(device: "d", frequent: isOn) }
        #expect(rig.engine.notes.count - before <= 3)
    }

    @Test("looks at a bounded number of slots in a turn, also where nothing is found")
    func boundedWithoutEvents() {
        let (rig, _, _) = Self.crowd()
        rig.start("com.c")
        rig.set("com.c", enabled: false)
        // The setting's own turn, and the last one.
        var turns = 2
        while rig.fire() { turns += 1 }
        #expect(turns == (Self.count + 1 + Int(Engine.sweepBudget) - 1) / Int(Engine.sweepBudget))
        #expect(rig.engine.countByState[Int(ActivityState.dismissed.rawValue)] == 1)
    }

    @Test("switched on again on the way: those that ran go all the same, those that start then stay")
    func flipped() {
        let (rig, mine, others) = Self.crowd()
        rig.set(enabled: false)
        rig.fire()
        rig.set(enabled: true)
        let new = rig.started()
        let scheduled = rig.started(on: rig.now + 5)
        rig.settle()
        #expect(rig.engine.entityCount == others.count + 2)
        #expect(rig.state(new) == .active && rig.state(scheduled) == .pending)
        #expect(rig.state(mine[0]) == .dismissed && rig.state(mine[mine.count - 1]) == .dismissed)
        rig.follower.check(rig.engine)
    }

    @Test("frequent updates off and on again on the way: what ran has seen a change, and ends")
    func frequentFlipped() {
        let (rig, mine, others) = Self.crowd()
        rig.set(frequent: false)
        rig.fire()
        rig.set(frequent: true)
        let new = rig.started()
        rig.settle()
        #expect(rig.engine.countByState[Int(ActivityState.ended.rawValue)] == mine.count)
        #expect(rig.engine.countByState[Int(ActivityState.active.rawValue)] == others.count + 1)
        #expect(rig.state(new) == .active)
    }

    @Test("frequent updates that are set for all while another app's are on the way change nothing where a device had them so")
    func frequentAsTheDeviceHadThem() {
        let (rig, mine, _) = Self.crowd()
        rig.set(device: "d", frequent: false)
        let own = rig.started(device: "d")
        rig.set("com.b", enabled: true)
        rig.set(frequent: false)
        rig.settle()
        #expect(rig.state(own) == .active)
        #expect(rig.engine.countByState[Int(ActivityState.ended.rawValue)] == mine.count)
    }

    @Test("frequent updates that changed while it was pending are nothing to one that runs", arguments: [true, false])
    func flippedWhilePending(isThrough: Bool) {
        let (rig, _, _) = Self.crowd()
        let pending = rig.started(on: rig.now + 5)
        rig.set(enabled: true)
        rig.set(frequent: false)
        if isThrough { rig.settle() }
        #expect(rig.state(pending) == .pending)
        rig.now = rig.now + 9
        rig.set(enabled: true)
        rig.settle()
        #expect(rig.state(pending) == .active)
    }

    @Test("one whose start was due before frequent updates were changed on the way ends, however late that is noticed")
    func flippedAfterStart() {
        let (rig, _, _) = Self.crowd()
        let started = rig.started(on: rig.now + 5)
        rig.set(enabled: true)
        rig.now = rig.now + 7
        rig.set(frequent: false)
        rig.now = rig.now + 9
        rig.set(enabled: true)
        rig.settle()
        #expect(rig.state(started) == .ended)
    }

    @Test("settings of two apps on the way at once have both their effect, and only on their own")
    func twoApps() {
        let (rig, mine, others) = Self.crowd()
        let third = rig.started("com.c")
        rig.set(enabled: false)
        rig.fire()
        rig.set("com.b", frequent: false)
        rig.settle()
        #expect(rig.engine.countByState == [0, 1, 0, others.count, mine.count])
        #expect(rig.state(third) == .active)
    }

    @Test("deadlines go on meanwhile; on the manual clock the settings come before the clock moves on")
    func deadlines() {
        let (rig, mine, others) = Self.crowd()
        let stale = rig.started("com.b", stale: rig.now + 5)
        let pending = rig.started(on: rig.now + 5)
        rig.set(enabled: false)
        rig.now = rig.now + 5
        rig.fire()
        #expect(rig.events.contains { $0.id == stale && $0.name == .stale })
        #expect(rig.events.contains { $0.id == pending && $0.name == .dismissed }, "off before its start")
        #expect(!rig.events.contains { $0.id == pending && $0.name == .started })

        let (manual, _, _) = Self.crowd()
        manual.dating = .whenDue
        let date = manual.now
        manual.set(enabled: false)
        var events = manual.events
        events += manual.pass(10 * MachineSample.hour)
        let off = events.filter { $0.name == .dismissed }
        #expect(off.count == mine.count && off.allSatisfy { $0.at == date && $0.after.dismissAt == date })
        #expect(events.last.map { $0.at > date } == true && events.count == mine.count + others.count)
    }
}
