import IsletCore
import Testing

/// Random lives of controls, cut anywhere: a fresh engine that reads the snapshot and the events behind it is the same.
@Suite("Controls: recovery")
struct ControlRecoveryTests {
    private static let seeds = (0..<60).map { UInt64($0) &* 0x9E37_79B9 + 1 }

    /// A life of some steps, with the snapshot being written beside it.
    private func live(
        _ seed: UInt64, steps: Int
    ) -> (rig: ControlRig, journal: ControlJournal, history: ControlHistory) {
        let rig = ControlRig()
        rig.engine.isJournalled = true
        let journal = ControlJournal()
        rig.recorder = journal
        var history = ControlHistory(seed: seed)
        history.begin(rig)
        for _ in 0..<steps {
            history.step(rig)
            if history.next(below: 4) == 0 { journal.sweep(&rig.engine, rows: history.next(below: 12)) }
        }
        return (rig, journal, history)
    }

    private func restored(_ rig: ControlRig, _ journal: ControlJournal) throws -> ControlRig {
        var engine = Engine(rules: rig.engine.rules, start: rig.now)
        engine.isJournalled = true
        try journal.restore(to: &engine, declarations: rig.observer.declarations)
        let copy = ControlRig(engine, goingOnFrom: rig)
        copy.observer.meet(copy.engine)
        return copy
    }

    @Test("the whole state comes back: records, kinds, locks, digests, counts, timers", arguments: seeds)
    func same(seed: UInt64) throws {
        let (rig, journal, _) = live(seed, steps: 150 + Int(seed % 200))
        let copy = try restored(rig, journal)
        for id in rig.observer.controls { compare(id, rig, copy, seed) }
        #expect(copy.engine.controls.count == rig.engine.controls.count)
        #expect(copy.engine.controls.countByState == rig.engine.controls.countByState)
        let locked = (copy.engine.controls.lockedDevices.count, rig.engine.controls.lockedDevices.count)
        #expect(locked.0 == locked.1, "seed \(seed)")
        for device in ["d", "e"].map({ Array($0.utf8) }) {
            let isLocked = (
                copy.engine.controls.lockedDevices.contains(device), rig.engine.controls.lockedDevices.contains(device))
            #expect(isLocked.0 == isLocked.1, "seed \(seed)")
        }
        #expect(copy.engine.entityCount == rig.engine.entityCount)
        #expect(copy.engine.countByState == rig.engine.countByState)
        #expect(copy.engine.armedTimers == rig.engine.armedTimers, "seed \(seed)")
        #expect(copy.engine.earliestDeadline() == rig.engine.earliestDeadline(), "seed \(seed)")
        for name in ["com.a", "com.b"] {
            let (old, new) = (rig.app(name), copy.app(name))
            #expect(new?.seq == old?.seq && new?.entities == old?.entities, "seed \(seed)")
            #expect(new?.digest == old?.digest, "seed \(seed)")
            for kind in ["torch", "lamp", "bare", "door", "zone"] {
                guard let before = rig.kind(kind, name), let after = copy.kind(kind, name) else {
                    complain("\(kind) is gone, seed \(seed)")
                    continue
                }
                let (old, new) = (rig.engine.controls.kinds[before], copy.engine.controls.kinds[after])
                #expect(new.declaration == old.declaration && new.placed == old.placed, "seed \(seed)")
            }
        }
    }

    private func compare(_ id: EntityID, _ rig: ControlRig, _ copy: ControlRig, _ seed: UInt64) {
        guard let old = rig.record(id), let new = copy.record(id) else {
            return complain("\(id.short) is gone, seed \(seed)")
        }
        #expect(new.machine.settled == old.machine.settled, "seed \(seed): \(id.short)")
        #expect(new.revision == old.revision && new.lastSeq == old.lastSeq, "seed \(seed)")
        #expect(new.addedAt == old.addedAt, "seed \(seed)")
        #expect(new.actionGivenUpAt == old.actionGivenUpAt, "seed \(seed)")
        #expect(new.isActive == old.isActive && new.textCounts == old.textCounts, "seed \(seed)")
        for path in [\ControlRecord.configuration, \.value, \.texts, \.failureReason] {
            #expect(copy.text(new[keyPath: path]) == rig.text(old[keyPath: path]), "seed \(seed)")
        }
        let (oldKind, newKind) = (rig.engine.controls.kinds[old.kind], copy.engine.controls.kinds[new.kind])
        #expect(newKind.topicPrefix == oldKind.topicPrefix && newKind.topicHash == oldKind.topicHash, "seed \(seed)")
        let names = (old.device.map { rig.engine.devices.name($0) }, new.device.map { copy.engine.devices.name($0) })
        #expect(names.0 == names.1, "seed \(seed)")
    }

    @Test("after the restart values are asked for, no action is performed again, and life goes on", arguments: seeds)
    func restarted(seed: UInt64) throws {
        let (rig, journal, life) = live(seed, steps: 150)
        var history = life
        let copy = try restored(rig, journal)
        let acting = rig.observer.controls.filter { rig.state($0) == .acting }
        let now = copy.now
        copy.step { $0.restartControls(at: now) }
        for call in copy.calls { #expect(call.kind == .askValue, "seed \(seed)") }
        #expect(Set(copy.events.filter { $0.name == .failed }.map(\.id)) == Set(acting), "seed \(seed)")
        for id in acting {
            let failed = copy.events.first { $0.id == id }
            #expect(failed?.after.failure == .unknownOutcome && failed?.after.cause == .recovery, "seed \(seed)")
            #expect(failed?.after.wish == nil && failed?.after.nextWish == nil, "seed \(seed)")
        }
        // From here on the observer compares each step, also whether a call is out for whatever waits for one.
        for _ in 0..<100 { history.step(copy) }
    }

    @Test("a journal is restored from what another recovery wrote", arguments: seeds.prefix(20))
    func twice(seed: UInt64) throws {
        let (rig, journal, life) = live(seed, steps: 100)
        var history = life
        let copy = try restored(rig, journal)
        copy.recorder = journal
        let now = copy.now
        copy.step { $0.restartControls(at: now) }
        for _ in 0..<60 {
            history.step(copy)
            if history.next(below: 3) == 0 { journal.sweep(&copy.engine, rows: 20) }
        }
        let third = try restored(copy, journal)
        for id in copy.observer.controls { compare(id, copy, third, seed) }
        #expect(third.engine.armedTimers == copy.engine.armedTimers, "seed \(seed)")
    }

    /// A bound of its own, so that the code's cannot grow unnoticed: so many actions that were given up are remembered.
    private static let remembered = 4_096

    @Test("of very many actions that were given up the newest may still be heard to end, for their ten minutes")
    func interrupted() {
        let rig = ControlRig()
        rig.isChecked = false
        rig.declare("torch")
        let ids = (0..<Self.remembered + 4).map { _ in rig.placed("torch") }
        func asked(_ when: String) -> [Int] {
            for id in ids where rig.state(id) == .reloading { rig.answer(id, value: "false") }
            #expect(ids.allSatisfy { rig.state($0) == .shown }, "\(when)")
            let now = rig.now
            rig.step { $0.actedBeforeStart(at: now) }
            let reloading = ids.indices.filter { rig.state(ids[$0]) == .reloading }
            for index in reloading { rig.answer(ids[index], value: "false") }
            return reloading
        }
        func restart(whileActing indices: Range<Int>) {
            for id in ids[indices] { rig.tap(id) }
            let now = rig.now
            rig.step { $0.restartControls(at: now) }
        }
        for id in ids[..<2] {
            rig.tap(id)
            rig.fail(id, isAction: true)
        }
        restart(whileActing: 2..<4)
        #expect(asked("timed out and interrupted") == Array(0..<4))
        rig.now = rig.now + 1
        restart(whileActing: 4..<ids.count)
        #expect(asked("more than are remembered") == Array(4..<ids.count))
        rig.now = rig.now + 599_999
        restart(whileActing: 0..<0)
        #expect(asked("within ten minutes") == Array(4..<ids.count))
        rig.now = rig.now + 1
        restart(whileActing: 0..<0)
        #expect(asked("after ten minutes") == [])
        #expect(ids.allSatisfy { rig.record($0)?.actionGivenUpAt.isSet == false })
    }

    @Test("an id that came again before its first slot was written does not stand in the way", arguments: [false, true])
    func idTwice(inOtherApp: Bool) throws {
        let rig = ControlRig()
        rig.engine.isJournalled = true
        let journal = ControlJournal()
        rig.recorder = journal
        rig.declare("torch")
        rig.declare("torch", "com.b")
        let ids = (0..<100).map { _ in rig.placed("torch") }
        journal.sweep(&rig.engine, rows: 200)
        // The next round has passed the first 64 slots, and not the last one.
        for id in ids { rig.tap(id) }
        journal.sweep(&rig.engine, rows: 80)
        rig.remove(ids[0])
        _ = rig.placed("torch")
        let app = inOtherApp ? "com.b" : "com.a"
        rig.add("torch", app, id: ids[0])
        journal.sweep(&rig.engine, rows: 200)
        let copy = try restored(rig, journal)
        compare(ids[0], rig, copy, 0)
        #expect(copy.state(ids[0]) == .loading && copy.observer.app(of: ids[0]) == app)
        #expect(copy.engine.controls.count == 101)
    }
}

/// The bytes of an image on a disk that lies.
@Suite("Controls: damaged images")
struct ControlImageTests {
    /// Images of many machines.
    private func images(_ seed: UInt64) -> [[UInt8]] {
        let rig = ControlRig()
        let journal = ControlJournal()
        rig.recorder = journal
        var history = ControlHistory(seed: seed)
        history.begin(rig)
        for _ in 0..<200 { history.step(rig) }
        var seen: Set<[UInt8]> = []
        return journal.controlImages.filter { seen.insert(Array($0.prefix(16))).inserted }
    }

    @Test("one that is cut anywhere, or has a byte too much, is refused")
    func cut() throws {
        for bytes in images(7) {
            _ = try ControlImage(bytes.span)
            for count in bytes.indices {
                #expect(throws: ImageError.self) { try ControlImage(bytes.span.extracting(..<count)) }
            }
            let longer = bytes + [0]
            #expect(throws: ImageError.tooLong) { try ControlImage(longer.span) }
            var later = bytes
            later[0] = 6
            #expect(throws: ImageError.unknownVersion(6)) { try ControlImage(later.span) }
        }
    }

    @Test("one of the releases that kept no dates of states is the same without them")
    func former() throws {
        var count = 0
        for bytes in images(7) {
            var image = try ControlImage(bytes.span)
            let hasDate = image.actionGivenUpAt.isSet
            // With a failure there is another date behind the one of the state.
            guard image.dates.stateAt.isSet, !image.dates.failingSince.isSet, image.failureReason.isEmpty else { continue }
            count += 1
            let behind = (hasDate ? 8 : 0) + 9
            var former = bytes
            former.remove(at: bytes.count - behind)
            former.removeLast(8)
            former[0] = hasDate ? 3 : 2
            image.dates = StateDates()
            #expect(try ControlImage(former.span) == image)
        }
        #expect(count > 3)
    }

    @Test("one with a bit that flipped is refused, or is a control like any other")
    func flipped() {
        var taken = 0
        var refused = 0
        for bytes in images(8).prefix(25) {
            for bit in 0..<bytes.count * 8 {
                var damaged = bytes
                damaged[bit / 8] ^= 1 << UInt8(bit % 8)
                guard let image = try? ControlImage(damaged.span) else {
                    refused += 1
                    continue
                }
                taken += 1
                use(image)
            }
        }
        #expect(taken > 1_000 && refused > 1_000, "\(taken) taken, \(refused) refused")
    }

    /// Lets everything happen to a control of an image; nothing may trap.
    private func use(_ image: ControlImage) {
        let now = EngineRig.start + 1_000
        var engine = Engine(rules: .standard, start: now)
        var kind = ControlKindDeclaration(kind: Array("k".utf8), template: image.machine.template)
        kind.hasValue = image.machine.hasValue
        let app = Array("com.a".utf8)
        let id = EntityID(1)
        do {
            try engine.restoreControlKind(
                kind, Engine.ControlKindFact(app: app, declaration: kind.json), isInSnapshot: true)
            try engine.restoreControl(id, at: 0, seq: 5, image, app: app, kind: kind.kind)
            engine.finishSnapshot()
            try engine.finishRestoring(isProven: false)
        } catch {
            return
        }
        engine.restartControls(at: now)
        _ = engine.fireDue(at: now + 1_000_000, dating: .whenDue, limit: 10)
        var frame = FrameBuilder()
        let address = ControlAddress(app: frame.run("com.a"), id: id)
        let bytes = frame.bytes
        _ = engine.tapControl(address, isOn: nil, Envelope(), bytes.span, at: now + 2_000_000, .whenNoticed)
        if let slot = engine.controls.slot(of: id) {
            let reference = engine.controls.reference(to: slot)
            for isAction in [true, false] {
                engine.controlCallFailed(reference, isAction: isAction, .timedOut, at: now + 2_000_000)
            }
        }
        _ = engine.removeControl(address, Envelope(), bytes.span, at: now + 3_000_000, .whenNoticed)
        engine.releaseEvents()
        #expect(engine.controls.slot(of: id) == nil)
    }

    @Test("a slot that no service has is refused, and so is a removed control in a snapshot")
    func slots() throws {
        guard let bytes = images(9).first else { return complain("no image") }
        let image = try ControlImage(bytes.span)
        var engine = Engine(rules: .standard, start: EngineRig.start)
        let (app, kind) = (Array("com.a".utf8), Array("torch".utf8))
        for slot in [Slot.max, 1 << 26] {
            do {
                try engine.restoreControl(EntityID(1), at: slot, seq: 1, image, app: app, kind: kind)
                complain("slot \(slot) was taken")
            } catch {
                #expect("\(error)".contains("slot"))
            }
        }
        var removed = image
        _ = removed.machine.removed(.command)
        do {
            try engine.restoreControl(EntityID(1), at: 0, seq: 1, removed, app: app, kind: kind)
            complain("a removed control was taken")
        } catch {
            #expect("\(error)".contains("removed"))
        }
    }
}
