import Glibc

/// The two outputs of the command: data, and messages to the person. Each line is written at once, so that what is
/// piped through arrives when it happens.
enum Console {
    /// Whether a person looks at the data.
    static let isSeen = isatty(STDOUT_FILENO) == 1

    /// Writes a line of data for a person on standard output. Whatever came from outside is printable there; only a
    /// terminal gets colours.
    static func data(_ line: String) {
        write(line.printable(keepsInk: isSeen), to: STDOUT_FILENO)
    }

    /// Writes bytes of data and a line's end on standard output, as they are: JSON, for programs.
    static func data(_ bytes: [UInt8]) {
        write(bytes, to: STDOUT_FILENO)
    }

    /// Writes a line for the person on standard error, or several with ends of lines between them.
    static func message(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            write(String(line).printable, to: STDERR_FILENO)
        }
    }

    /// Writes text for the person on standard error, and no line's end.
    static func prompt(_ text: String) {
        write(Array(text.utf8)[...], to: STDERR_FILENO)
    }

    private static func write(_ line: String, to descriptor: Int32) {
        write(Array(line.utf8), to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        write((bytes + [UInt8(ascii: "\n")])[...], to: descriptor)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR, errno != EAGAIN {
                // The reader has gone, and so has the purpose.
                return
            }
        }
    }
}

/// The value of an environment variable; nil where it is unset or empty.
func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}
