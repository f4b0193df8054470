import Synchronization

/// Which threads of a journal wait for room on the disk; to its owner it is one thing: there is no room as long as one waits.
final class RoomWatch: Sendable {
    enum Waiter {
        case committer
        case sweeper
    }

    private struct Waiting {
        var waiters: Set<Waiter> = []
        /// Whether it was told what is lacking.
        var hasCause = false
    }

    private let waiting = Mutex(Waiting())
    private let report: JournalReport
    private let onWarning: @Sendable (_ line: String) -> Void

    init(_ options: StoreOptions, report: @escaping JournalReport) {
        self.report = report
        onWarning = options.onWarning
    }

    /// Whether a thread waits for room.
    var isLacking: Bool { waiting.withLock { !$0.waiters.isEmpty } }

    /// A thread waits for room.
    ///
    /// - Parameters:
    ///   - free: The bytes that are free.
    ///   - cause: What failed, where something was tried: of a quota that is used up, or of descriptors, the free bytes tell
    ///     nothing.
    func lacks(_ waiter: Waiter, free: Int, cause: String? = nil) {
        // Told with the lock held, so that the owner hears of it in the order in which it happened.
        waiting.withLock { waiting in
            let isFirst = waiting.waiters.isEmpty
            waiting.waiters.insert(waiter)
            if isFirst { report(.isFull(free: free)) }
            if let cause, !waiting.hasCause {
                waiting.hasCause = true
                onWarning("the journal cannot be written yet, and is tried again: \(cause)")
            }
        }
    }

    /// A thread has room, which it may have had before.
    func has(_ waiter: Waiter) {
        waiting.withLock { waiting in
            guard waiting.waiters.remove(waiter) != nil, waiting.waiters.isEmpty else { return }
            waiting.hasCause = false
            report(.hasRoom)
        }
    }
}
