import IsletCore
import Testing

@Suite("Engine: what devices report")
struct EngineDeviceEventsTests {
    @Test(
        "row 31: lock, collapse and leave take the transient ones that run on that device, and nothing else",
        arguments: [DeviceEventKind.lock, .collapse, .leave])
    func transient(kind: DeviceEventKind) {
        let rig = EngineRig()
        let going = [
            rig.started(style: .transient, device: "d"), rig.started("com.b", style: .transient, device: "d"),
            rig.started(stale: rig.now, style: .transient, device: "d"),
        ]
        let pending = rig.started(style: .transient, on: rig.now + 5, device: "d")
        let ended = rig.started(style: .transient, device: "d")
        rig.end(.id(ended))
        let staying = [
            rig.started(device: "d"), rig.started(style: .transient, device: "e"), rig.started(style: .transient),
        ]
        #expect(rig.report("d", kind).text == "applied")
        #expect(rig.events.count == 6 && rig.events.allSatisfy { $0.after.cause == .transient && $0.isByCommand })
        for id in going { #expect(rig.state(id) == .dismissed) }
        for id in staying { #expect(rig.state(id) == .active) }
        #expect(rig.state(pending) == .pending && rig.state(ended) == .ended)
    }

    @Test(
        "rows 32 and 33: what an activity survives changes nothing",
        arguments: [DeviceEventKind.unlock, .reboot, .appForeground, .appBackground])
    func nothingHappens(kind: DeviceEventKind) {
        let rig = EngineRig()
        let id = rig.started(style: .transient, device: "d")
        #expect(rig.report("d", kind, app: "com.a").text == "applied")
        #expect(rig.events.isEmpty && rig.state(id) == .active)
    }

    @Test("row 3: a reported background refuses local starts of that app there, until it is in the foreground again")
    func background() {
        let rig = EngineRig()
        rig.report("d", .appBackground, app: "com.a")
        #expect(rig.start(device: "d").text == "visibility")
        #expect(rig.start(device: "d", background: false).text == "applied", "the command knows better")
        #expect(rig.start(device: "d", source: .push).text == "applied", "a push may always start")
        #expect(rig.start("com.b", device: "d").text == "applied")
        #expect(rig.start(device: "e").text == "applied" && rig.start().text == "applied")
        #expect(rig.start(background: true).text == "visibility")
        rig.report("d", .appForeground, app: "com.a")
        #expect(rig.start(device: "d").text == "applied")
    }

    @Test("row 34: an uninstall dismisses all of the app there, and forgets what was said of it")
    func uninstall() {
        let rig = EngineRig()
        let gone = [rig.started(device: "d"), rig.started(on: rig.now + 5, device: "d"), rig.started(device: "d")]
        rig.end(.id(gone[2]))
        let staying = [rig.started("com.b", device: "d"), rig.started(device: "e"), rig.started()]
        rig.set(device: "d", frequent: false)
        rig.report("d", .appBackground, app: "com.a")
        rig.report("d", .uninstall, app: "com.a")
        for id in gone { #expect(rig.state(id) == .dismissed && rig.record(id)?.machine.cause == .system) }
        for id in staying { #expect(rig.state(id) == .active) }
        #expect(rig.settings(device: "d").frequentPushesEnabled)
        #expect(rig.start(device: "d").text == "applied", "not in the background any more")
    }

    @Test("reports about what nobody knows are fine, and leave nothing behind")
    func unknown() {
        let rig = EngineRig()
        for kind in [DeviceEventKind.lock, .unlock, .collapse, .leave, .reboot, .uninstall] {
            #expect(rig.report("d", kind, app: "com.x").text == "applied")
        }
        #expect(rig.engine.devices.count == 0 && rig.engine.apps.apps.isEmpty)
        rig.report("d", .appBackground, app: "com.x")
        #expect(rig.engine.devices.count == 1)
        rig.report("d", .appForeground, app: "com.x")
        #expect(rig.engine.devices.count == 0)
    }

    @Test("a device is forgotten with the last that is known of it, and its number serves another")
    func forgotten() {
        let rig = EngineRig()
        for round in 0..<50 {
            let device = "d\(round)"
            let ids = (0..<3).map { _ in rig.started(device: device, key: nil) }
            for id in ids { rig.dismiss(.id(id)) }
            #expect(rig.engine.devices.count == 1, "what is retained still names its device")
            rig.pass(24 * MachineSample.hour)
            #expect(rig.engine.devices.count == 0)
            let next = rig.started(device: "next", key: "k")
            #expect(rig.record(next)?.device.map { rig.engine.devices.name($0) } == Array("next".utf8))
            rig.dismiss(.id(next))
            rig.pass(24 * MachineSample.hour)
        }
        #expect(rig.engine.slotCount == 3)
    }
}
