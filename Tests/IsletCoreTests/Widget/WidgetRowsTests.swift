import IsletCore
import Testing

/// The rows of apple-semantics 5, one test each.
@Suite("Widgets: the rows of apple-semantics 5")
struct WidgetRowsTests {
    private func rig(_ rules: RuleSet = .standard) -> WidgetRig {
        let rig = WidgetRig(rules)
        rig.declare()
        return rig
    }

    @Test("every row is a rule, and every rule says where it comes from and what it decided")
    func everyRow() {
        let rows = [
            "placeholder(in:)", "getSnapshot", "getTimeline", "AppIntentTimelineProvider", "TimelineEntry",
            "policy .atEnd", "policy .after(date)", "policy .never", "budget", "learning", "entry spacing", "exempt",
            "not enforced", "other system reloads", "herd effect", "TimelineEntryRelevance", "Smart Stack",
            "WidgetCenter", "installs", "widget push iOS 26", "deep links", "families", "onboarding", "error", "advice",
        ]
        let sources = Set(WidgetRule.allCases.map { "\($0.source)" })
        for row in rows { #expect(sources.contains("apple-semantics 5 \(row)"), "\(row)") }
        for rule in WidgetRule.allCases {
            #expect("\(rule.text)".hasSuffix("."), "\(rule)")
            let isRow = "\(rule.source)".hasPrefix("apple-semantics 5 ")
            #expect(!isRow || rows.contains("\(rule.source)".dropFirst(18).description), "\(rule)")
        }
    }

    @Test("placeholder(in:): until there is an entry the placeholder is drawn, and it asks nobody")
    func placeholder() {
        let rig = rig()
        rig.add()
        let id = rig.latest
        #expect(rig.state(id) == .loading && rig.entry(id) == "")
        rig.fail(id, .noProvider)
        #expect(rig.told == ["failed #1 r2 loading>placeholder provider"] && rig.calls.isEmpty)
        #expect(rig.machine(id)?.hasEntry == false && rig.machine(id)?.next.at == .never)
    }

    @Test("getTimeline: entries and a policy; the newest entry that is past is shown")
    func getTimeline() {
        let rig = rig()
        rig.add()
        let id = rig.latest
        #expect(rig.wanted == ["ask #1"] && rig.told == ["added #1 r1 >loading command exempt placement"])
        rig.answer(id, [SampleEntry(-hour), SampleEntry(-minute), SampleEntry(hour)], policy: .atEnd)
        #expect(rig.told == ["timeline #1 r2 loading>shown provider"])
        let machine = rig.machine(id)
        #expect(machine?.entryIndex == 1 && machine?.entryCount == 3 && machine?.policy == .atEnd)
        #expect(machine?.timelineAt == rig.now && machine?.failure == CallFailure.none)
        #expect(rig.events[0].changes.pastEntriesDropped && !rig.events[0].changes.entriesCoalesced)
        #expect(rig.entry(id)?.contains("\"n\":1") == true)
        #expect(rig.decisions(id).contains { $0.rule == .pastEntriesDropped })
    }

    @Test("AppIntentTimelineProvider: a new configuration clears what was shown and asks with it")
    func configuration() {
        let rig = rig()
        let id = rig.placed(configuration: "{\"city\":\"a\"}")
        rig.configure(id, "{\"city\":\"b\"}")
        #expect(rig.told == ["configured #1 r3 shown>loading configuration exempt placement"])
        #expect(rig.wanted == ["ask #1"] && rig.entry(id) == "" && rig.machine(id)?.timelineAt == .never)
        #expect(rig.events[0].rule == .configured && rig.events[0].changes.timeline)
        #expect(rig.configure(id, "{\"city\":\"b\"}").text == "ignored unchanged")
        rig.configure(id, rendering: "{\"mode\":\"accented\"}")
        #expect(rig.told == ["configured #1 r4 loading>loading command"] && rig.calls.isEmpty)
        rig.configure(id, "{\"city\":\"c\"}")
        #expect(rig.wanted == ["cancel #1", "ask #1"], "the call was for another configuration")
    }

    @Test("TimelineEntry: each entry is shown at its date, neither earlier nor later")
    func entries() {
        let rig = rig()
        let id = rig.placed(entries: [SampleEntry(0), SampleEntry(10 * minute), SampleEntry(20 * minute)])
        #expect(rig.machine(id)?.next.at == rig.now + 10 * minute && rig.machine(id)?.next.cause == .entry)
        #expect(rig.pass(10 * minute - 1) == [])
        #expect(rig.pass(1) == ["entry #1 r3 shown>shown entry late 0"])
        #expect(rig.entry(id)?.contains("\"n\":1") == true && rig.machine(id)?.entryIndex == 1)
        #expect(rig.pass(10 * minute + 7) == ["entry #1 r4 shown>shown entry late 7"])
        #expect(rig.machine(id)?.next.at == .never)
    }

    @Test("policy .atEnd, the default: the next timeline is asked for at the last entry's date")
    func atEnd() {
        let rig = rig()
        let id = rig.placed(entries: [SampleEntry(0), SampleEntry(hour)], policy: nil)
        #expect(rig.machine(id)?.policy == .atEnd)
        #expect(rig.pass(hour - 1) == [])
        #expect(
            rig.pass(1) == ["entry #1 r3 shown>shown entry late 0", "reloading #1 r4 shown>reloading atEnd late 0"])
        #expect(rig.wanted == ["ask #1"] && rig.budget(id)?.spent == 1)
    }

    @Test("policy .after(date): not earlier than the date", arguments: 0..<50)
    func after(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let rig = rig()
        for _ in 0..<seed % 7 { _ = rig.freshID() }
        let date = rig.now + 5 * minute + random.below(100 * hour)
        let id = rig.placed(policy: .after(date))
        let planned = rig.machine(id)?.next
        #expect(planned?.cause == .policy)
        #expect(planned.map { $0.at >= date && $0.at <= date + minute } == true)
        rig.pass(date - rig.now - 1)
        #expect(rig.state(id) == .shown, "not before its date")
        rig.pass(minute + 1)
        #expect(rig.state(id) == .reloading && rig.machine(id)?.cause == .after)
    }

    @Test("policy .never: only when its app asks")
    func never() {
        let rig = rig()
        let id = rig.placed(policy: .never)
        #expect(rig.pass(1_000 * hour) == [] && rig.machine(id)?.next.at == .never)
        rig.reload(id)
        #expect(rig.told == ["reloading #1 r3 shown>reloading request"])
    }

    @Test("budget: what is beyond it is held until a reload leaves the window, and runs by itself")
    func budget() {
        var rules = RuleSet.standard
        (rules.widgetDailyBudget, rules.widgetLearningBudget) = (3, 3)
        let rig = rig(rules)
        let id = rig.rested()
        let first = rig.now
        for _ in 0..<3 {
            #expect(rig.reload(id).text == "applied" && rig.wanted == ["ask #1"])
            rig.answer(id)
            rig.pass(10 * minute)
        }
        #expect(rig.budget(id)?.left == 0 && rig.budget(id)?.freeAt == first + 24 * hour)
        rig.reload(id)
        #expect(rig.told == ["held #1 r9 shown>shown request"] && rig.calls.isEmpty)
        let hold = rig.machine(id)?.hold
        #expect(hold?.until == first + 24 * hour && hold?.reason == .budget && hold?.cause == .request)
        #expect(rig.machine(id)?.next.at == hold?.until && rig.machine(id)?.next.cause == .held)
        #expect(rig.reload(id, source: .push).text == "applied" && rig.told == [])
        #expect(rig.machine(id)?.hold?.merged == 1 && rig.machine(id)?.hold?.cause == .request)
        #expect(rig.pass(first + (24 * hour - 1) - rig.now) == [])
        #expect(rig.pass(1) == ["reloading #1 r10 shown>reloading held late 0"])
        #expect(rig.machine(id)?.hold == nil && rig.budget(id)?.spent == 3)
    }

    @Test("learning: the first days have a larger budget")
    func learning() {
        var rules = RuleSet.standard
        (rules.widgetDailyBudget, rules.widgetLearningBudget) = (1, 4)
        (rules.widgetLearningSpan, rules.widgetReloadSpacing) = (10 * hour, 0)
        let rig = rig(rules)
        let id = rig.placed()
        let added = rig.now
        for _ in 0..<4 {
            rig.reload(id)
            rig.answer(id)
        }
        #expect(rig.budget(id)?.isLearning == true && rig.budget(id)?.limit == 4 && rig.budget(id)?.left == 0)
        rig.pass(10 * hour)
        #expect(rig.budget(id)?.isLearning == false && rig.budget(id)?.limit == 1 && rig.budget(id)?.spent == 4)
        #expect(rig.budget(id)?.freeAt == added + 24 * hour)
    }

    @Test("entry spacing: entries closer than five minutes become one")
    func entrySpacing() {
        let rig = rig()
        let id = rig.placed(
            entries: [SampleEntry(0), SampleEntry(minute), SampleEntry(2 * minute), SampleEntry(20 * minute)])
        #expect(rig.events[0].changes.entriesCoalesced)
        #expect(rig.machine(id)?.next.at == rig.now + 5 * minute)
        #expect(rig.pass(5 * minute) == ["entry #1 r3 shown>shown entry late 0"])
        #expect(rig.machine(id)?.entryIndex == 2 && rig.events[0].rule == .entriesCoalesced)
        rig.pass(15 * minute)
        #expect(rig.machine(id)?.entryIndex == 3 && rig.events[0].rule == .entryShown)
    }

    @Test("exempt: foreground, session, locale, appearance and StandBy cost nothing and are not held")
    func exempt() {
        let cases: [(DeviceEventKind, DeviceEventKind?, ReloadExemption)] = [
            (.appForeground, .appBackground, .foreground), (.sessionStart, .sessionEnd, .session),
            (.standByStart, .standByEnd, .standBy), (.localeChange, nil, .locale),
            (.appearanceChange, nil, .appearance),
        ]
        for (begin, end, exemption) in cases {
            let rig = rig()
            let id = rig.placed(device: "d")
            let namesApp = exemption == .foreground || exemption == .session
            rig.report("d", begin, app: namesApp ? "com.a" : nil)
            if end != nil { rig.reload(id) }
            #expect(rig.told.first?.hasSuffix("exempt \(exemption)") == true, "\(rig.told)")
            #expect(rig.wanted == ["ask #1"] && rig.budget(id)?.spent == 0 && rig.exempt(id, exemption) == 1)
            rig.answer(id)
            guard let end else { continue }
            rig.report("d", end, app: namesApp ? "com.a" : nil)
            rig.reload(id)
            #expect(rig.machine(id)?.hold?.reason == .spacing, "\(exemption) is over")
        }
    }

    @Test("exempt: the widget's own action, when it was performed and when it failed")
    func intent() {
        for fails in [false, true] {
            let rig = rig()
            let id = rig.placed()
            rig.act(id)
            #expect(rig.told == ["acting #1 r3 shown>acting person"] && rig.wanted == ["perform #1"])
            #expect(rig.machine(id)?.isInvalidated == true)
            if fails { rig.fail(id, isAction: true, .threw) } else { rig.performed(id) }
            let told =
                fails
                ? ["failed #1 r4 acting>shown provider", "reloading #1 r5 shown>reloading action exempt intent"]
                : ["performed #1 r4 acting>reloading action exempt intent"]
            #expect(rig.told == told && rig.wanted == ["ask #1"] && rig.exempt(id, .intent) == 1)
            #expect(rig.machine(id)?.isInvalidated == false && rig.budget(id)?.spent == 0)
        }
    }

    @Test("not enforced: developer mode of the device or the rules lifts budget and spacing", arguments: [true, false])
    func developerMode(byDevice: Bool) {
        var rules = RuleSet.standard
        (rules.widgetDailyBudget, rules.widgetLearningBudget) = (0, 0)
        rules.widgetDeveloperMode = !byDevice
        let rig = rig(rules)
        let id = rig.placed(device: "d")
        if byDevice { rig.report("d", .developerModeOn) }
        for _ in 0..<20 {
            rig.reload(id)
            #expect(rig.told.first?.hasSuffix("exempt developerMode") == true && rig.wanted == ["ask #1"])
            rig.answer(id, [SampleEntry(0), SampleEntry(1), SampleEntry(2)])
            #expect(!rig.events[0].changes.entriesCoalesced)
        }
        #expect(rig.budget(id)?.isDeveloperMode == true && rig.exempt(id, .developerMode) == 20)
        #expect(rig.pass(1).count == 1 && rig.pass(1).count == 1)
        guard byDevice else { return }
        rig.report("d", .developerModeOff)
        rig.reload(id)
        #expect(rig.machine(id)?.hold?.reason == .budget)
        #expect(rig.machine(id)?.next.at == .never, "a budget of nothing never runs")
    }

    @Test("other system reloads: becoming visible where the timeline is over or failed, and another place")
    func systemReloads() {
        let rig = rig()
        let id = rig.rested(device: "d")
        #expect(rig.visible(id).text == "ignored unchanged" && rig.told == [])
        rig.report("d", .locationChange)
        #expect(rig.told == ["reloading #1 r3 shown>reloading location"] && rig.budget(id)?.spent == 1)
        #expect(rig.events[0].rule == .systemReload)
        rig.fail(id, .noProvider)
        #expect(rig.budget(id)?.spent == 0, "nobody was asked")
        #expect(rig.visible(id).text == "applied")
        #expect(rig.told == ["reloading #1 r5 shown>reloading visible"] && rig.budget(id)?.spent == 1)
        rig.report("d", .locationChange)
        #expect(rig.told == [], "its timeline is asked for already")
        rig.answer(id)
        #expect(rig.told == ["timeline #1 r6 reloading>shown provider", "held #1 r7 shown>shown location"])
    }

    @Test("herd effect: the same date spreads over the jitter, at most a tenth of the way, never before")
    func herd() {
        let rig = rig()
        rig.isChecked = false
        let date = rig.now + 100 * minute
        var dates: Set<Instant> = []
        for _ in 0..<200 {
            let id = rig.placed(policy: .after(date))
            guard let next = rig.machine(id)?.next.at else { return complain("no policy") }
            #expect(next >= date && next <= date + minute)
            dates.insert(next)
        }
        #expect(dates.count > 150, "\(dates.count) of 200 are different")
        let soon = rig.placed(policy: .after(rig.now + 10 * minute))
        #expect(rig.machine(soon).map { $0.next.at <= rig.now + 11 * minute } == true)
        var rules = RuleSet.standard
        rules.widgetReloadJitter = 0
        let exact = self.rig(rules)
        let id = exact.placed(policy: .after(date))
        #expect(exact.machine(id)?.next.at == date)
    }

    @Test("TimelineEntryRelevance: relative to the highest of its timeline, for its duration or until the next entry")
    func relevance() {
        let rig = rig()
        let other = rig.placed(device: "d", entries: [SampleEntry(0, score: 50)])
        let id = rig.placed(
            device: "d",
            entries: [
                SampleEntry(0, score: 2, duration: 7 * minute), SampleEntry(10 * minute, score: 4), SampleEntry(hour),
            ])
        #expect(rig.stack() == "#1 entryRelevance 1.0, #2 entryRelevance 0.5", "50 is not more than 2 of 4")
        #expect(rig.machine(id)?.relevanceEndsAt == rig.now + 7 * minute)
        rig.pass(7 * minute - 1)
        #expect(rig.stack() == "#1 entryRelevance 1.0, #2 entryRelevance 0.5")
        rig.pass(1)
        #expect(rig.stack() == "#1 entryRelevance 1.0, #2 placement")
        rig.pass(3 * minute)
        #expect(rig.stack() == "#1 entryRelevance 1.0, #2 entryRelevance 1.0", "ties by placing")
        #expect(rig.machine(id)?.relevanceEndsAt == .never && rig.machine(other)?.isOnTop == true)
        rig.pass(hour)
        #expect(rig.stack() == "#1 entryRelevance 1.0, #2 placement")
    }

    @Test("Smart Stack: entry, then the kind's list, then placing; a change of the first is told by both")
    func smartStack() {
        let rig = rig()
        rig.declare("flight")
        let first = rig.placed(device: "d")
        let second = rig.placed("flight", device: "d", configuration: "{\"n\":1}")
        #expect(rig.machine(first)?.isOnTop == true && rig.machine(second)?.isOnTop == false)
        let list = [
            WidgetRelevance(configuration: Array("{\"n\":2}".utf8)),
            WidgetRelevance(from: rig.now + minute, to: rig.now + 2 * minute),
        ]
        rig.setRelevance("flight", list)
        #expect(rig.told == [] && rig.stack() == "#1 placement, #2 placement")
        #expect(
            rig.pass(minute) == [
                "rotated #1 r3 shown>shown stack late 0", "rotated #2 r3 shown>shown stack late 0",
            ])
        #expect(rig.machine(second)?.isOnTop == true && rig.stack() == "#2 widgetRelevance, #1 placement")
        #expect(rig.pass(minute).count == 2 && rig.machine(first)?.isOnTop == true)
        rig.remove(first)
        #expect(rig.told == ["removed #1 r5 shown>removed command", "rotated #2 r5 shown>shown stack"])
    }

    @Test("WidgetCenter: by kind and all, and what is held becomes one with it")
    func widgetCenter() {
        let rig = rig()
        rig.declare("flight")
        rig.declare("weather", "com.b")
        let ids = [rig.placed(), rig.placed(), rig.placed("flight")]
        let foreign = rig.placed("weather", "com.b")
        rig.pass(10 * minute)
        #expect(rig.reload(kind: "weather").text == "reloading 2" && rig.wanted == ["ask #1", "ask #2"])
        #expect(rig.reload(kind: nil).text == "reloading 3" && rig.wanted == ["ask #3"])
        #expect(rig.state(foreign) == .shown && rig.reload(kind: "none").text == "notFound")
        for id in ids { rig.answer(id) }
        #expect(ids.prefix(2).allSatisfy { rig.machine($0)?.hold != nil }, "the second request was newer than the call")
        #expect(rig.machine(ids[2])?.hold == nil)
    }

    @Test("installs: added and removed as events; an id is used once at a time over all families")
    func installs() {
        let rig = rig()
        let id = rig.placed()
        #expect(rig.add(id: id).text == "reconnectNotPermitted")
        rig.remove(id)
        #expect(rig.told == ["removed #1 r3 shown>removed command"] && rig.record(id) == nil)
        #expect(rig.remove(id).text == "notFound")
        #expect(rig.add(id: id).text == "applied" && rig.told == ["added #1 r1 >loading command exempt placement"])
        #expect(rig.add("none").text == "notFound")
    }

    @Test("widget push: acts like a reload of all, and is budgeted")
    func push() {
        let rig = rig()
        let id = rig.rested()
        #expect(rig.reload(kind: nil, source: .push).text == "reloading 1")
        #expect(rig.told == ["reloading #1 r3 shown>reloading push"] && rig.budget(id)?.spent == 1)
    }

    @Test("deep links: a tap is an event with its URL or link, and changes nothing else")
    func deepLinks() {
        let rig = rig()
        let id = rig.placed()
        rig.add()
        let empty = rig.latest
        let url = Array("\"a://b\"".utf8)
        rig.isChecked = false
        #expect(rig.tap(id, .link(name: Array("more".utf8), url: url)).text == "applied")
        #expect(rig.told == ["tapped #1 r3 shown>shown person"] && rig.calls.isEmpty)
        let interaction = rig.events[0].interaction
        #expect(interaction?.link?.count == 4 && interaction?.url?.count == 7 && interaction?.action == nil)
        #expect(rig.tap(empty).text == "applied", "a placeholder opens its app")
        #expect(rig.tap(empty, .link(name: [], url: url)) == .refused(.badField(.link, .unknownValue)))
        #expect(rig.act(empty) == .refused(.badField(.action, .unknownValue)))
    }

    @Test("families: a kind's own, and links only from medium on")
    func families() {
        let rig = WidgetRig()
        rig.declare(families: [.systemSmall, .accessoryInline])
        #expect(rig.add(family: .systemLarge) == .refused(.badField(.family, .unknownValue)))
        #expect(rig.add(family: .accessoryInline).text == "applied")
        let links = WidgetFamily.allCases.filter(\.allowsLinks)
        #expect(links == [.systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait])
        guard case .differs = rig.declare(families: [.systemSmall], mayReplace: true) else {
            return complain("a family of a placed widget went")
        }
        guard case .declared = rig.declare(families: [.accessoryInline], mayReplace: true) else {
            return complain("one that no widget is of may go")
        }
        guard case .declared = rig.declare(families: WidgetFamily.allCases, mayReplace: true) else {
            return complain("families may come")
        }
    }

    @Test("onboarding: a login entry, and nothing is asked by itself")
    func onboarding() {
        let rig = rig()
        rig.add()
        let id = rig.latest
        rig.answer(id, policy: nil, needsLogin: true)
        #expect(rig.machine(id)?.needsLogin == true && rig.machine(id)?.policy == .never)
        #expect(rig.events[0].rule == .loginEntry && rig.machine(id)?.next.at == .never)
        rig.pass(10 * minute)
        rig.reload(id)
        rig.answer(id)
        #expect(rig.machine(id)?.needsLogin == false)
    }

    @Test("error: the last entry is kept; tries come at growing distances up to two hours, not held without an entry")
    func error() {
        let rig = rig()
        let id = rig.rested()
        let entry = rig.entry(id)
        rig.reload(id)
        var last: Milliseconds = 0
        for count in 1...14 {
            rig.fail(id, .threw)
            #expect(rig.told == ["failed #1 r\(rig.record(id)?.revision ?? 0) reloading>shown provider"])
            #expect(rig.entry(id) == entry && rig.machine(id)?.failure == .threw)
            #expect(rig.machine(id)?.failures == UInt8(count) && rig.machine(id)?.next.cause == .retry)
            let span = (rig.machine(id)?.next.at ?? .never) - rig.now
            #expect(span >= 5 * minute && span <= 2 * hour, "\(span)")
            #expect(count < 5 || count > 7 || span > last, "\(span) after \(last)")
            last = span
            rig.pass(span)
            #expect(rig.machine(id)?.cause == .retry && rig.wanted == ["ask #1"])
        }
        #expect(rig.budget(id)?.spent == rig.budget(id)?.spentAt.count)
        rig.add()
        let young = rig.latest
        rig.fail(young, .timedOut)
        let span = (rig.machine(young)?.next.at ?? .never) - rig.now
        #expect(span >= 48_000 && span <= 72_000, "a try without an entry need not wait five minutes: \(span)")
        rig.pass(span)
        #expect(rig.exempt(young, .placement) == 2 && rig.budget(young)?.spent == 0)
    }

    @Test("advice: a timeline that misses its deadline is a failure with its own reason")
    func advice() {
        let rig = rig()
        rig.add()
        rig.fail(rig.latest, .timedOut)
        #expect(rig.told == ["failed #1 r2 loading>placeholder timeout"])
        #expect(rig.machine(rig.latest)?.failure == .timedOut)
        #expect(WidgetKindDeclaration(kind: [], families: []).timelineDeadline == 5_000)
    }
}
