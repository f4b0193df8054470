import CZeroMQ
import Glibc
import Synchronization

/// Ends the wait of one thread from others, with at most one system call for a burst of signals (an eventfd).
package final class WakeSignal: Sendable {
    /// Becomes readable when the signal is raised.
    package let descriptor: Int32
    private let raised = Atomic<Bool>(false)

    /// A lowered signal.
    ///
    /// - Throws: `tooManySockets` or `other` if the system has no descriptor left.
    package init() throws(ZeroMQError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw ZeroMQError(code: errno) }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Raises the signal. Any thread may do so, and a signal handler too.
    ///
    /// - Returns: whether that took a system call, because the signal was not raised already.
    @discardableResult
    package func raise() -> Bool {
        guard !raised.exchange(true, ordering: .acquiringAndReleasing) else { return false }
        var one: UInt64 = 1
        // It cannot block or fail short of 2^64 - 1 signals that nobody cleared.
        while unsafe write(descriptor, &one, MemoryLayout<UInt64>.size) == -1, errno == EINTR {}
        return true
    }

    /// Lowers the signal. The waiting thread does so **before** it looks for what it was woken for: what is brought
    /// later raises the signal again, what was brought earlier is found, because exchanging here receives what each
    /// raise that was swallowed had released.
    package func lower() {
        _ = raised.exchange(false, ordering: .acquiringAndReleasing)
    }

    /// Takes the wake-up out of the descriptor, so that it can be waited on again.
    package func drain() {
        var count: UInt64 = 0
        while unsafe read(descriptor, &count, MemoryLayout<UInt64>.size) == -1, errno == EINTR {}
    }
}
