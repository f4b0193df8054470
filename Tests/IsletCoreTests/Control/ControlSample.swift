import IsletCore

/// Machines of the three kinds of controls, brought into any state by what happens to them.
enum ControlSample: CaseIterable {
    case toggle, button, bareButton

    static let start = EngineRig.start
    static let retry = start + 1_000
    static let limit = start + 60_000

    var template: ControlTemplate { self == .toggle ? .toggle : .button }
    var hasValue: Bool { self != .bareButton }
    /// What a tap on a machine that shows off wants.
    var wish: ControlMachine.Wish { self == .toggle ? .on : .press }

    func added(previewIsOn: Bool = false) -> (machine: ControlMachine, steps: ControlMachine.Steps) {
        ControlMachine.added(template, hasValue: hasValue, previewIsOn: previewIsOn, isRedacted: false)
    }

    /// The states in which one of this kind can be.
    var states: [ControlState] {
        self == .bareButton ? [.shown, .acting, .authenticating, .removed] : ControlState.allCases
    }

    /// A machine in a state that shows off, and whose provider said so where it said anything.
    func machine(_ state: ControlState) -> ControlMachine {
        var machine = added().machine
        switch state {
        case .loading: break
        case .preview: _ = machine.valueFailed(.timedOut, retryAt: Self.retry)
        case .shown: show(&machine)
        case .reloading:
            show(&machine)
            _ = machine.reload(.request)
        case .acting:
            show(&machine)
            _ = machine.act(wish, .person)
        case .authenticating:
            show(&machine)
            _ = machine.awaitAuthentication(wish, until: Self.limit, .person)
        case .disabled: _ = machine.valueArrived(isOn: false, isDisabled: true, at: Self.start)
        case .removed:
            show(&machine)
            _ = machine.removed(.command)
        }
        precondition(machine.state == state, "\(self) is \(machine.state) and not \(state)")
        return machine
    }

    private func show(_ machine: inout ControlMachine) {
        if hasValue { _ = machine.valueArrived(isOn: false, isDisabled: false, at: Self.start) }
    }
}

extension ControlMachine.Steps {
    var all: [ControlMachine.Step] { [first, second].compactMap { $0 } }

    /// `acting>acting on cancel perform(on)`: each step's event, the state and what a toggle shows after it, its calls.
    var line: String { isEmpty ? "-" : all.map(\.line).joined(separator: ", ") }
}

extension ControlMachine.Step {
    var line: String {
        var line = "\(name)>\(machine.state)"
        if machine.template == .toggle { line += machine.isOn ? " on" : " off" }
        if cancels { line += " cancel" }
        switch call {
        case nil: break
        case .askValue: line += " ask"
        case .perform(let wish): line += " perform(\(wish))"
        }
        return line
    }
}
