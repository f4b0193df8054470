import Glibc

/// Writes a Swift file that holds the text of other files, for the build of `IsletHTTP`:
/// `islet-embed OUTPUT FILE…`.
@main
enum EmbedMain {
    static func main() {
        let words = CommandLine.arguments.dropFirst()
        guard let output = words.first else { fail("usage: islet-embed OUTPUT FILE…") }
        var text = "/// The board's files by their names, as they stand in Board/.\n"
        text += "package let boardFiles: [(name: String, text: StaticString)] = [\n"
        for path in words.dropFirst() {
            text += "    (\"\(name(of: path))\", \(literal(read(path)))),\n"
        }
        text += "]\n"
        write(text, to: output)
    }

    private static func name(of path: String) -> String {
        String(path.split(separator: "/").last ?? "")
    }

    /// A raw literal of several lines, with as many number signs as make its content plain.
    private static func literal(_ text: String) -> String {
        var signs = "#"
        while text.contains("\"\"\"" + signs) || text.contains("\\" + signs) { signs += "#" }
        return "\(signs)\"\"\"\n\(text)\n\"\"\"\(signs)"
    }

    private static func read(_ path: String) -> String {
        guard let file = fopen(path, "r") else { fail("\(path): cannot be read") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&part, 1, part.count, file)
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        // A literal of several lines cannot hold a carriage return as it stands.
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0), !bytes.contains(0x0D) else {
            fail("\(path): is no text in UTF-8 with plain line ends")
        }
        return text
    }

    private static func write(_ text: String, to path: String) {
        guard let file = fopen(path, "w") else { fail("\(path): cannot be written") }
        let written = fputs(text, file)
        guard fclose(file) == 0, written >= 0 else { fail("\(path): cannot be written") }
    }

    private static func fail(_ message: String) -> Never {
        let bytes = Array("islet-embed: \(message)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
        exit(1)
    }
}
