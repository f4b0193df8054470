import IsletCore
import Testing

/// What providers said of the calls that they failed: what events tell of it, and that nothing of it stays.
@Suite("Reasons of failures")
struct FailureReasonTests {
    private static let down = "\"db down\""

    @Test("a failure of its own has the reason, which stays while a value is asked for and goes with it")
    func shown() {
        let rig = ControlRig()
        rig.declare("torch")
        let id = rig.placed("torch")
        func reason() -> String? { rig.text(rig.record(id)?.failureReason) }
        rig.reload(id)
        rig.fail(id, .threw, reason: Self.down)
        #expect(reason() == Self.down && rig.events.map(\.changes.failureReason) == [true])
        rig.reload(id)
        #expect(reason() == Self.down && rig.events.map(\.changes.failureReason) == [false])
        rig.fail(id, .threw, reason: Self.down)
        #expect(reason() == Self.down && rig.events.map(\.changes.failureReason) == [false])
        rig.reload(id)
        rig.answer(id, value: "true")
        #expect(reason() == "" && rig.events.map(\.changes.failureReason) == [true])
    }

    @Test(
        "whatever else it was that failed has none",
        arguments: CallFailure.allCases.filter { $0 != .none && $0 != .threw })
    func others(failure: CallFailure) {
        let rig = ControlRig()
        rig.declare("torch")
        let id = rig.placed("torch")
        rig.reload(id)
        rig.fail(id, .threw, reason: Self.down)
        rig.reload(id)
        rig.fail(id, failure, reason: "\"not this one\"")
        #expect(rig.text(rig.record(id)?.failureReason) == "" && rig.record(id)?.machine.failure == failure)
    }

    @Test("a wish that waited takes it away behind its own event, which shows it all the same")
    func nextWish() {
        let rig = ControlRig()
        rig.declare("torch")
        let id = rig.placed("torch")
        rig.tap(id)
        rig.tap(id)
        let recorder = ReasonRecorder()
        rig.recorder = recorder
        rig.fail(id, isAction: true, .threw, reason: Self.down)
        #expect(recorder.told == [Self.down, ""] && rig.events.map(\.changes.failureReason) == [true, true])
        #expect(rig.text(rig.record(id)?.failureReason) == "")
    }

    @Test("the room of what is replaced, cleared or removed is free again", arguments: [false, true])
    func room(isRemoved: Bool) {
        let rig = ControlRig()
        rig.declare("torch")
        let id = rig.placed("torch")
        let before = rig.engine.storedPayloadBytes
        for count in [1, 300, 2, 300] {
            rig.reload(id)
            let reason = "\"" + String(repeating: "x", count: count) + "\""
            rig.fail(id, .threw, reason: reason)
            #expect(rig.engine.storedPayloadBytes == before + reason.utf8.count)
        }
        // Set and taken away in one step.
        rig.tap(id)
        rig.tap(id)
        rig.fail(id, isAction: true, .threw, reason: Self.down)
        #expect(rig.engine.storedPayloadBytes == before)
        rig.fail(id, isAction: true, .threw, reason: Self.down)
        if isRemoved {
            rig.remove(id)
            #expect(rig.engine.storedPayloadBytes == 0)
        } else {
            rig.configure(id, "{}")
            #expect(rig.engine.storedPayloadBytes == before + 2)
        }
    }

    @Test("the room of a widget's is free again, too")
    func roomOfWidgets() {
        let rig = WidgetRig(WidgetHistory.rules)
        rig.declare()
        let id = rig.placed()
        for reason in [Self.down, "\"\(String(repeating: "x", count: 256))\"", Self.down] {
            rig.act(id)
            rig.fail(id, isAction: true, .threw, reason: reason)
            #expect(rig.record(id).map { rig.text($0.failureReason) } == reason)
            #expect(rig.events.first { $0.name == .failed }?.changes.failureReason == true)
        }
        rig.answer(id)
        #expect(rig.record(id).map { rig.text($0.failureReason) } == "")
        rig.act(id)
        rig.fail(id, isAction: true, .threw, reason: Self.down)
        rig.remove(id)
        #expect(rig.engine.storedPayloadBytes == 0)
    }

    @Test("an image has one where there is one")
    func layouts() throws {
        let rig = ControlRig()
        let journal = ControlJournal()
        rig.recorder = journal
        rig.declare("torch")
        let id = rig.placed("torch")
        rig.reload(id)
        rig.fail(id, .threw)
        let former = journal.controlImages.last ?? []
        let without = try ControlImage(former.span)
        #expect(without.failureReason == [])
        rig.reload(id)
        rig.fail(id, .threw, reason: Self.down)
        let bytes = journal.controlImages.last ?? []
        let image = try ControlImage(bytes.span)
        #expect(image.failureReason == Array(Self.down.utf8) && !image.actionGivenUpAt.isSet)
    }
}

/// Writes down which reason each event has, before its room may be free.
private final class ReasonRecorder: ControlRecorder {
    private(set) var told: [String] = []

    func stepBegins(_ engine: borrowing Engine, at now: Instant) {}
    func record(_ event: ControlEvent, _ engine: borrowing Engine) {
        told.append(engine.withBytes(of: event.failureReason) { String(decoding: $0, as: UTF8.self) })
    }
    func record(_ event: ActivityEvent, _ engine: borrowing Engine) {}
    func stepEnds(_ engine: borrowing Engine) {}
}
