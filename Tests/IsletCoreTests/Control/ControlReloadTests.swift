import IsletCore
import Testing

/// Reloads of one and of many, of siblings, and for providers that came.
@Suite("Controls: reloads of many")
struct ControlReloadTests {
    /// A rig with so many torches and lamps of two apps, all shown.
    private func rig(_ count: Int) -> (rig: ControlRig, ids: [EntityID]) {
        let rig = ControlRig()
        rig.isChecked = false
        rig.declare("torch")
        rig.declare("lamp", "com.a", .button)
        rig.declare("torch", "com.b")
        var ids: [EntityID] = []
        for index in 0..<count {
            let (kind, app) = [("torch", "com.a"), ("lamp", "com.a"), ("torch", "com.b")][index % 3]
            ids.append(rig.placed(kind, app))
        }
        return (rig, ids)
    }

    private func reloading(_ rig: ControlRig) -> Int {
        rig.engine.controls.countByState[Int(ControlState.reloading.rawValue)]
    }

    @Test("by id, by kind, of the whole app; a push says so")
    func scopes() {
        let (rig, ids) = rig(9)
        #expect(rig.reload(ids[0], source: .push).text == "applied")
        #expect(rig.told == ["reloading \(ids[0].short) r3 shown>reloading off push"])
        #expect(rig.reload(kind: "torch").text == "reloading 3" && rig.told.count == 2, "one was on its way")
        #expect(rig.reload(kind: nil, source: .push).text == "reloading 6" && rig.told.count == 3)
        #expect(rig.events.allSatisfy { $0.after.cause == .push })
        #expect(ids.allSatisfy { (rig.state($0) == .reloading) == (rig.observer.app(of: $0) == "com.a") })
        #expect(rig.reload(kind: "nothing").text == "notFound" && rig.reload(kind: nil, "com.c").text == "reloading 0")
        rig.observer.check(rig.engine)
    }

    @Test("what somebody did with a control, or waits for, comes before what many are asked for")
    func awaited() throws {
        let rig = ControlRig()
        rig.declare("torch")
        rig.add("torch")
        let id = rig.latest
        #expect(rig.calls.map(\.isAwaited) == [true])
        rig.answer(id, value: "true")
        rig.reload(id)
        #expect(rig.calls.map(\.isAwaited) == [false])
        rig.answer(id, value: "true")
        rig.reload(kind: "torch", source: .push)
        #expect(rig.calls.map(\.isAwaited) == [false])
        rig.answer(id, value: "true")
        rig.tap(id)
        rig.answer(id, isAction: true)
        #expect(rig.calls.map(\.isAwaited) == [true])
        rig.answer(id, value: "false")
        rig.tap(id)
        rig.fail(id, isAction: true)
        #expect(rig.calls.map(\.isAwaited) == [true])
        rig.answer(id, value: "false")
        let (reference, now) = (try #require(rig.reference(id)), rig.now)
        let isAsked = rig.step { $0.refreshControl(reference, at: now) }
        #expect(isAsked && rig.calls.map(\.isAwaited) == [true])
    }

    /// A bound of its own, so that the code's cannot grow unnoticed: what one command or step does at once.
    private static let atOnce = 64

    @Test("thousands are reloaded in many steps, each a bounded share, and each control once")
    func sweep() {
        let (rig, ids) = rig(9_000)
        #expect(rig.reload(kind: nil).text == "reloading 6000")
        #expect(rig.told.count == Self.atOnce, "one step's share")
        #expect(rig.engine.nextWork() <= rig.now, "there is more to do")
        // One that is placed meanwhile is newer; one that is removed is not there.
        let placed = rig.placed("torch")
        rig.remove(ids[8_997])
        var turns = 0
        while rig.fire() || !rig.told.isEmpty {
            #expect(rig.told.count <= Self.atOnce)
            turns += 1
            guard turns < 200 else { break }
        }
        #expect(turns >= 90 && turns < 110, "\(turns) steps")
        #expect(reloading(rig) == 5_999 && rig.state(placed) == .shown)
        #expect(ids.filter { rig.observer.app(of: $0) == "com.b" }.allSatisfy { rig.state($0) == .shown })
        #expect(rig.engine.nextWork() > rig.now)
        rig.observer.check(rig.engine)
    }

    @Test("a step looks at a bounded share of the slots, whoever is in them")
    func sweepOfFew() {
        let (rig, _) = rig(9_000)
        let id = rig.placed("torch", "com.b")
        rig.declare("rare", "com.b")
        let rare = rig.placed("rare", "com.b")
        #expect(rig.reload(kind: "rare", "com.b").text == "reloading 1" && rig.told.isEmpty)
        for _ in 0..<7 { #expect(rig.fire() && rig.told.isEmpty) }
        #expect(!rig.fire() && rig.told.count == 1 && rig.state(rare) == .reloading && rig.state(id) == .shown)
    }

    @Test("reloads by command are refused while too many are on their way; those for providers are not")
    func busy() {
        let (rig, ids) = rig(9_000)
        let kinds = (0..<100).map { "k\($0)" }
        for kind in kinds {
            rig.declare(kind)
            _ = rig.placed(kind)
        }
        // The first is on its way; equal ones that wait behind it are one.
        for _ in 0..<200 { #expect(rig.reload(kind: "lamp").text == "reloading 3000") }
        let texts = kinds.map { rig.reload(kind: $0).text }
        #expect(texts[0] == "reloading 1" && texts[99] == "busy(retryAfter: 100)")
        #expect(rig.reload(kind: "lamp").text == "reloading 3000", "one that waits already takes no place")
        for id in ids where rig.state(id) == .reloading { rig.answer(id, value: "true") }
        for id in ids.prefix(300) where rig.observer.app(of: id) == "com.b" {
            rig.reload(id, "com.b")
            rig.fail(id, .noProvider)
        }
        for _ in 0..<100 { rig.register("torch", "com.b") }
        var turns = 0
        while rig.fire() {
            turns += 1
            guard turns < 2_000 else { break }
        }
        #expect(turns < 2_000)
        let others = ids.filter { rig.observer.app(of: $0) == "com.b" }
        #expect(others.allSatisfy { rig.state($0) == .reloading }, "nobody else would ever ask for them")
        rig.observer.check(rig.engine)
    }

    @Test("every kind of a provider that comes is reloaded, however many kinds it has")
    func manyKinds() {
        let (rig, _) = rig(9_000)
        let kinds = (0..<200).map { "k\($0)" }
        var ids: [EntityID] = []
        for kind in kinds {
            rig.declare(kind)
            _ = rig.add(kind)
            ids.append(rig.latest)
            rig.fail(rig.latest, .noProvider)
        }
        for kind in kinds { rig.register(kind) }
        var turns = 0
        while rig.fire(), turns < 5_000 { turns += 1 }
        #expect(ids.allSatisfy { rig.state($0) == .loading }, "after \(turns) turns")
        #expect(turns < 100, "they are gone through together, and not one after another: \(turns) turns")
    }

    @Test("an action reloads its siblings only where the kind says so, and itself once")
    func siblings() {
        let rig = ControlRig()
        rig.declare("zone", siblings: true)
        rig.declare("alone")
        let zones = (0..<3).map { _ in rig.placed("zone") }
        let alone = (0..<3).map { _ in rig.placed("alone") }
        rig.tap(zones[1])
        rig.answer(zones[1], isAction: true)
        #expect(
            rig.told == [
                "performed \(zones[1].short) r4 acting>reloading on action",
                "reloading \(zones[0].short) r3 shown>reloading off sibling",
                "reloading \(zones[2].short) r3 shown>reloading off sibling",
            ])
        rig.tap(alone[0])
        rig.answer(alone[0], isAction: true)
        #expect(rig.told.count == 1 && rig.state(alone[1]) == .shown)
    }

    @Test("siblings on their way, however many kinds have some, take no place of a reload by command")
    func siblingsTakeNoPlace() {
        let (rig, _) = rig(9_000)
        let kinds = (0..<100).map { "k\($0)" }
        var ids: [EntityID] = []
        for kind in kinds {
            rig.declare(kind, siblings: true)
            ids.append(rig.placed(kind))
            _ = rig.placed(kind)
        }
        for id in ids {
            rig.tap(id)
            rig.answer(id, isAction: true)
        }
        #expect(rig.reload(kind: "torch", "com.b").text == "reloading 3000")
        #expect(rig.reload(kind: "lamp").text == "reloading 3000", "nor do they in their own app")
    }

    @Test("no slot is looked at for the siblings of the only control of a kind")
    func siblingsOfNobody() {
        let (rig, _) = rig(9_000)
        rig.declare("rare", siblings: true)
        let rare = rig.placed("rare")
        rig.tap(rare)
        rig.answer(rare, isAction: true)
        #expect(rig.engine.nextWork() > rig.now && rig.state(rare) == .reloading)
    }

    @Test("an action that may have acted reloads its siblings, however it ends")
    func siblingsOfWhatFailed() {
        let rig = ControlRig()
        rig.declare("zone", siblings: true)
        let zones = (0..<3).map { _ in rig.placed("zone") }
        rig.tap(zones[1])
        rig.fail(zones[1], isAction: true)
        #expect([0, 2].allSatisfy { rig.state(zones[$0]) == .reloading })
        for zone in zones { rig.answer(zone) }
        rig.tap(zones[0])
        rig.remove(zones[0])
        #expect([1, 2].allSatisfy { rig.state(zones[$0]) == .reloading })
    }

    @Test("under a clock that stops at every date, a reload of many has the date at which it was asked for")
    func sweepDates() {
        let (rig, ids) = rig(9_000)
        rig.dating = .whenDue
        rig.reload(kind: "torch", "com.b")
        let asked = rig.now
        var turns = 0
        // As the clock travels: the goal is far, and what was asked for comes first.
        rig.now = rig.now + 3_600_000
        repeat {
            turns += 1
            let isLate = rig.fire()
            #expect(rig.events.allSatisfy { $0.at == asked })
            guard isLate else { break }
        } while turns < 200
        #expect(turns > 1 && ids.filter { rig.state($0) == .reloading }.count == 3_000)
    }

    @Test("64 reloads of an app write down one small fact, however many kinds it has and whatever these declare")
    func facts() {
        let (rig, _) = rig(9_000)
        let journal = NoteCount()
        rig.engine.isJournalled = true
        for number in 0..<200 {
            rig.declare("k\(number)", title: String(repeating: "x", count: 4_000))
            _ = rig.placed("k\(number)")
        }
        rig.recorder = journal
        for _ in 0..<64 { rig.reload(kind: nil) }
        #expect(journal.notes == 1 && journal.bytes < 100, "\(journal.notes) notes of \(journal.bytes) bytes")
        while rig.fire() {}
        #expect(journal.notes == 2, "and that it is through: \(journal.notes)")
    }

    @Test("a reload that was answered goes on after a restart, as its fact or an older release's says", arguments: [false, true])
    func resumed(isOfKind: Bool) throws {
        let (rig, ids) = rig(900)
        let kind = try #require(rig.kind("torch"))
        // What a release wrote that kept a reload on its way with its kind.
        var old = ImageWriter()
        old.write(byte: 2)
        let declared = rig.engine.controls.kinds[kind].declaration
        let declaration = try #require(declared)
        old.write(run: declaration.json)
        old.write(true)
        old.write(byte: ControlCause.request.rawValue)
        let key = rig.engine.factKey(controlKind: kind)
        let read = try Engine.controlKindFact(key.span, old.bytes.span)
        let fact = try #require(read)
        let kinds = SweptKinds(app: rig.engine.controls.kinds[kind].app, kind: isOfKind ? kind : nil)
        var writer = ImageWriter()
        if isOfKind {
            try rig.engine.restoreControlKind(declaration, fact, isInSnapshot: true)
            #expect(rig.engine.controls.changedReloads.count == 1 && rig.engine.controls.changedKinds.contains(kind))
        } else {
            rig.reload(kind: nil)
            #expect(reloading(rig) == Self.atOnce)
        }
        let isRemembered = rig.engine.writeFact(controlReload: kinds, to: &writer)
        #expect(isRemembered)
        let now = rig.now
        rig.step { $0.restartControls(at: now) }
        while rig.fire() {}
        let mine = ids.filter { rig.observer.app(of: $0) == "com.a" && (!isOfKind || rig.record($0)?.kind == kind) }
        #expect(mine.allSatisfy { rig.state($0) == .reloading } && reloading(rig) == mine.count)
        let isLeft = rig.engine.writeFact(controlReload: kinds, to: &writer)
        #expect(!isLeft, "it is through")
    }
}

/// Counts what changed without an event, and the bytes of its facts.
private final class NoteCount: ControlRecorder {
    private(set) var notes = 0
    private(set) var bytes = 0

    func stepBegins(_ engine: borrowing Engine, at now: Instant) {
        for note in engine.notes {
            notes += 1
            var writer = ImageWriter()
            guard case .controlReload(let kinds) = note else { return complain("\(note)") }
            if engine.writeFact(controlReload: kinds, to: &writer) { bytes += writer.bytes.count }
            bytes += engine.factKey(controlReload: kinds).count
        }
    }

    func record(_ event: ControlEvent, _ engine: borrowing Engine) {}
    func record(_ event: ActivityEvent, _ engine: borrowing Engine) {}
    func stepEnds(_ engine: borrowing Engine) {}
}
