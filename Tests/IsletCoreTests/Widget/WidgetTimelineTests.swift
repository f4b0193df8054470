import IsletCore
import Testing

/// Which entry is shown when: against a clock that looks every minute, and the special cases one by one.
@Suite("Widgets: timelines")
struct WidgetTimelineTests {
    private func rig(_ rules: RuleSet = .standard) -> WidgetRig {
        let rig = WidgetRig(rules)
        rig.declare()
        return rig
    }

    private static let seeds = (0..<25).map { UInt64($0) &* 0x9E37_79B9 + 5 }

    /// What the contract says, looked at every second: the newest past entry at first; then at the later of the next
    /// date and five minutes after the last change, the newest one that is past.
    private func naive(_ dates: [Milliseconds], from start: Milliseconds, to end: Milliseconds) -> [Milliseconds: Int] {
        var changes: [Milliseconds: Int] = [:]
        var index = dates.lastIndex { $0 <= start }
        var changedAt = index.map { dates[$0] > start ? dates[$0] : start }
        for second in stride(from: start, through: end, by: 1_000) {
            guard let following = dates.indices.first(where: { $0 > index ?? -1 }), dates[following] <= second else {
                continue
            }
            if let last = changedAt, second < last + 5 * minute { continue }
            index = dates.lastIndex { $0 <= second }
            changedAt = second
            changes[second] = index
        }
        return changes
    }

    @Test("entries come at the dates that a naive clock finds, each told once", arguments: seeds, [true, false])
    func course(seed: UInt64, isManual: Bool) {
        var random = SeededRandom(seed: seed)
        let rig = rig()
        rig.dating = isManual ? .whenDue : .whenNoticed
        rig.isChecked = false
        let start = rig.now
        let dates = (0..<Int(1 + random.below(30))).map { _ in
            (random.below(7_200) - 1_200) * 1_000
        }.sorted()
        let id = rig.placed(entries: dates.map { SampleEntry($0) })
        let timeline = rig.record(id)
        let expected = naive(dates, from: 0, to: 3 * hour)
        let isLate = !expected.isEmpty && !dates.filter { $0 > 0 }.allSatisfy { date in
            expected[date].map { dates[$0] == date } ?? false
        }
        // Entries of one date are one too many as well.
        let isDoubled = Set(dates.filter { $0 > 0 }).count < dates.count { $0 > 0 }
        #expect(rig.events[0].changes.entriesCoalesced == (isLate || isDoubled), "seed \(seed)")
        #expect(rig.events[0].changes.pastEntriesDropped == (dates.count { $0 <= 0 } > 1), "seed \(seed)")
        var told: [Milliseconds: Int] = [:]
        if isManual {
            rig.now = start + 3 * hour
            while rig.step({ $0.fireDue(at: start + 3 * hour, dating: .whenDue, limit: 3) }) {
                for (event, entry) in zip(rig.events, rig.entries) {
                    told[event.at - start] = event.after.entryIndex.map { Int($0) }
                    // The bytes are those of that very entry, though later ones were shown in the same turn.
                    let shown = "\"n\":\(event.after.entryIndex ?? .max)"
                    #expect(entry.contains(shown), "seed \(seed): \(entry)")
                }
            }
            for event in rig.events { told[event.at - start] = event.after.entryIndex.map { Int($0) } }
        } else {
            for second in 1...10_800 {
                for _ in rig.pass(1_000) {
                    told[Milliseconds(second) * 1_000] = rig.machine(id)?.entryIndex.map { Int($0) }
                }
            }
        }
        #expect(told == expected, "seed \(seed)")
        // The question what is shown at a date has the same answer, before and after.
        var index = dates.lastIndex { $0 <= 0 }
        for second in stride(from: Milliseconds(0), through: 3 * hour, by: 10_000) {
            for moment in stride(from: second - 9_000, through: second, by: 1_000) { index = expected[moment] ?? index }
            if let timeline { #expect(rig.engine.entryIndex(of: timeline, at: start + second) == index) }
            if let after = rig.record(id) { #expect(rig.engine.entryIndex(of: after, at: start + second) == index) }
        }
        if let timeline { #expect(rig.engine.entryIndex(of: timeline, at: start + -1) == nil) }
    }

    @Test("where all entries are ahead, the entry that is shown stays until the first date, whatever the spacing")
    func carriedOver() {
        let rig = rig()
        let id = rig.rested()
        rig.report("d", .standByStart)
        let entry = rig.entry(id)
        rig.reload(id)
        rig.answer(id, [SampleEntry(minute), SampleEntry(2 * minute)], policy: .atEnd)
        #expect(rig.told == ["timeline #1 r4 reloading>shown provider"] && !rig.events[0].changes.entry)
        #expect(rig.entry(id) == entry && rig.machine(id)?.entryIndex == nil && rig.machine(id)?.entryCount == 2)
        #expect(rig.record(id).map { rig.engine.entryIndex(of: $0, at: rig.now) } == .some(nil))
        rig.pass(10 * minute)
        rig.answer(id, [SampleEntry(hour)])
        #expect(rig.machine(id)?.hasEntry == true && rig.machine(id)?.entryIndex == nil, "carried over twice")
        #expect(rig.pass(hour) == ["entry #1 r8 shown>shown entry late 0"])
        #expect(rig.record(id)?.carried == .empty && rig.machine(id)?.entryIndex == 0)
    }

    @Test("an entry that was carried over does not delay the first one of the new timeline")
    func carriedOverAtOnce() {
        let rig = rig()
        let id = rig.placed()
        rig.act(id)
        rig.performed(id)
        rig.answer(id, [SampleEntry(3)])
        #expect(rig.pass(3) == ["entry #1 r6 shown>shown entry late 0"])
    }

    @Test("without an entry all that are ahead leave the placeholder until the first date")
    func placeholderUntilThen() {
        let rig = rig()
        rig.add()
        let id = rig.latest
        rig.answer(id, [SampleEntry(minute), SampleEntry(hour)])
        #expect(rig.told == ["timeline #1 r2 loading>placeholder provider"] && rig.machine(id)?.hasEntry == false)
        #expect(rig.pass(minute) == ["entry #1 r3 placeholder>shown entry late 0"])
        rig.add()
        let other = rig.latest
        rig.answer(other, [SampleEntry(hour)])
        rig.pass(10 * minute)
        rig.reload(other)
        #expect(rig.wanted == ["ask #2"] && rig.exempt(other, .placement) == 1 && rig.budget(other)?.spent == 1)
        #expect(rig.pass(50 * minute).contains("entry #2 r4 loading>reloading entry late 0"))
    }

    @Test("of equal dates the later one wins")
    func equalDates() {
        let rig = rig()
        let id = rig.placed(entries: [SampleEntry(0), SampleEntry(0), SampleEntry(hour), SampleEntry(hour)])
        #expect(rig.machine(id)?.entryIndex == 1 && rig.events[0].changes.pastEntriesDropped)
        rig.pass(hour)
        #expect(rig.machine(id)?.entryIndex == 3)
    }

    @Test("the time that an answer takes on its way delays no entry of it")
    func latency() {
        let rig = rig()
        rig.add()
        let id = rig.latest
        rig.now = rig.now + 40
        rig.answer(id, [SampleEntry(-40), SampleEntry(5 * minute - 40), SampleEntry(10 * minute - 40)])
        #expect(!rig.events[0].changes.entriesCoalesced)
        #expect(rig.machine(id)?.next.at == rig.now + (5 * minute - 40))
    }

    @Test("many dates that passed at once are one event where the clock is late, and the newest entry is shown")
    func late() {
        let rig = rig()
        let id = rig.placed(entries: (0..<100).map { SampleEntry(Milliseconds($0) * 10 * minute) })
        #expect(rig.pass(500 * minute + 5).count == 1)
        #expect(rig.machine(id)?.entryIndex == 50 && rig.events.last?.lateBy == 5)
    }

    @Test("entries go on while a timeline is asked for and while an action runs")
    func meanwhile() {
        let rig = rig()
        let id = rig.placed(entries: [SampleEntry(0), SampleEntry(10 * minute), SampleEntry(20 * minute)])
        rig.pass(6 * minute)
        rig.reload(id)
        #expect(rig.pass(4 * minute) == ["entry #1 r4 reloading>reloading entry late 0"])
        rig.act(id)
        #expect(rig.wanted == ["cancel #1", "perform #1"])
        #expect(rig.pass(10 * minute) == ["entry #1 r6 acting>acting entry late 0"])
    }

    @Test("a policy whose date has passed asks when two reloads may be so close, not at once", arguments: [true, false])
    func pastPolicy(isDeveloperMode: Bool) {
        var rules = RuleSet.standard
        rules.widgetDeveloperMode = isDeveloperMode
        let rig = rig(rules)
        let past = rig.placed(policy: .after(rig.now + -hour))
        let end = rig.placed(entries: [SampleEntry(-hour)], policy: .atEnd)
        let span: Milliseconds = isDeveloperMode ? 1_000 : 5 * minute
        for id in [past, end] { #expect(rig.machine(id)?.next.at == rig.now + span) }
        rig.pass(span)
        #expect(rig.state(past) == .reloading && rig.state(end) == .reloading)
        #expect(rig.machine(past)?.hold == nil, "planned so, and not held")
    }

    @Test("no entries at all are a bad answer")
    func empty() {
        let rig = rig()
        rig.add()
        rig.answer(rig.latest, [])
        #expect(rig.machine(rig.latest)?.failure == .badAnswer && rig.state(rig.latest) == .placeholder)
    }
}
