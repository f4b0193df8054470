import IsletCore
import Testing

/// A random life of controls and activities of two apps on two devices.
struct ControlHistory {
    private var random: SeededRandom
    private static let apps = ["com.a", "com.b"]
    private static let kinds = ["torch", "lamp", "bare", "door", "zone"]
    private static let devices: [String?] = ["d", "e", nil]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func begin(_ rig: ControlRig) {
        for app in Self.apps {
            rig.declare("torch", app, isPrivate: true)
            rig.declare("lamp", app, .button)
            rig.declare("bare", app, .bareButton, policy: .requiresAuthentication)
            rig.declare("door", app, preview: true, policy: .requiresAuthentication, isPrivate: true)
            rig.declare("zone", app, siblings: true)
        }
    }

    mutating func next(below limit: Int) -> Int { Int(random.below(Int64(limit))) }

    /// One thing happens.
    mutating func step(_ rig: ControlRig) {
        let controls = rig.observer.controls
        switch random.below(28) {
        case 0, 1, 2: add(rig)
        case 3, 4: startOrChangeActivity(rig)
        case 5:
            guard let id = pick(controls) else { return }
            rig.configure(id, "{\"n\":\(random.below(3))}", rig.observer.app(of: id))
        case 6:
            guard controls.count > 5, let id = pick(controls) else { return }
            rig.remove(id, rig.observer.app(of: id))
        case 7, 8, 9, 10:
            guard let id = pick(controls) else { return }
            rig.tap(id, rig.observer.app(of: id))
        case 11:
            guard let id = pick(controls) else { return }
            rig.tap(id, rig.observer.app(of: id), isOn: random.oneIn(2))
        case 12, 13:
            guard let id = pick(controls) else { return }
            rig.reload(id, rig.observer.app(of: id), source: random.oneIn(2) ? .push : .local)
        case 14: reloadMany(rig)
        case 15, 16: lock(rig)
        case 17, 18, 19, 20, 21, 22, 23, 24: answer(rig)
        case 25, 26: rig.pass(random.below(2_000))
        default: rig.pass(random.oneIn(5) ? 60_000 : random.below(10_000))
        }
    }

    private mutating func pick<Element>(_ all: [Element]) -> Element? {
        all.isEmpty ? nil : all[Int(random.below(Int64(all.count)))]
    }

    private mutating func add(_ rig: ControlRig) {
        guard let kind = pick(Self.kinds), let app = pick(Self.apps), let device = pick(Self.devices) else { return }
        // An id may come again, also in another app.
        let id = random.oneIn(3) ? pick(rig.observer.removed) : nil
        rig.add(kind, app, device: device, configuration: random.oneIn(2) ? "{\"n\":0}" : nil, id: id)
    }

    private mutating func startOrChangeActivity(_ rig: ControlRig) {
        let activities = rig.observer.activities
        guard activities.count > 5, let id = pick(activities) else {
            guard let app = pick(Self.apps), let device = pick(Self.devices) else { return }
            rig.startActivity(app, stale: random.oneIn(2) ? rig.now + random.below(30_000) : nil, device: device)
            return
        }
        if random.oneIn(3) {
            rig.dismissActivity(id, rig.observer.app(of: id))
        } else {
            rig.updateActivity(id, rig.observer.app(of: id), content: "{\"n\":\(random.below(100))}")
        }
    }

    private mutating func reloadMany(_ rig: ControlRig) {
        guard let app = pick(Self.apps), let kind = pick(Self.kinds) else { return }
        switch random.below(3) {
        case 0: rig.reload(kind: kind, app)
        case 1: rig.reload(kind: nil, app, source: .push)
        default: rig.register(kind, app)
        }
    }

    private mutating func lock(_ rig: ControlRig) {
        let device = random.oneIn(2) ? "d" : "e"
        switch random.below(12) {
        case 0: rig.report(device, .uninstall, app: random.oneIn(2) ? "com.a" : "com.b")
        case 1, 2, 3, 4, 5: rig.report(device, .lock)
        default: rig.report(device, .unlock)
        }
    }

    private mutating func answer(_ rig: ControlRig) {
        let open = rig.observer.open.filter { rig.record($0.key)?.machine.hasCall == true }.keys.sorted()
        guard let id = pick(open), let machine = rig.record(id)?.machine else { return }
        let isAction = machine.state == .acting
        if random.oneIn(4) {
            let failures: [CallFailure] = [.noProvider, .providerLost, .timedOut, .threw, .badAnswer, .busy]
            let reason = random.oneIn(4) ? "" : random.oneIn(3) ? "\"db down\"" : "\"no \(random.below(100))\""
            rig.fail(id, isAction: isAction, pick(failures) ?? .threw, reason: reason)
            return
        }
        let words = String(repeating: "w", count: Int(random.below(40)))
        let value = machine.template == .toggle ? "\(random.oneIn(2))" : "\"\(words)\""
        rig.answer(
            id, isAction: isAction, value: isAction ? nil : value, status: random.oneIn(3) ? "\"\(words)\"" : nil,
            tint: random.oneIn(3) ? "\"red\"" : nil, hint: random.oneIn(3) ? "\"Hold\"" : nil,
            isActive: random.oneIn(2) ? random.oneIn(2) : nil, isDisabled: random.oneIn(8))
    }
}
