import IsletCore

/// One random command to both.
extension EngineModelRun {
    static let apps = ["com.a", "com.b"]
    static let types = ["order", "ride"]
    static let devices = ["d1", "d2", "d3"]
    static let keys = ["k1", "k2", "l1"]
    static let contents = ["{}", "{\"n\":1}", "{\"n\":2}", "{\"n\":\"a longer content, to move\"}"]

    func command() {
        switch random.below(40) {
        case 0...11: start()
        case 12...20: update()
        case 21...25: end()
        case 26...27: dismiss()
        case 28...29: renew()
        case 30: heartbeat()
        case 31: get()
        case 32...33: set()
        case 34...35: report()
        case 36...37: presentation()
        default: list()
        }
    }

    // MARK: Random values

    private func pick<T>(_ values: [T]) -> T { values[Int(random.below(Int64(values.count)))] }

    private func maybe<T>(_ count: UInt64, _ value: () -> T) -> T? { random.oneIn(count) ? value() : nil }

    private var app: String { random.oneIn(3) ? "com.b" : "com.a" }

    /// A date around now.
    private func date() -> Int64 {
        let now = naive.now
        switch random.below(6) {
        case 0: return now
        case 1: return now - 1 - random.below(100)
        case 2: return now + 1
        default: return now + random.below(5_000)
        }
    }

    private func stamp(_ name: Named) -> Int64? {
        guard random.oneIn(3) else { return nil }
        let highest = target(name)?.timestamp ?? naive.now
        return pick([highest, highest - 1, highest + 1, naive.now + 8_000, naive.now + 8_001, naive.now - 50])
    }

    private func revision(_ name: Named) -> Int? {
        guard random.oneIn(6) else { return nil }
        let present = target(name)?.revision ?? 1
        return random.oneIn(2) ? present : present + 1
    }

    private func target(_ name: Named) -> NaiveActivity? {
        switch name {
        case .id(let id): naive.activities[id.number]
        case .key(let key, let device): naive.newest("com.a", key, device).flatMap { naive.activities[$0] }
        }
    }

    /// Mostly one of the last activities, sometimes one that was never there, or a key.
    private func name() -> Named {
        if random.oneIn(9) { return .key(pick(Self.keys), device: maybe(2) { pick(Self.devices) }) }
        let keyed = naive.activities.values.filter { $0.key != nil }.sorted { $0.id < $1.id }.suffix(6)
        if random.oneIn(4), !keyed.isEmpty {
            let activity = pick(Array(keyed))
            return .key(activity.key ?? "", device: activity.device)
        }
        let listed = naive.activities.values.filter(\.isListed).map(\.id).sorted()
        if !listed.isEmpty, !random.oneIn(4) { return .id(EntityID(pick(listed))) }
        return .id(EntityID(max(1, rig.latest.number - min(rig.latest.number, UInt64(random.below(30))))))
    }

    /// The app of a target, mostly.
    private func home(_ name: Named) -> String {
        guard case .id(let id) = name, let activity = naive.activities[id.number], !random.oneIn(20) else { return app }
        return activity.app
    }

    private func naiveName(_ name: Named) -> NaiveService.Name {
        switch name {
        case .id(let id): .id(id.number)
        case .key(let key, let device): .key(key, device)
        }
    }

    // MARK: Commands

    private func start() {
        var plan = NaiveService.Start(id: 0)
        plan.app = app
        plan.type = pick(Self.types)
        plan.attributes = "{\"a\":\"\(String(repeating: "x", count: Int(random.below(58))))\"}"
        if !random.oneIn(5) { plan.attributes = "{}" }
        plan.content = pick(Self.contents)
        plan.stale = maybe(3) { date() }
        plan.relevance = maybe(3) { Double(random.below(3)) }
        plan.isTransient = random.oneIn(4)
        plan.on = maybe(4) { date() }
        plan.hasAlert = plan.on != nil || random.oneIn(8)
        plan.device = random.oneIn(4) ? nil : random.oneIn(2) ? "d1" : pick(Self.devices)
        plan.key = maybe(2) { pick(Self.keys) }
        plan.background = maybe(12) { random.oneIn(2) }
        plan.updates = plan.key != nil && random.oneIn(3)
        plan.isPush = random.oneIn(4)
        plan.ifRevision = plan.updates ? maybe(6) { 1 } : nil
        let own = maybe(10) { EntityID(max(1, rig.latest.number - min(rig.latest.number, UInt64(random.below(20))))) }
        doing = "start \(plan), own id \(own?.short ?? "-")"
        let outcome = rig.start(
            plan.app, type: plan.type, attributes: plan.attributes, content: plan.content,
            stale: plan.stale.map { Instant($0) }, relevance: plan.relevance,
            style: plan.isTransient ? .transient : .standard, on: plan.on.map { Instant($0) },
            alert: plan.hasAlert ? "{\"title\":\"t\"}" : nil, device: plan.device, key: plan.key, id: own,
            background: plan.background, updatesExisting: plan.updates, source: plan.isPush ? .push : .local,
            ifRevision: plan.ifRevision.map { UInt64($0) })
        plan.id = own?.number ?? rig.latest.number
        plan.isOwnID = own != nil
        compare(outcome, naive.start(plan))
    }

    private func update() {
        let name = name()
        let app = home(name)
        let content = random.oneIn(12) ? String(repeating: "y", count: 63 + Int(random.below(3))) : pick(Self.contents)
        var stale = maybe(3) { date() }
        var relevance = maybe(3) { Double(random.below(3)) }
        var same: String?
        // Sometimes exactly what is there.
        if random.oneIn(5), let target = target(name) {
            stale = target.staleDate
            relevance = target.relevance
            same = target.content
        }
        let alert = random.oneIn(10)
        let stamp = stamp(name)
        let isPush = random.oneIn(3)
        let revision = revision(name)
        doing =
            "update \(name) of \(app) to \(same ?? content), stale \(stale ?? 0), stamp \(stamp ?? 0), push \(isPush), \(revision ?? -1)"
        let outcome = rig.update(
            name, app, content: same ?? content, stale: stale.map { Instant($0) }, relevance: relevance,
            alert: alert ? "{\"title\":\"u\"}" : nil, stamped: stamp.map { Instant($0) },
            source: isPush ? .push : .local, ifRevision: revision.map { UInt64($0) })
        let expected = naive.update(
            naiveName(name), app, same ?? content, stale: stale, relevance: relevance, hasAlert: alert, stamped: stamp,
            isPush: isPush, ifRevision: revision)
        compare(outcome, expected)
    }

    private func end() {
        let name = name()
        let app = home(name)
        let content = maybe(3) { pick(Self.contents + [String(repeating: "z", count: 65)]) }
        let date = random.oneIn(4) ? naive.now + pick([3_999, 4_000, 4_001, 0]) : date()
        let policy: (DismissalPolicy, NaiveService.Policy) = pick([
            (.default, .default), (.immediate, .immediate), (.after(Instant(date)), .after(date)),
        ])
        let stamp = stamp(name)
        let isPush = random.oneIn(2)
        let revision = revision(name)
        doing =
            "end \(name) of \(app), \(policy.1), content \(content ?? "-"), stamp \(stamp ?? 0), push \(isPush), \(revision ?? -1)"
        let outcome = rig.end(
            name, app, content: content, policy: policy.0, stamped: stamp.map { Instant($0) },
            source: isPush ? .push : .local, ifRevision: revision.map { UInt64($0) })
        let expected = naive.end(
            naiveName(name), app, content, policy.1, stamped: stamp, isPush: isPush, ifRevision: revision)
        compare(outcome, expected)
    }

    private func dismiss() {
        let name = name()
        let app = home(name)
        let isPerson = random.oneIn(2)
        let revision = revision(name)
        doing = "dismiss \(name) of \(app), person \(isPerson), \(revision ?? -1)"
        let outcome = rig.dismiss(
            name, app, by: isPerson ? .person : .system, ifRevision: revision.map { UInt64($0) })
        compare(
            outcome, naive.dismiss(naiveName(name), app, by: isPerson ? "person" : "system", ifRevision: revision))
    }

    private func renew() {
        let name = name()
        let app = home(name)
        let content = maybe(3) { pick(Self.contents + [String(repeating: "z", count: 65)]) }
        let stale = maybe(3) { date() }
        let revision = revision(name)
        doing = "renew \(name) of \(app), stale \(stale ?? 0), \(revision ?? -1)"
        let outcome = rig.renew(
            name, app, content: content, stale: stale.map { Instant($0) }, ifRevision: revision.map { UInt64($0) })
        let expected = naive.renew(
            naiveName(name), app, content, stale: stale, fresh: rig.latest.number, ifRevision: revision)
        compare(outcome, expected)
    }

    private func heartbeat() {
        let name = name()
        let app = home(name)
        doing = "heartbeat \(name) of \(app)"
        compare(rig.heartbeat(name, app), naive.heartbeat(naiveName(name), app))
    }

    private func get() {
        let name = name()
        let app = home(name)
        doing = "get \(name) of \(app)"
        let id = naive.find(naiveName(name), app)
        if let id { naive.settle(id) }
        compare(rig.get(name, app), id == nil ? "notFound" : "found")
    }

    private func set() {
        let app = app
        let device = random.oneIn(2) ? pick(Self.devices) : nil
        // Mostly on, or nothing would ever start.
        let enabled = random.oneIn(3) ? nil : !random.oneIn(4)
        let frequent = enabled == nil ? random.oneIn(2) : maybe(3) { random.oneIn(2) }
        doing =
            "set \(app) on \(device ?? "all"): \(enabled.map(String.init) ?? "-") \(frequent.map(String.init) ?? "-")"
        let outcome = rig.set(app, device: device, enabled: enabled, frequent: frequent)
        naive.set(app, device, enabled: enabled, frequent: frequent)
        compare(outcome, "applied")
    }

    private func report() {
        let kinds: [(DeviceEventKind, String)] = [
            (.lock, "lock"), (.collapse, "collapse"), (.leave, "leave"), (.unlock, "unlock"), (.reboot, "reboot"),
            (.appBackground, "appBackground"), (.appForeground, "appForeground"), (.appForeground, "appForeground"),
            (.uninstall, "uninstall"),
        ]
        let (kind, word) = pick(kinds)
        let device = pick(Self.devices)
        let app = app
        doing = "\(device) reports \(word) of \(app)"
        let outcome = rig.report(device, kind, app: app)
        naive.report(device, word, app)
        compare(outcome, "applied")
    }

    private func presentation() {
        let device = pick(Self.devices)
        doing = "presentation on \(device)"
        let shown = rig.presentation(device)
        // The events come first: they tell the order of starting.
        for id in naive.ids(on: device) { naive.settle(id) }
        compare(rig.events, naive.steps)
        naive.steps = []
        let expected = naive.presentation(device)
        expect(shown == expected, "\(shown) should be \(expected)")
    }

    private func list() {
        let app = app
        let type = maybe(3) { pick(Self.types) }
        let state = maybe(2) { pick(ActivityState.allCases) }
        let device = maybe(3) { pick(Self.devices) }
        let key = maybe(3) { pick(["k", "k1", "l", "", "k1x"]) }
        doing = "list \(app) \(type ?? "-") \(state.map { "\($0)" } ?? "-") \(device ?? "-") \(key ?? "-")"
        let found = rig.list(app, type: type, state: state, device: device, key: key)
        let expected = naive.list(app, type: type, state: state.map { "\($0)" }, device: device, key: key)
        expect(Set(found.map(\.number)) == expected, "\(found) should be \(expected)")
    }
}
