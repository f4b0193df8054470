extension ControlMachine {
    /// What a provider is asked for.
    package enum Call: Equatable, Sendable, BitwiseCopyable {
        /// `currentValue`.
        case askValue
        /// `perform`.
        case perform(Wish)
    }

    /// One edge that the machine took: one event and one revision.
    package struct Step: Equatable, Sendable, BitwiseCopyable {
        /// The state before; nil when it is added.
        package var from: ControlState?
        package var name: ControlEventName
        /// The machine as this step left it.
        package var machine: ControlMachine
        package var rule: ControlRule
        /// The deadline that made it; `never` where none did.
        package var due: Instant
        /// Whether the call that was out is given up.
        package var cancels: Bool
        /// The call that follows, once the event is committed.
        package var call: Call?

        package init(
            _ from: ControlState?, _ name: ControlEventName, _ machine: ControlMachine, _ rule: ControlRule,
            due: Instant = .never, cancels: Bool = false, call: Call? = nil
        ) {
            self.from = from
            self.name = name
            self.machine = machine
            self.rule = rule
            self.due = due
            self.cancels = cancels
            self.call = call
        }

        /// Whether an action is given up with it of which nobody said that it is over.
        var givesUpAction: Bool {
            from == .acting && (cancels || name == .failed && machine.failure.leavesActionOpen)
        }
    }

    package typealias Steps = StepPair<Step>
}
