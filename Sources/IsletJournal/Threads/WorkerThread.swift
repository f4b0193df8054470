import CSQLite
import Glibc

/// A thread that runs one function to its end.
final class WorkerThread: Sendable {
    private struct Ending {
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The thread, until somebody has taken over to join it.
        var joinable: pthread_t?
    }

    private let ending = Monitor(Ending())
    private let body: @Sendable () -> Void

    /// Starts the thread.
    ///
    /// - Parameter name: What `top -H` shows; at most 15 bytes.
    init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        self.body = body
        var thread = pthread_t()
        let retained = unsafe Unmanaged.passRetained(self)
        let code = unsafe pthread_create(&thread, nil, workerThreadMain, retained.toOpaque())
        guard code == 0 else {
            unsafe retained.release()
            throw SystemError(operation: "cannot start the thread", path: name, code: code)
        }
        unsafe pthread_setname_np(thread, String(decoding: name.utf8.prefix(15), as: UTF8.self))
        ending.change { $0.joinable = thread }
    }

    deinit {
        if let thread = ending.change({ $0.joinable.take() }) { pthread_detach(thread) }
    }

    /// Returns when the function has returned and the thread is gone.
    @concurrent
    func ended() async {
        await withCheckedContinuation { continuation in
            let hasEnded = ending.change { ending in
                if !ending.hasEnded { ending.waiters.append(continuation) }
                return ending.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        // The thread has nothing left to do but to return.
        if let thread = ending.change({ $0.joinable.take() }) { pthread_join(thread, nil) }
    }

    fileprivate func run() {
        body()
        let waiters = ending.change { ending in
            ending.hasEnded = true
            return ending.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// The thread's first function; not a closure, which would inherit the isolation of where it is written.
private func workerThreadMain(_ retained: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let retained = unsafe retained else { preconditionFailure("the thread was started without its object") }
    unsafe Unmanaged<WorkerThread>.fromOpaque(retained).takeRetainedValue().run()
    return nil
}
