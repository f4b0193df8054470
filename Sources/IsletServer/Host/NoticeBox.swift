package import IsletJournal
import Synchronization
package import ZeroMQ

/// The journal's notices on their way to the bus thread.
///
/// Bounded by what the owner asks for: two batches, one piece of a snapshot, a few reads.
package final class NoticeBox: Sendable {
    private let notices = Mutex<[JournalNotice]>([])
    private let thread: BusThread

    /// - Parameter thread: woken with each notice.
    package init(waking thread: BusThread) {
        self.thread = thread
    }

    /// Leaves a notice; from any thread.
    package func put(_ notice: JournalNotice) {
        notices.withLock { $0.append(notice) }
        thread.wake()
    }

    func takeAll() -> [JournalNotice] {
        notices.withLock { notices in
            guard !notices.isEmpty else { return [] }
            defer { notices = [] }
            return notices
        }
    }
}
