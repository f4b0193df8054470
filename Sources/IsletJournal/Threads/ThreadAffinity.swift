/// Which of the process's processors a thread runs on, as far as the thread itself decides. Belongs to that thread.
///
/// What somebody else decides counts, such as an operator with `taskset` or a container's cpuset: where that is for the
/// whole process, the thread chooses among what is left; where it is for this thread, it chooses no more.
package struct ThreadAffinity {
    /// Those that the process may use, as its first thread shows, which asks for nothing itself.
    private var allowed: ProcessorSet
    /// What this thread asked for last.
    private var asked: ProcessorSet
    private var isOurs = true
    /// What it keeps off.
    private var avoided: Int?

    /// Nil where there is nothing to decide: with one processor, or where the system does not tell, or somebody has
    /// decided already.
    package init?() {
        guard let allowed = ProcessorSet.ofProcess(), allowed.count > 1, ProcessorSet.ofThread() == allowed else {
            return nil
        }
        (self.allowed, asked) = (allowed, allowed)
    }

    /// Stays on the processor on which it runs now.
    ///
    /// - Returns: that processor; nil: it does not stay.
    package mutating func stay() -> Int? {
        guard let present = ProcessorSet.present() else { return nil }
        return ask { $0.contains(present) ? ProcessorSet([present]) : $0 } ? present : nil
    }

    /// Runs on any but this one, where there is another: that of a thread that hands over work. The system wakes a thread
    /// where its waker runs, and there it waits for that one's turn to end, while the disk could work already.
    ///
    /// - Parameter processor: Nil, or the same as before: all stays as it is.
    package mutating func keepOff(_ processor: Int?) {
        guard let processor, processor != avoided else { return }
        avoided = processor
        _ = ask { allowed in
            var others = allowed
            others.remove(processor)
            return others.count > 0 ? others : allowed
        }
    }

    /// Runs where the system likes.
    package mutating func roam() { _ = ask { $0 } }

    private mutating func ask(_ choice: (_ allowed: ProcessorSet) -> ProcessorSet) -> Bool {
        guard isOurs, let process = ProcessorSet.ofProcess() else { return false }
        // What was decided for all holds for this thread too, even where the system has it as it was asked for.
        isOurs = process != allowed || ProcessorSet.ofThread() == asked
        guard isOurs else { return false }
        let processors = choice(process)
        guard processors.restrictThread() else { return false }
        (allowed, asked) = (process, processors)
        return true
    }
}
