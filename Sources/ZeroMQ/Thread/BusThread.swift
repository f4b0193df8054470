import CZeroMQ
import Glibc
import Synchronization

/// One thread that owns ZeroMQ sockets and is the serial executor of the actors that use them.
///
/// Actors that name it as their `unownedExecutor` run on it and on nothing else; at most one of them is its `BusLoop`.
/// A turn of the thread: run the jobs that waited when it began → the loop's turn → wait for sockets, jobs or time.
/// A job costs one system call for a whole burst of them, a message none.
///
/// The number of waiting jobs is bounded by the number of tasks that call the actors: each waits for its own.
///
/// The thread runs until `stop()`, and keeps this object alive as long. Afterwards the actors still answer: their late
/// jobs run on the threads that bring them, one at a time, so that nobody waits for ever; their sockets are closed.
package final class BusThread: SerialExecutor {
    /// What other threads leave for this one.
    struct Inbox: ~Copyable {
        enum Phase {
            case running
            case ended
        }

        var phase = Phase.running
        var stopRequested = false
        var jobs: [UnownedJob] = []
        var installation: Installation?
        /// Whether some thread runs the late jobs, once the phase is `ended`.
        var hasLateRunner = false
        /// The thread, until somebody has taken over to join it.
        var joinable: pthread_t?
        /// Tasks that wait for the end.
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    /// A loop with the place of the thread's wake-up in its poller.
    struct Hosted: Sendable {
        let loop: any BusLoop
        let wakeSlot: Poller.Slot
    }

    /// Makes the loop on the thread and tells whoever asked for it; nil if that failed.
    typealias Installation = @Sendable () -> Hosted?

    let inbox = Mutex(Inbox())
    let signal: WakeSignal
    /// The thread that runs the jobs now, as `currentThread()` names it; 0 for none.
    let owner = Atomic<UInt>(0)

    /// Starts the thread. It may be called from any isolation: the thread inherits none.
    ///
    /// - Parameter name: what `top -H` and debuggers show, cut at 15 bytes.
    /// - Throws: `tooManySockets` or `other` if the system has no descriptor or thread left.
    package init(name: String) throws(ZeroMQError) {
        signal = try WakeSignal()
        var thread = pthread_t()
        let retained = unsafe Unmanaged.passRetained(self)
        let code = unsafe pthread_create(&thread, nil, busThreadMain, retained.toOpaque())
        guard code == 0 else {
            unsafe retained.release()
            throw ZeroMQError(code: code)
        }
        unsafe pthread_setname_np(thread, String(decoding: name.utf8.prefix(Self.nameBytesMax), as: UTF8.self))
        inbox.withLock { $0.joinable = thread }
    }

    deinit {
        if let thread = inbox.withLock({ $0.joinable.take() }) { pthread_detach(thread) }
    }

    /// Linux keeps 15 bytes of a thread's name.
    private static let nameBytesMax = 15

    /// Whether the calling code runs on this thread (or, after its end, as a late job).
    package var isCurrent: Bool {
        owner.load(ordering: .relaxed) == currentThread()
    }

    /// Brings the loop's next turn forward. Any thread may call it, and bursts cost one system call.
    package func wake() {
        signal.raise()
    }

    /// Makes an actor on the thread and lets the thread drive it from then on. A thread has one loop in its life.
    ///
    /// - Parameter make: called on the thread, so that the actor's initialiser may make and bind sockets.
    /// - Returns: the actor, which has its first turn soon.
    /// - Throws: what `make` throws; the thread then goes on without a loop.
    package func host<Loop: BusLoop, Failure: Error>(
        _ make: @escaping @Sendable (BusThread) throws(Failure) -> Loop
    ) async throws(Failure) -> Loop {
        let result: Result<Loop, Failure> = await withCheckedContinuation { continuation in
            install {
                do throws(Failure) {
                    let loop = try make(self)
                    let wake = self.signal.descriptor
                    let slot = loop.assumeIsolated { $0.poller.add(descriptor: wake) }
                    continuation.resume(returning: .success(loop))
                    return Hosted(loop: loop, wakeSlot: slot)
                } catch {
                    continuation.resume(returning: .failure(error))
                    return nil
                }
            }
        }
        return try result.get()
    }

    /// Asks the thread to run the jobs that wait, let the loop finish, and end. Returns at once.
    package func requestStop() {
        inbox.withLock { $0.stopRequested = true }
        signal.raise()
    }

    /// Does `requestStop` and returns when the thread is gone; any number of tasks may call it.
    ///
    /// `@concurrent`: the thread itself must not wait for its own end.
    @concurrent
    package func stop() async {
        requestStop()
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.withLock { inbox in
                if inbox.phase == .running { inbox.stopWaiters.append(continuation) }
                return inbox.phase == .ended
            }
            if hasEnded { continuation.resume() }
        }
        // The thread has nothing left to do but to return.
        if let thread = inbox.withLock({ $0.joinable.take() }) { pthread_join(thread, nil) }
    }

    private func install(_ installation: @escaping Installation) {
        let accepted = inbox.withLock { inbox in
            guard inbox.phase == .running, inbox.installation == nil else { return false }
            inbox.installation = installation
            return true
        }
        precondition(accepted, "a bus thread hosts one loop, before its end")
        signal.raise()
    }
}

/// The thread's first function; not a closure, which would inherit the isolation of where it is written.
private func busThreadMain(_ retained: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let retained = unsafe retained else { preconditionFailure("the thread was started without its object") }
    unsafe Unmanaged<BusThread>.fromOpaque(retained).takeRetainedValue().run()
    return nil
}
