/// The name of an activity's event on the stream: one for each kind of edge.
package enum ActivityEventName: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case started, scheduled, updated, stale, ended, dismissed
    /// A person tapped it, which opens its app; nothing about it changes.
    case tapped
}

extension ActivityMachine {
    /// One edge that the machine took: one event and one revision.
    package struct Step: Equatable, Sendable, BitwiseCopyable {
        /// The state before; nil for a start.
        package var from: ActivityState?
        package var name: ActivityEventName
        /// The machine as this step left it.
        package var machine: ActivityMachine
        package var rule: Rule
        /// The deadline that made it, or the moment of the command; `never` where no date means something.
        package var due: Instant

        package init(
            _ from: ActivityState?, _ name: ActivityEventName, _ machine: ActivityMachine, _ rule: Rule,
            due: Instant = .never
        ) {
            self.from = from
            self.name = name
            self.machine = machine
            self.rule = rule
            self.due = due
        }
    }

    package typealias Steps = StepPair<Step>
}
