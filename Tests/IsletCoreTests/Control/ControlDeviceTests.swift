import IsletCore
import Testing

/// Locks, authentication and uninstalling.
@Suite("Controls: devices")
struct ControlDeviceTests {
    private func rig() -> ControlRig {
        let rig = ControlRig()
        rig.declare("torch")
        rig.declare("diary", isPrivate: true)
        rig.declare("door", policy: .requiresAuthentication)
        rig.declare("safe", policy: .requiresLocalDeviceAuthentication, isPrivate: true)
        rig.declare("torch", "com.b")
        return rig
    }

    @Test("a lock hides what is sensitive on that device, an unlock shows it, and nothing else moves")
    func redaction() {
        let rig = rig()
        let here = rig.placed("diary", device: "d")
        for (kind, device) in [("torch", "d"), ("diary", "e"), ("diary", nil)] { _ = rig.placed(kind, device: device) }
        rig.report("d", .lock)
        #expect(rig.told == ["redacted \(here.short) r3 shown>shown off lock"])
        rig.report("d", .lock)
        #expect(rig.told.isEmpty, "it is locked already")
        _ = rig.add("diary", device: "d")
        let later = rig.latest
        #expect(rig.record(later)?.machine.isRedacted == true, "it is placed on a locked device")
        rig.report("d", .unlock)
        #expect(Set(rig.events.map(\.id)) == [here, later] && rig.events.allSatisfy { $0.name == .revealed })
        #expect(rig.calls.isEmpty)
    }

    @Test("very many controls of a device are told in bounded steps, of the newest lock alone; readers know it at once")
    func crowd() {
        let rig = rig()
        rig.isChecked = false
        let ids = (0..<600).map { _ in rig.placed("diary", device: "d") }
        let last = ids[599]
        func isHidden(_ id: EntityID) -> Bool { rig.record(id).map { rig.engine.hides($0) } ?? false }
        for _ in 0..<50 {
            rig.report("d", .lock)
            #expect(rig.told.count <= 64 && isHidden(ids[0]) && isHidden(last))
            rig.report("d", .unlock)
            #expect(rig.told.count <= 64 && !isHidden(ids[0]) && !isHidden(last))
        }
        rig.report("d", .lock)
        #expect(rig.engine.nextWork() <= rig.now, "there is more to do at once")
        var told: [EntityID] = []
        var isLate = true
        while isLate {
            isLate = rig.fire()
            #expect(rig.told.count <= 64)
            told += rig.events.map(\.id)
            // One more on the way lets it go once around again, and not begin anew.
            if told.count == 128 {
                rig.report("d", .unlock)
                rig.report("d", .lock)
            }
        }
        #expect(told == ids && ids.allSatisfy { rig.record($0)?.machine.isRedacted == true })
        #expect(rig.engine.nextWork() > rig.now)
        rig.report("d", .unlock)
        // A command on one comes after what the lock does to it.
        rig.tap(last)
        #expect(rig.events.map(\.name) == [.revealed, .acting] && rig.record(last)?.machine.isRedacted == false)
        while rig.fire() {}
        #expect(ids.allSatisfy { rig.record($0)?.machine.isRedacted == false })
        rig.observer.check(rig.engine)
    }

    @Test("a device that nobody knows is remembered as locked")
    func unknownDevice() {
        let rig = rig()
        rig.report("d", .lock)
        let counts = (rig.engine.controls.lockedDevices.count, rig.engine.devices.count)
        #expect(counts == (1, 0))
        let id = rig.placed("door", device: "d")
        #expect(rig.tap(id).text == "applied" && rig.state(id) == .authenticating)
        rig.report("d", .unlock)
        let isUnlocked = rig.engine.controls.lockedDevices.isEmpty
        #expect(rig.state(id) == .acting && isUnlocked)
    }

    @Test("only a locked device and a policy make a tap wait", arguments: ["torch", "door", "safe"], [true, false])
    func policies(kind: String, isLocked: Bool) {
        let rig = rig()
        let ids = [rig.placed(kind, device: "d"), rig.placed(kind)]
        if isLocked { rig.report("d", .lock) }
        for id in ids { rig.tap(id) }
        #expect(rig.state(ids[0]) == (isLocked && kind != "torch" ? .authenticating : .acting))
        #expect(rig.state(ids[1]) == .acting, "what is on no device is never locked")
    }

    @Test("an unlock reveals first, and then runs what waited; only on that device")
    func unlock() {
        let rig = rig()
        let here = rig.placed("safe", device: "d")
        let there = rig.placed("safe", device: "e")
        for device in ["d", "e"] { rig.report(device, .lock) }
        for id in [here, there] { rig.tap(id) }
        rig.report("d", .unlock)
        #expect(
            rig.told == [
                "revealed \(here.short) r5 authenticating>authenticating off unlock",
                "acting \(here.short) r6 authenticating>acting on authentication",
            ])
        #expect(rig.wanted == ["perform(on) \(here.short)"] && rig.state(there) == .authenticating)
    }

    @Test("on a locked device nothing is performed behind an action that runs")
    func tapWhileActing() {
        let rig = rig()
        let id = rig.placed("door", device: "d")
        rig.tap(id)
        rig.tap(id)
        #expect(rig.record(id)?.machine.nextWish == .off, "that was wished for while it was unlocked")
        rig.tap(id)
        #expect(rig.record(id)?.machine.nextWish == nil)
        rig.report("d", .lock)
        #expect(rig.tap(id).text == "ignored acting" && rig.tap(id, isOn: false).text == "ignored acting")
        #expect(rig.decisions(id).last?.rule == .authenticationRequired)
        rig.answer(id, isAction: true)
        #expect(rig.wanted == ["ask \(id.short)"], "no action")
    }

    @Test("another tap begins the time for authentication anew")
    func waitsAnew() {
        let rig = rig()
        let id = rig.placed("door", device: "d")
        rig.report("d", .lock)
        rig.tap(id)
        let limit = RuleSet.standard.authenticationLimit
        #expect(rig.pass(limit - 1).isEmpty)
        rig.tap(id)
        #expect(rig.pass(limit - 1).isEmpty && rig.state(id) == .authenticating)
        #expect(rig.pass(1).count == 2 && rig.state(id) == .reloading)
    }

    @Test("uninstalling removes the app's activities and controls from that device, as one stream")
    func uninstall() {
        let rig = rig()
        var gone: [EntityID] = []
        for _ in 0..<2 {
            gone.append(rig.placed("torch", device: "d"))
            rig.startActivity(device: "d")
            gone.append(rig.latest)
        }
        rig.reload(gone[0])
        let kept = [
            rig.placed("torch", "com.b", device: "d"), rig.placed("torch", device: "e"), rig.placed("torch"),
        ]
        rig.report("d", .uninstall, app: "com.a")
        #expect(rig.told.count == 4 && rig.events.map(\.name) == [.removed, .removed])
        #expect(rig.events.allSatisfy { $0.after.cause == .uninstall } && rig.events.map(\.position) == [2, 3])
        #expect(rig.wanted == ["cancel \(gone[0].short)"])
        #expect(gone.allSatisfy { rig.state($0) == nil } && kept.allSatisfy { rig.state($0) == .shown })
        // Their places in the stream are those in which they were told: the observer has looked at each.
        #expect(rig.app("com.a")?.entities == 2)
    }
}
