import CZeroMQ
import Glibc
import Synchronization

/// libzmq's context: its I/O threads and the name space of `inproc` endpoints.
///
/// Each `Socket` keeps its context alive; the context ends with its last owner, when no socket is left, so that ending
/// it does not wait. A process needs one; two share nothing.
///
/// `@safe`: the pointer is valid from the initialiser's end to `deinit`.
@safe
package final class ZeroMQContext: Sendable {
    /// libzmq allows its context to be used from any thread (zmq_ctx_new(3): "a context is thread safe"), and the
    /// pointer never changes, so it may be read from any thread.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer

    /// A context with `ioThreads` threads that move bytes, and room for `maxSockets` sockets.
    ///
    /// Seeds the C library's random generator first, once in the process: libzmq takes automatic routing ids and the
    /// jitter of reconnects from `rand()` and never seeds it, so that all processes would draw the same ones.
    ///
    /// - Parameter interrupting: whether an I/O thread that is woken may take the processor from a thread that runs.
    ///   Where processors are few, it does so for each message that is sent, sends that one alone, and sleeps again: two
    ///   switches and a system call a message. Without, it sends what has gathered once a processor is free.
    /// - Throws: `invalidArgument` for numbers that libzmq refuses, `tooManySockets` without free descriptors.
    package init(
        ioThreads: Int32 = 1, maxSockets: Int32 = 1023, interrupting: Bool = true
    ) throws(ZeroMQError) {
        _ = RandomSeed.once
        guard let handle = unsafe zmq_ctx_new() else { throw .last }
        var options = [(ZMQ_IO_THREADS, ioThreads), (ZMQ_MAX_SOCKETS, maxSockets), (ZMQ_BLOCKY, 0)]
        if !interrupting, ThreadPolicy.allowsBatch { options.append((ZMQ_THREAD_SCHED_POLICY, SCHED_BATCH)) }
        for (option, value) in options where unsafe zmq_ctx_set(handle, option, value) == -1 {
            let error = ZeroMQError.last
            _ = unsafe zmq_ctx_term(handle)
            throw error
        }
        unsafe self.handle = handle
        threadDescriptors = 2 * (Int(ioThreads) + 1)
    }

    /// What the threads take that libzmq starts with the first socket: two descriptors each, also the one that closes sockets.
    private let threadDescriptors: Int
    /// Whether they were started.
    private let hasStarted = Atomic(false)
    /// So many more must be there: for the socket itself, and because others may take some in between.
    private static let spareDescriptors = 8

    /// Makes a socket of libzmq.
    ///
    /// The first one starts the threads, for which libzmq needs descriptors to poll with: it aborts the process where it
    /// gets none ("Too many open files", epoll.cpp, 4.3.4 and 4.3.5). So it is looked before whether there are some.
    func open(_ kind: Socket.Kind) throws(ZeroMQError) -> UnsafeMutableRawPointer {
        if !hasStarted.load(ordering: .acquiring) { try Self.find(descriptors: threadDescriptors + Self.spareDescriptors) }
        guard let pointer = unsafe zmq_socket(handle, kind.rawValue) else { throw .last }
        hasStarted.store(true, ordering: .releasing)
        return unsafe pointer
    }

    /// - Throws: `tooManySockets` where the process may not open so many more.
    private static func find(descriptors count: Int) throws(ZeroMQError) {
        var found: [Int32] = []
        defer { for descriptor in found { Glibc.close(descriptor) } }
        for _ in 0..<count {
            let descriptor = eventfd(0, Int32(EFD_CLOEXEC))
            guard descriptor >= 0 else { throw ZeroMQError(code: errno) }
            found.append(descriptor)
        }
    }

    /// Makes every call that waits on a socket of this context, now or later, fail with `terminated`.
    package func shutdown() {
        _ = unsafe zmq_ctx_shutdown(handle)
    }

    /// Whether it was ended before its last owner goes.
    private let hasEnded = Atomic(false)

    /// Ends it before its last owner goes: returns once what its sockets have sent is delivered, or their `linger` is over.
    /// All of its sockets must be closed, else it waits for them for ever. A second time does nothing.
    package func end() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = retryingInterrupts { unsafe zmq_ctx_term(handle) }
    }

    deinit {
        end()
    }
}

/// The seed of the C library's `rand()`.
enum RandomSeed {
    /// Drawn and set at the first use, from the kernel's `getrandom` (the source of the system's generator on Linux).
    static let once: UInt32 = {
        let seed = UInt32.random(in: .min ... .max)
        srand(seed)
        return seed
    }()
}
