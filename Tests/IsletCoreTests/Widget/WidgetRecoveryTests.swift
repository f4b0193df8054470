import IsletCore
import Testing

/// Random lives of widgets, cut anywhere: a fresh engine that reads the snapshot and the events behind it is the same.
@Suite("Widgets: recovery")
struct WidgetRecoveryTests {
    private static let seeds = (0..<24).map { UInt64($0) &* 0x9E37_79B9 + 1 }

    /// A life of some steps, with the snapshot being written beside it.
    private func live(
        _ seed: UInt64, steps: Int
    ) -> (rig: WidgetRig, journal: WidgetJournal, history: WidgetHistory) {
        let rig = WidgetRig(WidgetHistory.rules)
        rig.dating = seed % 2 == 0 ? .whenDue : .whenNoticed
        rig.engine.isJournalled = true
        let journal = WidgetJournal()
        rig.journal = journal
        var history = WidgetHistory(seed: seed)
        history.begin(rig)
        for _ in 0..<steps {
            history.step(rig)
            if history.next(below: 4) == 0 { journal.sweep(&rig.engine, rows: history.next(below: 12)) }
        }
        return (rig, journal, history)
    }

    private func restored(_ rig: WidgetRig, _ journal: WidgetJournal) throws -> WidgetRig {
        var engine = Engine(rules: rig.engine.rules, start: rig.now)
        engine.isJournalled = true
        try journal.restore(to: &engine, declarations: rig.observer.declarations)
        let copy = WidgetRig(engine, goingOnFrom: rig)
        copy.observer.meet(copy.engine)
        return copy
    }

    private func compare(_ id: EntityID, _ rig: WidgetRig, _ copy: WidgetRig, _ seed: UInt64) {
        guard let old = rig.record(id), let new = copy.record(id) else {
            return complain("\(id.short) is gone, seed \(seed)")
        }
        #expect(new.machine.settled == old.machine.settled, "seed \(seed): \(id.short)")
        #expect(new.revision == old.revision && new.lastSeq == old.lastSeq, "seed \(seed)")
        #expect(new.addedAt == old.addedAt && new.family == old.family, "seed \(seed)")
        #expect(new.actionGivenUpAt == old.actionGivenUpAt, "seed \(seed): \(id.short)")
        for path in [\WidgetRecord.configuration, \.rendering, \.timeline, \.carried, \.ledger, \.failureReason] {
            #expect(copy.text(new[keyPath: path]) == rig.text(old[keyPath: path]), "seed \(seed): \(id.short)")
        }
        #expect(copy.entry(id) == rig.entry(id), "seed \(seed): \(id.short)")
        let budgets = (rig.engine.budget(of: old, at: rig.now), copy.engine.budget(of: new, at: rig.now))
        #expect(budgets.0.spentAt == budgets.1.spentAt && budgets.0.freeAt == budgets.1.freeAt, "seed \(seed)")
        #expect(budgets.0.exempt.map(\.count) == budgets.1.exempt.map(\.count), "seed \(seed)")
        let names = (old.device.map { rig.engine.devices.name($0) }, new.device.map { copy.engine.devices.name($0) })
        #expect(names.0 == names.1, "seed \(seed)")
    }

    @Test("the whole state comes back: records, ledgers, kinds, conditions, digests, counts, stacks", arguments: seeds)
    func same(seed: UInt64) throws {
        let (rig, journal, _) = live(seed, steps: 120 + Int(seed % 120))
        let copy = try restored(rig, journal)
        for id in rig.observer.widgets { compare(id, rig, copy, seed) }
        #expect(copy.engine.widgets.count == rig.engine.widgets.count)
        #expect(copy.engine.widgets.countByState == rig.engine.widgets.countByState)
        let counts = (copy.engine.widgets.conditions.count, rig.engine.widgets.conditions.count)
        #expect(counts.0 == counts.1, "seed \(seed)")
        for name in ["d", "e"].map({ Array($0.utf8) }) {
            let (old, new) = (rig.engine.widgets.conditions[name], copy.engine.widgets.conditions[name])
            #expect(new?.isInStandBy == old?.isInStandBy && new?.isInDeveloperMode == old?.isInDeveloperMode)
            #expect(new?.foregroundApps.count == old?.foregroundApps.count, "seed \(seed)")
            #expect(new?.sessionApps.count == old?.sessionApps.count, "seed \(seed)")
        }
        #expect(copy.engine.entityCount == rig.engine.entityCount)
        for device in ["d", "e"] { #expect(copy.stack(device) == rig.stack(device), "seed \(seed)") }
        for name in ["com.a", "com.b"] {
            let (old, new) = (rig.app(name), copy.app(name))
            #expect(new?.seq == old?.seq && new?.entities == old?.entities, "seed \(seed)")
            #expect(new?.digest == old?.digest, "seed \(seed)")
            for kind in ["weather", "flight"] {
                guard let before = rig.kind(kind, name), let after = copy.kind(kind, name) else {
                    complain("\(kind) is gone, seed \(seed)")
                    continue
                }
                let (old, new) = (rig.engine.widgets.kinds[before], copy.engine.widgets.kinds[after])
                #expect(new.declaration == old.declaration && new.placed == old.placed, "seed \(seed)")
                #expect(copy.engine.relevance(of: after) == rig.engine.relevance(of: before), "seed \(seed)")
                let recommended = (rig.engine.recommendations(of: before), copy.engine.recommendations(of: after))
                #expect(recommended.0 == recommended.1, "seed \(seed)")
            }
        }
    }

    @Test("every prefix of a life comes back: what was told is what is there", arguments: seeds.prefix(4))
    func prefixes(seed: UInt64) throws {
        let rig = WidgetRig(WidgetHistory.rules)
        rig.engine.isJournalled = true
        let journal = WidgetJournal()
        rig.journal = journal
        var history = WidgetHistory(seed: seed)
        history.begin(rig)
        var states: [(count: Int, machines: [EntityID: String])] = []
        for _ in 0..<120 {
            history.step(rig)
            let machines = rig.observer.widgets.map { ($0, rig.machine($0)?.settled ?? "") }
            states.append((journal.count, Dictionary(uniqueKeysWithValues: machines)))
        }
        for (count, machines) in states {
            var engine = Engine(rules: rig.engine.rules, start: rig.now)
            try journal.restore(to: &engine, declarations: rig.observer.declarations, through: count)
            #expect(engine.widgets.count == machines.count, "seed \(seed) at \(count)")
            for (id, machine) in machines {
                let slot = engine.widgets.slot(of: id)
                let restored = slot.flatMap { engine.widgets.record(at: $0) }?.machine.settled
                #expect(restored == machine, "seed \(seed) at \(count): \(id.short)")
            }
        }
    }

    @Test(
        "after the restart timelines are asked for and not paid twice, no action runs again, and life goes on",
        arguments: seeds)
    func restarted(seed: UInt64) throws {
        let (rig, journal, life) = live(seed, steps: 150)
        var history = life
        let copy = try restored(rig, journal)
        let acting = rig.observer.widgets.filter { rig.state($0) == .acting }
        let asking = rig.observer.widgets.filter { rig.machine($0)?.isAsking == true }
        let spent = asking.map { rig.budget($0)?.spent }
        let now = copy.now
        copy.step { $0.restartWidgets(at: now) }
        for call in copy.calls { #expect(call.kind == .askTimeline, "seed \(seed)") }
        #expect(copy.calls.count == acting.count + asking.count, "seed \(seed)")
        #expect(asking.map { copy.budget($0)?.spent } == spent, "seed \(seed)")
        #expect(Set(copy.events.filter { $0.name == .failed }.map(\.id)) == Set(acting), "seed \(seed)")
        for id in acting {
            let machine = copy.machine(id)
            #expect(machine?.failure == .unknownOutcome && machine?.cause == .recovery, "seed \(seed)")
            #expect(copy.state(id) == .reloading, "seed \(seed)")
        }
        // From here on the observer compares each step, also whether a call is out for whatever waits for one.
        for _ in 0..<60 { history.step(copy) }
    }

    @Test("timers come back: the restored engine tells the same from then on", arguments: seeds.prefix(10))
    func timers(seed: UInt64) throws {
        let (rig, journal, _) = live(seed, steps: 200)
        let copy = try restored(rig, journal)
        rig.journal = nil
        (rig.isChecked, copy.isChecked) = (false, false)
        let now = copy.now
        // Both begin again, since no event tells that a timeline is to be asked for once more. Then neither has a call
        // that is out, so that only dates tell.
        for each in [rig, copy] { each.step { $0.restartWidgets(at: now) } }
        for id in rig.observer.widgets where rig.machine(id)?.isAsking == true {
            for each in [rig, copy] { each.fail(id, .noProvider) }
        }
        for _ in 0..<200 {
            let told = (rig.pass(7 * minute), copy.pass(7 * minute))
            #expect(told.0 == told.1, "seed \(seed)")
            for id in rig.observer.widgets where rig.machine(id)?.isAsking == true {
                rig.answer(id, [SampleEntry(0), SampleEntry(hour)], policy: nil)
                copy.answer(id, [SampleEntry(0), SampleEntry(hour)], policy: nil)
            }
        }
    }

    @Test("a journal is restored from what another recovery wrote", arguments: seeds.prefix(8))
    func twice(seed: UInt64) throws {
        let (rig, journal, life) = live(seed, steps: 100)
        var history = life
        let copy = try restored(rig, journal)
        copy.journal = journal
        let now = copy.now
        copy.step { $0.restartWidgets(at: now) }
        for _ in 0..<60 {
            history.step(copy)
            if history.next(below: 3) == 0 { journal.sweep(&copy.engine, rows: 20) }
        }
        let third = try restored(copy, journal)
        for id in copy.observer.widgets { compare(id, copy, third, seed) }
    }

    @Test(
        "a reload of very many that was answered goes on after a restart, whatever turn it had come to",
        arguments: [0, 1, 2, 3], [false, true])
    func sweepGoesOn(turns: Int, hasSnapshot: Bool) throws {
        let rig = WidgetRig()
        rig.engine.isJournalled = true
        rig.isChecked = false
        let journal = WidgetJournal()
        rig.journal = journal
        rig.declare()
        rig.declare("calm")
        let ids = (0..<2_500).map { _ in rig.placed() }
        let calm = rig.placed("calm")
        rig.pass(hour)
        #expect(rig.reload(kind: "weather").text == "reloading 2500")
        let now = rig.now
        for turn in 0..<turns {
            if hasSnapshot, turn == 1 { journal.sweep(&rig.engine, rows: 10_000) }
            _ = rig.step { $0.fireDue(at: now, dating: .whenNoticed, limit: 1) }
        }
        if hasSnapshot { journal.sweep(&rig.engine, rows: 10_000) }
        let copy = try restored(rig, journal)
        (copy.isChecked, copy.journal) = (false, journal)
        copy.step { $0.restartWidgets(at: now) }
        copy.pass(minute)
        #expect(ids.allSatisfy { copy.state($0) == .reloading && copy.budget($0)?.spent == 1 })
        #expect(copy.state(calm) == .shown)
        for id in ids { copy.answer(id) }
        copy.pass(hour)
        // It is through: the next restart has nothing to go on with.
        let third = try restored(copy, journal)
        third.isChecked = false
        third.step { $0.restartWidgets(at: now + 2 * hour) }
        #expect(third.pass(2 * hour) == [] && third.engine.widgets.countByState[Int(WidgetState.shown.rawValue)] == 2_501)
    }

    @Test("timelines and ledgers are written where they changed, and not with every event")
    func sizes() throws {
        let rig = WidgetRig()
        rig.declare()
        let journal = WidgetJournal()
        rig.journal = journal
        let id = rig.placed(entries: (0..<200).map { SampleEntry(Milliseconds($0) * 10 * minute) })
        #expect((journal.images.last?.count ?? 0) > 10_000)
        rig.pass(10 * minute)
        rig.tap(id)
        for bytes in journal.images.suffix(2) {
            let image = try WidgetImage(bytes.span)
            #expect(image.timeline == nil && image.ledger == nil && bytes.count < 150, "\(bytes.count)")
        }
        rig.reload(id)
        let bytes = journal.images[journal.images.count - 1]
        let last = try WidgetImage(bytes.span)
        #expect(last.timeline == nil && last.ledger != nil)
    }

    @Test("an id that came again before its first slot was written does not stand in the way", arguments: [false, true])
    func idTwice(inOtherApp: Bool) throws {
        let rig = WidgetRig()
        rig.engine.isJournalled = true
        let journal = WidgetJournal()
        rig.journal = journal
        rig.declare()
        rig.declare("weather", "com.b")
        let ids = (0..<100).map { _ in rig.placed() }
        journal.sweep(&rig.engine, rows: 200)
        // The next round has passed the first 64 slots, and not the last one.
        for id in ids { rig.tap(id) }
        journal.sweep(&rig.engine, rows: 80)
        rig.remove(ids[0])
        _ = rig.placed()
        let app = inOtherApp ? "com.b" : "com.a"
        rig.add("weather", app, id: ids[0])
        journal.sweep(&rig.engine, rows: 200)
        let copy = try restored(rig, journal)
        compare(ids[0], rig, copy, 0)
        #expect(copy.state(ids[0]) == .loading && copy.observer.app(of: ids[0]) == app)
        #expect(copy.engine.widgets.count == 101)
    }

    @Test("a part of a widget that is not there is passed over")
    func part() throws {
        let rig = WidgetRig()
        rig.declare()
        let journal = WidgetJournal()
        rig.journal = journal
        let id = rig.placed()
        rig.tap(id)
        var engine = Engine(rules: .standard, start: rig.now)
        let bytes = journal.images[2]
        let image = try WidgetImage(bytes.span)
        try engine.restoreWidget(id, seq: 3, image, app: Array("com.a".utf8), kind: Array("weather".utf8))
        #expect(engine.widgets.count == 0)
        #expect(throws: ImageError.self) {
            var engine = Engine(rules: .standard, start: rig.now)
            try engine.restoreWidget(id, at: 0, seq: 3, image, app: Array("com.a".utf8), kind: Array("weather".utf8))
        }
    }
}

/// The bytes of an image on a disk that lies.
@Suite("Widgets: damaged images")
struct WidgetImageTests {
    /// Images of many machines.
    private func images(_ seed: UInt64) -> [[UInt8]] {
        let rig = WidgetRig(WidgetHistory.rules)
        let journal = WidgetJournal()
        rig.journal = journal
        var history = WidgetHistory(seed: seed)
        history.begin(rig)
        for _ in 0..<300 { history.step(rig) }
        var seen: Set<[UInt8]> = []
        return journal.images.filter { $0.count < 600 && seen.insert(Array($0.prefix(6))).inserted }
    }

    @Test("one that is cut anywhere, or has a byte too much, is refused")
    func cut() throws {
        for bytes in images(7).prefix(15) {
            _ = try WidgetImage(bytes.span)
            for count in bytes.indices {
                #expect(throws: ImageError.self) { try WidgetImage(bytes.span.extracting(..<count)) }
            }
            let longer = bytes + [0]
            #expect(throws: ImageError.tooLong) { try WidgetImage(longer.span) }
            var later = bytes
            later[0] = 6
            #expect(throws: ImageError.unknownVersion(6)) { try WidgetImage(later.span) }
        }
    }

    @Test("one of the releases that kept no dates of states is the same without them")
    func former() throws {
        var count = 0
        for bytes in images(7) {
            var image = try WidgetImage(bytes.span)
            let hasDate = image.actionGivenUpAt.isSet
            // With a failure there is another date behind the one of the state.
            guard image.dates.stateAt.isSet, !image.dates.failingSince.isSet, image.failureReason?.isEmpty ?? true else { continue }
            count += 1
            let behind = (hasDate ? 8 : 0) + 9
            var former = bytes
            former.remove(at: bytes.count - behind)
            former.removeLast(8)
            former[0] = hasDate ? 3 : 2
            image.dates = StateDates()
            #expect(try WidgetImage(former.span) == image)
        }
        #expect(count > 3)
    }

    @Test("one with a bit that flipped is refused, or is a widget like any other")
    func flipped() {
        var taken = 0
        var refused = 0
        for bytes in images(8).prefix(20) {
            for bit in stride(from: taken % 5, to: bytes.count * 8, by: 5) {
                var damaged = bytes
                damaged[bit / 8] ^= 1 << UInt8(bit % 8)
                guard let image = try? WidgetImage(damaged.span) else {
                    refused += 1
                    continue
                }
                taken += 1
                use(image)
            }
        }
        #expect(taken > 500 && refused > 500, "\(taken) taken, \(refused) refused")
    }

    /// Lets everything happen to a widget of an image; nothing may trap, and nothing may go on without end.
    private func use(_ image: WidgetImage) {
        guard image.isWhole else { return }
        let now = EngineRig.start + 1_000
        var engine = Engine(rules: .standard, start: now)
        var kind = WidgetKindDeclaration(kind: Array("k".utf8), families: WidgetFamily.allCases)
        kind.json = [1]
        let app = Array("com.a".utf8)
        let id = EntityID(1)
        var fact = ImageWriter()
        fact.write(byte: 1)
        fact.write(run: kind.json)
        fact.write(false)
        fact.write(false)
        do {
            let key = Array("wcom.a/k".utf8)
            guard let known = try Engine.widgetKindFact(key.span, fact.bytes.span) else { return complain("no fact") }
            try engine.restoreWidgetKind(kind, known, isInSnapshot: true)
            try engine.restoreWidget(id, at: 0, seq: 5, image, app: app, kind: kind.kind)
            engine.finishSnapshot()
            try engine.finishRestoring(isProven: false)
        } catch {
            return
        }
        engine.restartWidgets(at: now)
        for span in [0, hour, 30 * hour, 1_000 * hour] {
            var turns = 0
            // The clock stands where a call is wanted, until it is taken.
            while engine.fireDue(at: now + span, dating: .whenDue, limit: 10), turns < 2_000 {
                _ = engine.widgets.takeCalls()
                turns += 1
            }
            #expect(turns < 2_000, "it never comes to rest")
            _ = engine.widgets.takeCalls()
        }
        var frame = FrameBuilder()
        let address = ControlAddress(app: frame.run("com.a"), id: id)
        let bytes = frame.bytes
        let later = now + 2_000 * hour
        let tapping = Engine.WidgetTapping.action(name: [97], parameters: nil)
        _ = engine.tapWidget(address, tapping, Envelope(), bytes.span, at: later, .whenNoticed)
        if let slot = engine.widgets.slot(of: id) {
            let reference = engine.widgets.reference(to: slot)
            for isAction in [true, false] {
                engine.widgetCallFailed(reference, isAction: isAction, .timedOut, at: later)
            }
            if let record = engine.widgets.record(at: slot) {
                _ = engine.budget(of: record, at: later)
                _ = engine.entryIndex(of: record, at: later)
            }
        }
        _ = engine.removeWidget(address, Envelope(), bytes.span, at: later, .whenNoticed)
        engine.releaseEvents()
        #expect(engine.widgets.slot(of: id) == nil)
    }
}
