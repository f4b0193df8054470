import Glibc
import UnixSignals

/// What a process has that is a service, and not a command that ends.
enum ServiceProcess {
    /// Prepares this process.
    static func prepare() {
        FreedMemory.goesBack()
        OpenFileLimit.raise()
        // A log, a socket or a pipe that nobody reads any more is an error of that write, and no reason to end.
        signal(SIGPIPE, SIG_IGN)
    }

    /// The signals that end it in good order. A terminal that goes away does, too, unless it was started with `nohup`.
    static var signalsToStop: [UnixSignal] {
        var action = sigaction()
        guard sigaction(SIGHUP, nil, &action) == 0 else { return [.sigterm, .sigint] }
        let isIgnored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
        return isIgnored ? [.sigterm, .sigint] : [.sigterm, .sigint, .sighup]
    }
}
