import Glibc

/// The two outputs of the command: data, and messages to the person. Each line is written at once, so that what is
/// piped through arrives when it happens.
///
/// Data that cannot be written is the command's failure, at once, as nothing that follows is worth more than what is
/// lost. A reader who has gone is none: the command ends without a word, as programs on a pipe do.
enum Console {
    /// Whether a person looks at the data.
    static let isSeen = isatty(STDOUT_FILENO) == 1

    /// Writes a line of data for a person on standard output. Whatever came from outside is printable there; only a
    /// terminal gets colours.
    ///
    /// - Parameter change: what was done before, such as `updated order-7`: it is told where the data cannot be.
    static func data(_ line: String, of change: String? = nil) {
        write(Array(line.printable(keepsInk: isSeen).utf8), of: change)
    }

    /// Writes JSON as one line of JSON Lines on standard output: as it came to programs, but for line ends between its
    /// parts, and with what a terminal would obey escaped where a person looks.
    ///
    /// - Parameter change: what was done before, such as `updated order-7`: it is told where the data cannot be.
    static func data(_ json: [UInt8], of change: String? = nil) {
        write((isSeen ? json.escapedForTerminal : json).onOneLine, of: change)
    }

    /// Writes one JSON value on standard output, byte for byte, and a line's end.
    static func exactly(_ json: [UInt8]) {
        write(json)
    }

    /// Writes text of this command's own on standard output, with its own line ends.
    static func text(_ text: String) {
        write(Array(text.utf8), end: [])
    }

    /// Writes a line for the person on standard error, or several with ends of lines between them.
    static func message(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            tell(Array(String(line).printable.utf8) + [UInt8(ascii: "\n")])
        }
    }

    /// Writes text for the person on standard error, and no line's end.
    static func prompt(_ text: String) {
        tell(Array(text.utf8))
    }

    private static func write(_ bytes: [UInt8], end: [UInt8] = [UInt8(ascii: "\n")], of change: String? = nil) {
        if let error = Output.write((bytes + end)[...], to: STDOUT_FILENO) { fail(error, change) }
    }

    /// Nobody can be told that nobody can be told.
    private static func tell(_ bytes: [UInt8]) {
        _ = Output.write(bytes[...], to: STDERR_FILENO)
    }

    private static func fail(_ error: Int32, _ change: String?) -> Never {
        if error == EPIPE {
            // As where the signal is not ignored.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        let made = change.map { "; the change was made: \($0)" } ?? ""
        message("cannot write to standard output: \(String(cString: strerror(error)))\(made)")
        exit(Main.code(of: .failure))
    }
}

/// The value of an environment variable; nil where it is unset or empty.
func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}
