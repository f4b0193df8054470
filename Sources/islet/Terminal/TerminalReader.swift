import Glibc

/// What a terminal and the system tell a full screen.
enum TerminalInput: Sendable {
    case keys([Key])
    case resized
    /// The process was stopped and goes on; what the terminal shows is unknown.
    case continued
    /// The person, the system or the terminal's end asks for the end.
    case end
}

/// Reads keys and signals on a thread of its own, which alone has all its state.
///
/// A stop (Ctrl-Z) is done here: the terminal is left before and entered after it. An end that nobody brings about
/// within two seconds is brought about here too: a terminal that takes nothing would hold the rest up.
final class TerminalReader: Sendable {
    private let terminal: Terminal
    private let signals: Int32
    private let deliver: @Sendable (TerminalInput) -> Void

    /// How long after an ESC a sequence may begin.
    private static let escapePatience: Int32 = 50
    private static let endPatience: Int32 = 2_000

    private init(_ terminal: Terminal, signals: Int32, deliver: @escaping @Sendable (TerminalInput) -> Void) {
        self.terminal = terminal
        self.signals = signals
        self.deliver = deliver
    }

    /// Starts the thread, which lives until `stop()`.
    ///
    /// - Parameter deliver: called on the thread.
    static func start(_ terminal: Terminal, deliver: @escaping @Sendable (TerminalInput) -> Void) throws(Failure) {
        let reader = TerminalReader(terminal, signals: try SignalPipe.open(), deliver: deliver)
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(reader)
        guard pthread_create(&thread, nil, terminalReaderMain, retained.toOpaque()) == 0 else {
            retained.release()
            throw Failure(.failure, "no thread can be had")
        }
        pthread_detach(thread)
    }

    /// Ends the thread; returns at once.
    static func stop() {
        SignalPipe.note()
    }

    fileprivate func run() {
        // The creator may be a thread of a pool, which takes no signals.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)

        var decoder = KeyDecoder()
        var hasKeys = true
        var isEnding = false
        while true {
            // poll(2) leaves a negative descriptor alone.
            var sources = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: hasKeys ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
            ]
            let patience = isEnding ? Self.endPatience : decoder.isWaiting ? Self.escapePatience : -1
            let count = poll(&sources, nfds_t(sources.count), patience)
            if count < 0 { continue }
            if count == 0 {
                if isEnding {
                    terminal.leaveAtOnce()
                    _exit(Outcome.done.rawValue)
                }
                deliver(.keys(decoder.timeOut()))
                continue
            }
            if sources[0].revents != 0 {
                for number in Self.bytes(of: signals) ?? [] {
                    if number == 0 { return }
                    if take(signal: Int32(number)) { isEnding = true }
                }
            }
            if sources[1].revents != 0 {
                if let bytes = Self.bytes(of: STDIN_FILENO) {
                    let keys = decoder.keys(of: bytes)
                    if !keys.isEmpty { deliver(.keys(keys)) }
                } else {
                    hasKeys = false
                    isEnding = true
                    deliver(.end)
                }
            }
        }
    }

    /// True where it asks for the end.
    private func take(signal: Int32) -> Bool {
        switch signal {
        case SIGWINCH:
            deliver(.resized)
        case SIGTSTP:
            terminal.leave()
            SignalPipe.stopProcess()
            terminal.enter()
            deliver(.continued)
        case SIGCONT:
            // Whoever stopped it without asking has the terminal as it was before; entering sets it anew.
            terminal.leave()
            terminal.enter()
            deliver(.continued)
        case _:
            deliver(.end)
            return true
        }
        return false
    }

    /// What there is to read; nil at the end.
    private static func bytes(of descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 { return Array(buffer[..<count]) }
            if count < 0, errno == EINTR { continue }
            return count < 0 && errno == EAGAIN ? [] : nil
        }
    }
}

/// The thread's first function; not a closure, which would inherit the isolation of where it is written.
private func terminalReaderMain(_ retained: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let retained else { return nil }
    Unmanaged<TerminalReader>.fromOpaque(retained).takeRetainedValue().run()
    return nil
}
