import Synchronization

/// Which threads of a journal wait for room on the disk; to its owner it is one thing: there is no room as long as one waits.
final class RoomWatch: Sendable {
    enum Waiter {
        case committer
        case sweeper
    }

    private let waiting = Mutex<Set<Waiter>>([])
    private let report: JournalReport

    init(report: @escaping JournalReport) { self.report = report }

    /// A thread waits for room.
    ///
    /// - Parameter free: The bytes that are free.
    func lacks(_ waiter: Waiter, free: Int) {
        // Told with the lock held, so that the owner hears of it in the order in which it happened.
        waiting.withLock { waiting in
            let isFirst = waiting.isEmpty
            waiting.insert(waiter)
            if isFirst { report(.isFull(free: free)) }
        }
    }

    /// A thread has room, which it may have had before.
    func has(_ waiter: Waiter) {
        waiting.withLock { waiting in
            if waiting.remove(waiter) != nil, waiting.isEmpty { report(.hasRoom) }
        }
    }
}
