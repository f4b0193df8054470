/// Which of its processors a thread runs on, as far as the thread itself decides. Belongs to that thread.
///
/// It asks the system for nothing that it was not allowed when it began, and for nothing any more once somebody else has
/// decided, such as an operator with `taskset`.
package struct ThreadAffinity {
    /// Those that the thread may run on when it asks for nothing.
    private let allowed: ProcessorSet
    /// What it asked for last.
    private var asked: ProcessorSet
    private var isOurs = true

    /// Nil where there is nothing to decide: with one processor, or where the system does not tell.
    package init?() {
        guard let allowed = ProcessorSet.ofThread(), allowed.count > 1 else { return nil }
        (self.allowed, asked) = (allowed, allowed)
    }

    /// Stays on the processor on which it runs now.
    ///
    /// - Returns: that processor; nil: it does not stay.
    package mutating func stay() -> Int? {
        guard let present = ProcessorSet.present(), allowed.contains(present) else { return nil }
        return ask(for: ProcessorSet([present])) ? present : nil
    }

    /// Runs on any but this one.
    package mutating func keepOff(_ processor: Int) {
        var others = allowed
        others.remove(processor)
        _ = ask(for: others)
    }

    /// Runs where the system likes.
    package mutating func roam() { _ = ask(for: allowed) }

    private mutating func ask(for processors: ProcessorSet) -> Bool {
        guard isOurs else { return false }
        isOurs = ProcessorSet.ofThread() == asked && processors.restrictThread()
        if isOurs { asked = processors }
        return isOurs
    }
}
