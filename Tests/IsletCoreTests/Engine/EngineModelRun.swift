import IsletCore

/// The engine and the naive service, led through the same random life.
final class EngineModelRun {
    let scenario: ModelScenario
    let rig: EngineRig
    let naive: NaiveService
    var random: SeededRandom
    /// The first difference, if there was one.
    var problem: String?
    /// What the present step does.
    var doing = ""
    /// How often each kind of outcome and event came.
    var seen: [String: Int] = [:]
    private var order = 0
    private var stepCount = 0

    init(_ scenario: ModelScenario, seed: UInt64) {
        self.scenario = scenario
        random = SeededRandom(seed: seed)
        rig = EngineRig(scenario.ruleSet)
        rig.dating = scenario.datesByDue ? .whenDue : .whenNoticed
        rig.follower.expectsRisingDates = false
        naive = NaiveService(scenario.rules, now: EngineRig.start.milliseconds, datesByDue: scenario.datesByDue)
    }

    /// What must have happened at least once in a life that proves something.
    var wanted: [String] {
        var wanted = [
            "applied", "ignored ended", "ignored dismissed", "ignored olderTimestamp", "ignored futureTimestamp",
            "notFound", "conflict", "held", "denied", "visibility", "attributesTooLarge", "targetMaximumExceeded",
            "globalMaximumExceeded", "reconnectNotPermitted", "started", "scheduled", "updated", "stale", "ended",
            "dismissed", "forgotten", "late",
        ]
        if scenario.rules.ignoresUnchanged { wanted.append("ignored unchanged") }
        if scenario.rules.mute != nil { wanted.append("muted") }
        if scenario.datesByDue { wanted.removeAll { $0 == "late" } }
        return wanted
    }

    func step() {
        stepCount += 1
        if random.oneIn(7) { passTime() } else { command() }
        guard problem == nil else { return }
        compareTimers()
        if stepCount % 50 == 0 { compareAll() }
    }

    /// Notes a difference; only the first counts.
    func expect(_ isRight: Bool, _ message: @autoclosure () -> String) {
        if !isRight, problem == nil { problem = message() }
    }

    // MARK: Time

    private func passTime() {
        let span: Int64
        switch random.below(8) {
        case 0...2: span = random.below(20)
        case 3...5: span = random.below(1_500)
        case 6: span = random.below(9_000)
        default: span = random.oneIn(6) ? random.below(60_000) : 1
        }
        rig.now = rig.now + span
        naive.now += span
        doing = "\(span) ms pass"
        // A service under load comes late to its deadlines; a manual clock waits for them.
        if scenario.datesByDue || !random.oneIn(3) {
            fireAll()
        } else if random.oneIn(2) {
            fire(limit: Int(random.below(4)))
        }
    }

    private func fireAll() {
        var calls = 0
        while problem == nil, fire(limit: random.oneIn(2) ? 1_000 : 1 + Int(random.below(3))) {
            calls += 1
            expect(calls < 100_000, "the engine never comes to rest")
        }
        guard problem == nil else { return }
        for activity in naive.activities.values {
            if let due = naive.due(activity) { expect(due.at > naive.now, "#\(activity.id) was left: \(due)") }
        }
        for id in naive.retained where problem == nil {
            guard naive.mayForget(id) else { break }
            expect(false, "#\(id) was not forgotten")
        }
        expect(rig.engine.nextWork() > rig.now, "at rest, and yet there is work")
    }

    /// One call of `fireDue`: each of its events must be the next in the order of dates over all activities.
    @discardableResult
    private func fire(limit: Int) -> Bool {
        let isLate = rig.fire(limit: limit)
        let events = rig.events
        var index = 0
        while index < events.count, problem == nil {
            let id = events[index].id.number
            guard let activity = naive.activities[id], let due = naive.due(activity) else {
                problem = "\(events[index].line): nothing was due"
                break
            }
            let first = naive.activities.values.compactMap { naive.due($0)?.at }.min()
            expect(due.at <= naive.now && due.at == first, "\(events[index].line): \(due) before \(first ?? 0)")
            naive.steps = []
            naive.fire(id)
            let end = min(index + naive.steps.count, events.count)
            compareEvents(Array(events[index..<end]), naive.steps)
            index = end
        }
        naive.steps = []
        compareTouched(events)
        forgetWhatTheEngineForgot()
        return isLate
    }

    private func forgetWhatTheEngineForgot() {
        for id in naive.retained where rig.engine.slot(of: EntityID(id)) == nil {
            expect(naive.mayForget(id), "#\(id) was forgotten too early")
            naive.forget(id)
            seen["forgotten", default: 0] += 1
        }
    }

    // MARK: Comparing

    /// A command's outcome and events.
    func compare(_ outcome: Engine.Outcome, _ expected: String) {
        expect(outcome.text == expected, "it is '\(outcome.text)', and should be '\(expected)'")
        let words = expected.split(separator: " ")
        seen[words.first == "ignored" ? expected : String(words.first ?? ""), default: 0] += 1
        compare(rig.events, naive.steps)
        naive.steps = []
    }

    /// What a call did, and how it left those that it touched.
    func compare(_ events: [ActivityEvent], _ steps: [NaiveStep]) {
        compareEvents(events, steps)
        compareTouched(events)
    }

    private func compareTouched(_ events: [ActivityEvent]) {
        for event in events {
            if let activity = naive.activities[event.id.number] { compare(activity) }
        }
    }

    /// Each activity's events in order; between activities the order is free.
    private func compareEvents(_ events: [ActivityEvent], _ steps: [NaiveStep]) {
        let told = events.map { NaiveStep($0) }
        for id in Set(told.map(\.id) + steps.map(\.id)) {
            let (left, right) = (told.filter { $0.id == id }, steps.filter { $0.id == id })
            expect(left == right, "events of #\(id)\n  are       \(left)\n  should be \(right)")
        }
        for event in events {
            seen["\(event.name)", default: 0] += 1
            if event.lateBy ?? 0 > 0 { seen["late", default: 0] += 1 }
            if event.name == .started || event.name == .scheduled {
                order += 1
                naive.activities[event.id.number]?.order = order
            }
            if event.name == .dismissed { naive.retained.append(event.id.number) }
        }
    }

    private func compareTimers() {
        let due = naive.activities.values.compactMap { naive.due($0)?.at }
        expect(rig.engine.armedTimers == due.count, "\(rig.engine.armedTimers) timers, not \(due.count)")
        let earliest = due.min().map { Instant($0) } ?? .never
        expect(rig.engine.earliestDeadline() == earliest, "\(rig.engine.earliestDeadline()) is not \(earliest)")
        expect(rig.engine.nextWork() <= earliest, "work is announced after it is due")
    }

    private func compareAll() {
        for activity in naive.activities.values { compare(activity) }
        for device in Self.devices {
            expect(rig.settings("com.a", device: device).enabled == naive.effective("com.a", device).enabled, device)
        }
    }

    private func compare(_ activity: NaiveActivity) {
        let id = EntityID(activity.id)
        guard let slot = rig.engine.slot(of: id), let record = rig.engine.record(at: slot) else {
            expect(false, "#\(activity.id) is not there")
            return
        }
        let machine = record.machine
        expect(
            machine.facts(revision: record.revision) == activity.facts,
            "#\(activity.id) is \(machine.facts(revision: record.revision)), should be \(activity.facts)")
        expect(rig.engine.relevanceScore(of: slot, record) == activity.relevance, "#\(activity.id): relevance")
        if activity.isListed { expect(rig.content(id) == activity.content, "#\(activity.id): content") }
        let links = rig.engine.renewal(of: slot, record)
        expect(links.renews?.number == activity.renews, "#\(activity.id): renews")
        expect(links.renewedBy?.number == activity.renewedBy, "#\(activity.id): renewedBy")
        expect(record.device.map { rig.engine.devices.name($0) } == activity.device.map { Array($0.utf8) }, "device")
        rig.engine.withBytes(of: record.cold) { cold in
            let key = String(decoding: cold[record.keyRange], as: UTF8.self)
            expect(key == activity.key ?? "", "#\(activity.id): key '\(key)'")
            let attributes = String(decoding: cold[record.attributesRange], as: UTF8.self)
            expect(attributes == activity.attributes, "#\(activity.id): attributes '\(attributes)'")
        }
    }
}

extension ActivitySettings {
    var enabled: Bool { activitiesEnabled }
}

extension EntityID {
    /// The number that a test made it of.
    var number: UInt64 { low & 0x7FFF_FFFF_FFFF_FFFF }
}

extension ActivityMachine {
    /// In the words of the naive service.
    func facts(revision: UInt32) -> String {
        func text(_ date: Instant) -> String { date.isSet ? "\(date.milliseconds)" : "-" }
        return "\(state) \(cause) r\(revision) start \(text(startedAt)) stale \(text(staleDate)) end \(text(endedAt))"
            + " dismiss \(text(dismissAt)) stamp \(text(timestamp))"
    }
}

extension NaiveStep {
    init(_ event: ActivityEvent) {
        let alert =
            switch event.alert {
            case .none: "none"
            case .inFrame: "frame"
            case .stored: "stored"
            }
        self.init(
            id: event.id.number, name: "\(event.name)", from: event.before.map { "\($0.state)" } ?? "",
            facts: event.after.facts(revision: event.revision), at: event.at.milliseconds, lateBy: event.lateBy,
            isByCommand: event.isByCommand, contentChanged: event.contentChanged,
            relevanceChanged: event.relevanceChanged, alert: alert)
    }
}
