import Glibc
import Synchronization

/// The terminal of this process as a full screen: keys come one by one, and what was there before is there again when
/// it is left. Nothing is written unless it is entered.
///
/// One thread at a time enters, leaves or writes; the lock is held while the terminal takes the bytes.
final class Terminal: Sendable {
    private let original: termios
    private let isEntered = Mutex(false)

    /// The alternate screen, without a cursor, without wrapping at the last column.
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// Whether there is one that can be more than lines: keys and screen are a terminal, and TERM says which.
    static var isThere: Bool {
        guard let name = environment("TERM"), name != "dumb" else { return false }
        return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    }

    /// Notes how the terminal is set, so that it can be set so again.
    ///
    /// - Throws: a `Failure` where standard input is no terminal.
    init() throws(Failure) {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw Failure(.failure, "the terminal does not answer: \(String(cString: strerror(errno)))")
        }
        original = settings
    }

    /// How large it is now.
    var size: ScreenSize {
        var window = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return .standard
        }
        return ScreenSize(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    /// Takes the terminal over. Ctrl-C and Ctrl-Z go on being signals, for the whole group of processes.
    func enter() {
        isEntered.withLock { isEntered in
            guard !isEntered else { return }
            var raw = original
            cfmakeraw(&raw)
            raw.c_lflag |= tcflag_t(ISIG)
            tcsetattr(STDIN_FILENO, TCSANOW, &raw)
            isEntered = Self.send(Self.entering)
        }
    }

    /// Gives the terminal back as it was. Keys that nobody has taken are not for who comes next.
    func leave() {
        isEntered.withLock { isEntered in
            guard isEntered else { return }
            isEntered = false
            _ = Self.send(Self.leaving)
            tcflush(STDIN_FILENO, TCIFLUSH)
            reset()
        }
    }

    /// As `leave()`, for an end that waits for nobody: not for the lock, nor for a terminal that takes nothing.
    func leaveAtOnce() {
        var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&output, 1, 0) == 1, output.revents & Int16(POLLOUT) != 0 { _ = Self.send(Self.leaving) }
        reset()
    }

    /// Writes text; false where the terminal has gone.
    func write(_ text: String) -> Bool {
        isEntered.withLock { isEntered in !isEntered || text.isEmpty || Self.send(text) }
    }

    private func reset() {
        var settings = original
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    private static func send(_ text: String) -> Bool {
        Output.write(Array(text.utf8)[...], to: STDOUT_FILENO) == nil
    }
}
