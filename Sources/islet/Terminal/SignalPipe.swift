import Glibc
import Synchronization

/// Signals as bytes of a pipe, so that they can be waited for together with keys.
enum SignalPipe {
    /// Where the handler writes; -1 until there is a pipe. Touched first before a handler is set, so that the handler
    /// never makes it.
    private static let inlet = Atomic<Int32>(-1)

    /// Those that matter to a full screen.
    private static let numbers = [SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT]

    /// Makes the pipe, which stays until the process ends, and sends the signals there.
    ///
    /// - Returns: the end to read: a byte is a signal's number, 0 is `note()`.
    static func open() throws(Failure) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(.failure, "no pipe can be had: \(String(cString: strerror(errno)))")
        }
        // Not blocking: a handler must not wait, and signals that find the pipe full are told already.
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        inlet.store(ends[1], ordering: .sequentiallyConsistent)
        for number in numbers { trap(number) }
        return ends[0]
    }

    /// Writes a 0 into the pipe.
    static func note() {
        put(0)
    }

    /// Stops the process as the signal does that nobody handles, and returns when it goes on.
    static func stopProcess() {
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        trap(SIGTSTP)
    }

    private static func trap(_ number: Int32) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // In a handler: only an atomic load and write(2), and errno as it was.
            let error = errno
            SignalPipe.put(UInt8(truncatingIfNeeded: number))
            errno = error
        }
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    private static func put(_ byte: UInt8) {
        var byte = byte
        let descriptor = inlet.load(ordering: .sequentiallyConsistent)
        if descriptor >= 0 { _ = write(descriptor, &byte, 1) }
    }
}
