/// The steps that a machine takes for one input: none, one or two, in order. Plain bits, so that no event allocates.
package struct StepPair<Step: Equatable & Sendable & BitwiseCopyable>: Equatable, Sendable, BitwiseCopyable {
    package private(set) var first: Step?
    package private(set) var second: Step?

    package init(_ first: Step? = nil) {
        self.first = first
    }

    package var isEmpty: Bool { first == nil }

    package mutating func append(_ step: Step) {
        precondition(second == nil, "no input makes three steps")
        if first == nil { first = step } else { second = step }
    }
}
