/// The name of an activity's event on the stream: one for each kind of edge.
package enum ActivityEventName: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case started, scheduled, updated, stale, ended, dismissed
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

    /// The steps of one event: none, one or two, in order. Plain bits, so that no event allocates.
    package struct Steps: Equatable, Sendable, BitwiseCopyable {
        package private(set) var first: Step?
        package private(set) var second: Step?

        package init(_ first: Step? = nil) {
            self.first = first
        }

        package var isEmpty: Bool { first == nil }

        package mutating func append(_ step: Step) {
            precondition(second == nil, "no event of an activity makes three steps")
            if first == nil { first = step } else { second = step }
        }
    }
}
