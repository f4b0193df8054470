import IsletCore
import Testing

/// Reloads that are held, become one with others, run when they may, and are given back.
@Suite("Widgets: reloads that are held")
struct WidgetHoldTests {
    private func rig(budget: Int? = nil) -> WidgetRig {
        var rules = RuleSet.standard
        if let budget { (rules.widgetDailyBudget, rules.widgetLearningBudget) = (budget, budget) }
        let rig = WidgetRig(rules)
        rig.declare()
        return rig
    }

    /// Of how many devices something is known.
    private func conditions(_ rig: WidgetRig) -> Int { rig.engine.widgets.conditions.count }

    @Test("closer than five minutes to the last reload of any sort it is held until then")
    func spacing() {
        let rig = rig()
        let id = rig.placed()
        rig.pass(minute)
        rig.reload(id)
        #expect(rig.told == ["held #1 r3 shown>shown request"])
        let hold = rig.machine(id)?.hold
        #expect(hold?.reason == .spacing && hold?.until == rig.now + 4 * minute && rig.events[0].rule == .reloadSpacing)
        rig.reload(kind: nil, source: .push)
        rig.reload(id)
        #expect(rig.machine(id)?.hold?.merged == 2 && rig.told == [])
        #expect(rig.decisions(id).filter { $0.outcome == .merged }.count == 2)
        #expect(rig.pass(4 * minute) == ["reloading #1 r4 shown>reloading held late 0"])
        #expect(rig.budget(id)?.spent == 1 && rig.budget(id)?.lastReloadAt == rig.now)
    }

    @Test("what somebody did with a widget comes before what many are asked for")
    func awaited() {
        let rig = rig()
        rig.add()
        let id = rig.latest
        #expect(rig.calls.map(\.isAwaited) == [true])
        rig.answer(id)
        rig.pass(10 * minute)
        rig.reload(kind: nil, source: .push)
        #expect(rig.calls.map(\.isAwaited) == [false])
        rig.answer(id)
        rig.pass(10 * minute)
        rig.act(id)
        rig.performed(id)
        #expect(rig.calls.map(\.isAwaited) == [true])
        rig.fail(id, .noProvider)
        rig.visible(id)
        #expect(rig.calls.map(\.isAwaited) == [true])
    }

    @Test("where budget and spacing hold it, it is the later one, for the budget")
    func both() {
        let rig = rig(budget: 1)
        let id = rig.rested()
        rig.reload(id)
        rig.answer(id)
        let first = rig.now
        rig.pass(24 * hour - minute)
        rig.act(id)
        rig.performed(id)
        rig.answer(id)
        rig.reload(id)
        let hold = rig.machine(id)?.hold
        #expect(hold?.reason == .budget && hold?.until == first + 24 * hour + 4 * minute)
    }

    @Test(
        "what becomes exempt runs at once what is held there, of its app",
        arguments: [DeviceEventKind.appForeground, .sessionStart, .standByStart, .developerModeOn])
    func released(kind: DeviceEventKind) {
        let rig = rig(budget: 0)
        rig.declare("weather", "com.b")
        let here = rig.placed(device: "d")
        let elsewhere = rig.placed(device: "e")
        let foreign = rig.placed("weather", "com.b", device: "d")
        let calm = rig.placed(device: "d")
        for id in [here, elsewhere] { rig.reload(id) }
        rig.reload(foreign, "com.b")
        let namesApp = kind == .appForeground || kind == .sessionStart
        rig.report("d", kind, app: namesApp ? "com.a" : nil)
        #expect(rig.state(here) == .reloading && rig.machine(here)?.hold == nil)
        #expect(rig.state(foreign) == (namesApp ? .shown : .reloading))
        #expect(rig.state(elsewhere) == .shown && rig.state(calm) == .shown)
        #expect(rig.budget(here)?.spent == 0)
        #expect(rig.report("d", kind, app: namesApp ? "com.a" : nil) == "applied" && rig.told == [])
    }

    @Test(
        "an app that nobody knew is remembered at its first start: what it then places is exempt",
        arguments: [DeviceEventKind.appForeground, .sessionStart])
    func firstStart(kind: DeviceEventKind) {
        let rig = WidgetRig()
        #expect(rig.report("d", kind, app: "com.new") == "applied")
        rig.declare("weather", "com.new")
        let id = rig.placed("weather", "com.new", device: "d")
        for _ in 0..<3 {
            rig.reload(id, "com.new")
            #expect(rig.state(id) == .reloading)
            rig.answer(id)
        }
        #expect(rig.budget(id)?.spent == 0)
    }

    @Test("an exempt reload that could ask nobody stays exempt until somebody can be asked")
    func owed() {
        let rig = rig()
        let id = rig.placed(device: "d")
        rig.report("d", .localeChange)
        #expect(rig.state(id) == .reloading && rig.exempt(id, .locale) == 1)
        rig.fail(id, .noProvider)
        #expect(rig.state(id) == .shown && rig.exempt(id, .locale) == 0, "given back")
        rig.register()
        #expect(rig.state(id) == .reloading && rig.exempt(id, .locale) == 1 && rig.budget(id)?.spent == 0)
        rig.answer(id)
        rig.reload(id)
        #expect(rig.machine(id)?.hold?.reason == .spacing, "the next one is owed nothing")
    }

    @Test("a reboot ends foreground, sessions and StandBy, not developer mode")
    func reboot() {
        let rig = rig()
        let id = rig.placed(device: "d")
        rig.report("d", .standByStart)
        rig.report("d", .sessionStart, app: "com.a")
        rig.report("d", .appForeground, app: "com.a")
        rig.report("d", .reboot)
        #expect(conditions(rig) == 0)
        rig.reload(id)
        #expect(rig.machine(id)?.hold != nil)
        rig.report("d", .developerModeOn)
        rig.report("d", .reboot)
        #expect(conditions(rig) == 1 && rig.state(id) == .reloading)
    }

    @Test("an exempt reload takes over what is held")
    func takenOver() {
        let rig = rig(budget: 0)
        let id = rig.rested(device: "d")
        rig.reload(id)
        rig.report("d", .localeChange)
        #expect(rig.told == ["reloading #1 r4 shown>reloading locale exempt locale"])
        #expect(rig.machine(id)?.hold == nil)
        rig.answer(id)
        rig.reload(id)
        rig.act(id)
        #expect(rig.machine(id)?.hold == nil)
        rig.performed(id)
        #expect(rig.state(id) == .reloading && rig.exempt(id, .intent) == 1)
    }

    @Test("what asked nobody is given back, and holds nobody", arguments: [CallFailure.noProvider, .busy])
    func refunded(failure: CallFailure) {
        let rig = rig(budget: 1)
        let id = rig.rested()
        let last = rig.budget(id)?.lastReloadAt
        rig.reload(id)
        #expect(rig.budget(id)?.left == 0 && rig.budget(id)?.lastReloadAt == rig.now)
        rig.fail(id, failure)
        #expect(rig.budget(id)?.left == 1 && rig.budget(id)?.lastReloadAt == last)
        rig.pass(1_000)
        rig.register()
        #expect(rig.told == ["reloading #1 r5 shown>reloading registration"])
        rig.fail(id, .threw)
        #expect(rig.budget(id)?.left == 0, "somebody was asked")
        rig.report("e", .standByStart)
        rig.add(device: "e")
        let young = rig.latest
        rig.fail(young, failure)
        #expect(rig.exempt(young, .placement) == 0)
    }

    @Test("a provider that comes is asked by those without an entry, that failed, or are over; not by the others")
    func registration() {
        let rig = rig()
        let calm = rig.rested()
        rig.add()
        let empty = rig.latest
        rig.fail(empty, .noProvider)
        let failed = rig.rested()
        rig.reload(failed)
        rig.fail(failed, .noProvider)
        rig.add()
        let asking = rig.latest
        rig.register()
        #expect(Set(rig.wanted) == ["ask \(empty.short)", "ask \(failed.short)"])
        #expect(rig.state(calm) == .shown && rig.state(asking) == .loading)
        rig.answer(asking)
        #expect(rig.machine(asking)?.hold == nil, "a provider that came is no newer reason than the call")
    }

    @Test("a request while a timeline is on its way is asked for once more, and the strongest reason is kept")
    func dirty() {
        let rig = rig()
        let id = rig.rested(device: "d")
        rig.reload(id)
        rig.report("d", .localeChange)
        rig.reload(id)
        #expect(rig.told == [] && rig.machine(id)?.isDirty == true)
        rig.answer(id)
        #expect(
            rig.told == [
                "timeline #1 r4 reloading>shown provider", "reloading #1 r5 shown>reloading locale exempt locale",
            ])
        rig.answer(id)
        #expect(rig.told == ["timeline #1 r6 reloading>shown provider"])
    }

    @Test("a reload that only waited for a provider until its time was over is not charged")
    func onlyWaited() {
        let rig = rig(budget: 1)
        let id = rig.rested()
        let before = rig.budget(id)?.lastReloadAt
        rig.reload(id)
        #expect(rig.budget(id)?.spent == 1)
        rig.fail(id, .timedOut, wasSent: false)
        #expect(rig.budget(id)?.spent == 0 && rig.budget(id)?.lastReloadAt == before)
        rig.pass(hour)
        #expect(rig.state(id) == .reloading && rig.budget(id)?.spent == 1, "the next try is charged")
        rig.fail(id, .timedOut)
        #expect(rig.budget(id)?.spent == 1)
    }

    @Test("a widget whose entries are all ahead pays for its reloads, and its reloads are held, as any other's")
    func entriesAhead() {
        let rig = rig(budget: 1)
        let id = rig.placed(entries: [SampleEntry(10 * hour)])
        #expect(rig.state(id) == .placeholder)
        rig.reload(id)
        #expect(rig.machine(id)?.hold?.reason == .spacing && rig.state(id) == .placeholder)
        rig.pass(hour)
        #expect(rig.state(id) == .loading && rig.budget(id)?.spent == 1)
        rig.answer(id, [SampleEntry(10 * hour)])
        rig.reload(id)
        #expect(rig.machine(id)?.hold?.reason == .budget && rig.state(id) == .placeholder)
    }

    @Test(
        "a locale that changes while a timeline is on its way costs nothing, though that timeline fails",
        arguments: [CallFailure.threw, .timedOut, .noProvider, .busy])
    func dirtyAndFailed(failure: CallFailure) {
        let rig = rig(budget: 1)
        let id = rig.rested(device: "d")
        rig.reload(id)
        rig.report("d", .localeChange)
        rig.fail(id, failure)
        #expect(rig.state(id) == .shown)
        rig.pass(hour)
        if failure == .noProvider { rig.register() }
        #expect(rig.state(id) == .reloading && rig.exempt(id, .locale) == 1)
        #expect(rig.budget(id)?.spent == (failure.askedNobody ? 0 : 1))
        rig.answer(id)
        rig.reload(id)
        #expect(rig.machine(id)?.hold != nil, "the next one is owed nothing")
    }

    @Test("a policy whose date comes while it is held, or while it failed, asks once")
    func policyMeanwhile() {
        let rig = rig(budget: 0)
        let id = rig.rested(entries: [SampleEntry(0)], policy: .after(EngineRig.start + hour))
        rig.reload(id)
        #expect(rig.pass(2 * hour) == [] && rig.machine(id)?.hold?.merged == 0)
        let other = self.rig()
        let failing = other.rested(entries: [SampleEntry(0)], policy: .after(EngineRig.start + hour))
        other.pass(49 * minute)
        other.reload(failing)
        other.pass(5 * minute)
        other.fail(failing, .threw)
        #expect(other.machine(failing)?.isOver == true && other.machine(failing)?.next.cause == .retry)
        #expect(other.machine(failing).map { $0.next.at > other.now } == true, "the retry comes first")
    }

    @Test("three days of policies are charged as far as the budget goes, each hold runs", arguments: [true, false])
    func day(isManual: Bool) {
        var rules = RuleSet.standard
        (rules.widgetDailyBudget, rules.widgetLearningBudget) = (20, 20)
        let rig = WidgetRig(rules)
        rig.dating = isManual ? .whenDue : .whenNoticed
        rig.declare()
        let ids = (0..<5).map { _ in rig.placed(policy: .after(rig.now + 10 * minute)) }
        rig.isChecked = false
        var reloads: [EntityID: Int] = [:]
        for _ in 0..<(3 * 24 * 60) {
            rig.pass(minute)
            for id in ids where rig.machine(id)?.hasCall == true {
                reloads[id, default: 0] += 1
                rig.answer(id, policy: .after(rig.now + 10 * minute))
            }
        }
        rig.observer.check(rig.engine, at: rig.now)
        for id in ids {
            let count = reloads[id] ?? 0
            #expect(count >= 58 && count <= 60, "\(count) in three days")
            #expect(rig.budget(id).map { $0.spent <= 20 } == true)
        }
    }

    @Test("with `ifRevision` of another revision nothing happens")
    func guarded() {
        let rig = rig()
        let id = rig.rested()
        #expect(rig.reload(id, ifRevision: 1).text == "conflict r2")
        #expect(rig.configure(id, "{}", ifRevision: 1).text == "conflict r2")
        #expect(rig.tap(id, ifRevision: 1).text == "conflict r2")
        #expect(rig.remove(id, ifRevision: 3).text == "conflict r2")
        #expect(rig.visible(id, ifRevision: 1).text == "conflict r2")
        #expect(rig.visible(id, ifRevision: 2).text == "ignored unchanged")
        #expect(rig.add(ifRevision: 1).text == "notFound")
        #expect(rig.remove(id, ifRevision: 2).text == "applied")
    }

    @Test("an action is one at a time, and a late one asks for what its provider holds")
    func actions() {
        let rig = rig()
        let id = rig.placed()
        rig.act(id)
        #expect(rig.act(id).text == "ignored acting" && rig.reload(id).text == "applied" && rig.told == [])
        let stored = rig.record(id).map { rig.engine.action(of: $0) }
        #expect(stored?.name == Array("refresh".utf8) && stored?.parameters == Array("{\"n\":1}".utf8))
        rig.fail(id, isAction: true, .timedOut)
        rig.answer(id)
        guard let reference = rig.reference(id) else { return complain("gone") }
        let now = rig.now
        rig.step { $0.widgetActedLate(reference, at: now) }
        #expect(rig.told == ["reloading #1 r7 shown>reloading action exempt intent"])
    }

    @Test("an uninstalled app's widgets go from that device, and what was known of it there")
    func uninstall() {
        let rig = rig()
        rig.declare("weather", "com.b")
        let here = rig.placed(device: "d")
        let foreign = rig.placed("weather", "com.b", device: "d")
        let elsewhere = rig.placed(device: "e")
        rig.report("d", .sessionStart, app: "com.a")
        rig.report("d", .uninstall, app: "com.a")
        #expect(rig.told == ["removed #1 r3 shown>removed uninstall", "rotated #2 r3 shown>shown stack"])
        #expect(rig.record(here) == nil && rig.record(foreign) != nil && rig.record(elsewhere) != nil)
        #expect(conditions(rig) == 0)
    }

    @Test("a reload of very many goes on over several turns, and is refused beyond so many at a time")
    func many() {
        let rig = rig()
        rig.isChecked = false
        for _ in 0..<3_000 { _ = rig.placed() }
        rig.pass(hour)
        #expect(rig.reload(kind: nil).text == "reloading 3000")
        #expect(rig.calls.count == 64 && rig.engine.nextWork() <= rig.now)
        var refused = 0
        for _ in 0..<70 where rig.reload(kind: nil).text != "reloading 3000" { refused += 1 }
        #expect(refused == 0, "each turn goes on with them")
        rig.pass(0)
        #expect(rig.engine.widgets.countByState[Int(WidgetState.reloading.rawValue)] == 3_000)
        rig.observer.check(rig.engine, at: rig.now)
    }
}
