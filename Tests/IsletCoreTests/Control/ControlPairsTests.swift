import IsletCore
import Testing

/// Every state with every event, through the engine: what happens, or that nothing does.
///
/// A cell has the events with the state after each (for a toggle also what it shows), then the calls that follow: `x`
/// the one that was out is given up, `?` the value is asked for, `!` the action; `-`: nothing happens.
@Suite("Controls: every state with every event")
struct ControlPairsTests {
    private enum Event: String, CaseIterable {
        case add, configure, configureSame, remove, tap, setOn, setOff, reload, push, registration, lock, unlock, late
        case on, off, disabled, nonsense, lost, performed, failed, restart
    }

    /// A control of a kind in a state; its device is `d`, its kind asks for authentication.
    private func rig(_ sample: ControlSample, in state: ControlState) -> (rig: ControlRig, id: EntityID) {
        let rig = ControlRig()
        rig.declare("k", "com.a", sample, policy: .requiresAuthentication)
        _ = rig.add("k", device: "d", configuration: "{\"a\":1}")
        let id = rig.latest
        switch state {
        case .loading: break
        case .preview: rig.fail(id)
        case .shown: show(rig, id)
        case .reloading:
            show(rig, id)
            rig.reload(id)
        case .acting:
            show(rig, id)
            rig.tap(id)
        case .authenticating:
            show(rig, id)
            rig.report("d", .lock)
            rig.tap(id)
        case .disabled: rig.answer(id, value: "false", isDisabled: true)
        case .removed: rig.remove(id)
        }
        precondition(state == .removed || rig.state(id) == state)
        return (rig, id)
    }

    private func show(_ rig: ControlRig, _ id: EntityID) {
        if rig.state(id) == .loading { rig.answer(id, value: "false") }
    }

    /// What an event comes to.
    private func outcome(_ event: Event, _ sample: ControlSample, in state: ControlState) -> String {
        let (rig, id) = rig(sample, in: state)
        let reference = rig.reference(id) ?? SlotRef(slot: 0, generation: 0)
        let before = rig.record(id)
        var word = ""
        switch event {
        case .add: word = rig.add("k", id: id).text
        case .configure: word = rig.configure(id, "{\"a\":2}").text
        case .configureSame: word = rig.configure(id, "{\"a\":1}").text
        case .remove: word = rig.remove(id).text
        case .tap: word = rig.tap(id).text
        case .setOn: word = rig.tap(id, isOn: true).text
        case .setOff: word = rig.tap(id, isOn: false).text
        case .reload: word = rig.reload(id).text
        case .push: word = rig.reload(id, source: .push).text
        case .registration: rig.register("k")
        case .lock: rig.report("d", .lock)
        case .unlock: rig.report("d", .unlock)
        case .late:
            rig.now = rig.now + 3_600_000
            rig.fire()
        case .on: word = rig.answer(reference, value: "true") ? "" : "refused"
        case .off: word = rig.answer(reference, value: "false") ? "" : "refused"
        case .disabled: word = rig.answer(reference, value: "false", isDisabled: true) ? "" : "refused"
        case .nonsense: word = rig.answer(reference, value: "\"maybe\"") ? "" : "refused"
        case .lost:
            let now = rig.now
            rig.step { $0.controlCallFailed(reference, isAction: false, .providerLost, at: now) }
        case .performed: word = rig.answer(reference, isAction: true) ? "" : "refused"
        case .failed:
            let now = rig.now
            rig.step { $0.controlCallFailed(reference, isAction: true, .threw, at: now) }
        case .restart:
            let now = rig.now
            rig.step { $0.restartControls(at: now) }
        }
        if word == "applied" { word = "" }
        var parts = rig.events.map { event in
            "\(event.name)>\(event.after.state)" + (sample == .toggle ? event.after.isOn ? " on" : " off" : "")
        }
        if !word.isEmpty { parts.insert(word, at: 0) }
        for call in rig.calls {
            switch call.kind {
            case .cancel: parts.append("x")
            case .askValue: parts.append("?")
            case .perform: parts.append("!")
            }
        }
        if rig.events.isEmpty, event != .restart {
            let after = rig.record(id)?.machine
            #expect(after?.settled == before?.machine.settled, "\(event) in \(state): it changed in silence")
            #expect(rig.record(id)?.revision == before?.revision)
        }
        return parts.isEmpty ? "-" : parts.joined(separator: " ")
    }

    @Test("what the table says, and nothing where it says nothing", arguments: ControlSample.allCases)
    func pairs(sample: ControlSample) {
        let (expected, unread) = read(ControlPairsTable.rows(sample))
        #expect(unread.isEmpty, "lines that are none: \(unread)")
        for event in Event.allCases {
            for state in sample.states {
                let found = outcome(event, sample, in: state)
                #expect(found == expected["\(event) \(state)"] ?? "-", "\(event) in \(state)")
            }
        }
    }

    /// The cells by event and state, and the lines that name no event or no state.
    private func read(_ rows: String) -> (cells: [String: String], unread: [String]) {
        var cells: [String: String] = [:]
        var unread: [String] = []
        for row in rows.split(separator: "\n") {
            let halves = row.split(separator: ": ", maxSplits: 1)
            let names = halves[0].split(separator: " ")
            let states = names.count == 2 ? names[1].split(separator: ",") : []
            let areKnown = states.allSatisfy { name in ControlState.allCases.contains { "\($0)" == name } }
            guard halves.count == 2, !states.isEmpty, areKnown, Event(rawValue: String(names[0])) != nil else {
                unread.append(String(row))
                continue
            }
            for state in states { cells["\(names[0]) \(state)"] = String(halves[1]) }
        }
        return (cells, unread)
    }
}
