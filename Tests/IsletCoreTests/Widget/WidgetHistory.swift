import IsletCore

/// A random life of widgets of two apps on two devices.
struct WidgetHistory {
    private var random: SeededRandom
    private static let apps = ["com.a", "com.b"]
    private static let kinds = ["weather", "flight"]
    private static let devices: [String?] = ["d", "e", nil]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Rules under which budgets are soon spent.
    static var rules: RuleSet {
        var rules = RuleSet.standard
        (rules.widgetDailyBudget, rules.widgetLearningBudget) = (4, 7)
        rules.widgetLearningSpan = 30 * hour
        return rules
    }

    mutating func begin(_ rig: WidgetRig) {
        for app in Self.apps {
            for kind in Self.kinds { rig.declare(kind, app) }
        }
    }

    mutating func next(below limit: Int) -> Int { Int(random.below(Int64(limit))) }

    /// One thing happens.
    mutating func step(_ rig: WidgetRig) {
        let widgets = rig.observer.widgets
        switch random.below(32) {
        case 0, 1, 2: add(rig)
        case 3:
            guard let id = pick(widgets) else { return }
            let isRendering = random.oneIn(3)
            rig.configure(
                id, isRendering ? nil : "{\"n\":\(random.below(3))}",
                rendering: isRendering ? "{\"mode\":\(random.below(3))}" : nil, rig.observer.app(of: id))
        case 4:
            guard widgets.count > 5, let id = pick(widgets) else { return }
            rig.remove(id, rig.observer.app(of: id))
        case 5, 6, 7:
            guard let id = pick(widgets) else { return }
            rig.reload(id, rig.observer.app(of: id), source: random.oneIn(2) ? .push : .local)
        case 8: many(rig)
        case 9:
            guard let id = pick(widgets) else { return }
            rig.visible(id, rig.observer.app(of: id))
        case 10, 11:
            guard let id = pick(widgets) else { return }
            rig.act(id, rig.observer.app(of: id))
        case 12:
            guard let id = pick(widgets) else { return }
            rig.tap(id, .open(url: Array("\"x://y\"".utf8)), rig.observer.app(of: id))
        case 13, 14: report(rig)
        case 15: relevance(rig)
        case 16, 17, 18, 19, 20, 21, 22, 23, 24, 25: answer(rig)
        case 26, 27, 28: rig.pass(random.below(3 * minute))
        case 29, 30: rig.pass(random.below(hour))
        default: rig.pass(random.oneIn(4) ? 20 * hour : random.below(6 * hour))
        }
    }

    private mutating func pick<Element>(_ all: [Element]) -> Element? {
        all.isEmpty ? nil : all[Int(random.below(Int64(all.count)))]
    }

    private mutating func add(_ rig: WidgetRig) {
        guard let kind = pick(Self.kinds), let app = pick(Self.apps), let device = pick(Self.devices) else { return }
        // An id may come again, also in another app.
        let id = random.oneIn(3) ? pick(rig.observer.removed) : nil
        rig.add(
            kind, app, family: pick(WidgetFamily.allCases) ?? .systemSmall, device: device,
            configuration: random.oneIn(2) ? "{\"n\":0}" : nil, rendering: random.oneIn(3) ? "{\"mode\":0}" : nil,
            id: id)
    }

    private mutating func many(_ rig: WidgetRig) {
        guard let app = pick(Self.apps), let kind = pick(Self.kinds) else { return }
        switch random.below(3) {
        case 0: rig.reload(kind: kind, app)
        case 1: rig.reload(kind: nil, app, source: .push)
        default: rig.register(kind, app)
        }
    }

    private mutating func report(_ rig: WidgetRig) {
        let device = random.oneIn(2) ? "d" : "e"
        let kinds: [DeviceEventKind] = [
            .standByStart, .standByEnd, .developerModeOn, .developerModeOff, .localeChange, .appearanceChange,
            .locationChange, .appForeground, .appBackground, .sessionStart, .sessionEnd, .reboot, .uninstall,
        ]
        guard let kind = pick(kinds), kind != .uninstall || random.oneIn(5) else { return }
        let app: String?
        switch kind {
        case .appForeground, .appBackground, .uninstall, .sessionStart, .sessionEnd: app = pick(Self.apps)
        case .lock, .unlock, .collapse, .leave, .reboot, .standByStart, .standByEnd, .developerModeOn,
            .developerModeOff, .localeChange, .appearanceChange, .locationChange:
            app = nil
        }
        rig.report(device, kind, app: app)
    }

    private mutating func relevance(_ rig: WidgetRig) {
        guard let app = pick(Self.apps), let kind = pick(Self.kinds) else { return }
        if random.oneIn(3) {
            guard let kind = rig.kind(kind, app), let app = rig.engine.apps.find(Array(app.utf8)) else { return }
            let json = Array("[\(random.below(9))]".utf8)
            let drops = random.oneIn(2)
            rig.step { if drops { _ = $0.dropRecommendations(app, kind) } else { $0.setRecommendations(kind, json) } }
            return
        }
        let list = (0..<random.below(4)).map { _ in
            WidgetRelevance(
                configuration: random.oneIn(2) ? Array("{\"n\":\(random.below(3))}".utf8) : nil,
                from: random.oneIn(2) ? rig.now + random.below(hour) : nil,
                to: random.oneIn(2) ? rig.now + random.below(3 * hour) : nil)
        }
        rig.setRelevance(kind, list, app)
    }

    private mutating func answer(_ rig: WidgetRig) {
        let open = rig.observer.open.filter { rig.machine($0.key)?.hasCall == true }.keys.sorted()
        guard let id = pick(open), let machine = rig.machine(id) else { return }
        let isAction = machine.state == .acting
        if random.oneIn(4) {
            let failures: [CallFailure] = [.noProvider, .providerLost, .timedOut, .threw, .badAnswer, .busy]
            let reason = random.oneIn(4) ? "" : random.oneIn(3) ? "\"db down\"" : "\"no \(random.below(100))\""
            return rig.fail(id, isAction: isAction, pick(failures) ?? .threw, reason: reason)
        }
        guard !isAction else { return rig.performed(id) }
        if random.oneIn(10) { return rig.answer(id, policy: nil, needsLogin: true) }
        let first = random.oneIn(3) ? random.below(hour) : -random.below(hour)
        var after = first
        let entries = (0..<Int(1 + random.below(6))).map { _ in
            let entry = SampleEntry(
                after, score: random.oneIn(2) ? Float(random.below(5)) : nil,
                duration: random.oneIn(2) ? random.below(hour) : 0)
            after += random.oneIn(2) ? random.below(10 * minute) : random.below(2 * hour)
            return entry
        }
        let policies: [TimelineReloadPolicy?] = [nil, .atEnd, .never, .after(rig.now + random.below(6 * hour))]
        rig.answer(id, entries, policy: pick(policies) ?? nil)
    }
}
