import Glibc
import IsletClient

/// JSON that a person types, or names a file of with `@path` (`@-` is standard input).
enum Payload {
    /// More than the bus takes in one frame.
    private static let bytesMax = 65_536

    /// The object's exact bytes.
    static func read(_ text: String, option: String) throws -> RawJSON {
        let json = try readAny(text, option: option)
        guard json.object != nil else {
            throw Failure(.usage, "\(option) must be a JSON object, such as '{\"eta\":12}': \(shown(json.bytes))")
        }
        return json
    }

    /// The exact bytes of any JSON.
    static func readAny(_ text: String, option: String) throws -> RawJSON {
        let bytes = text.hasPrefix("@") ? try file(String(text.dropFirst()), option) : Array(text.utf8)
        guard let json = RawJSON(bytes) else {
            throw Failure(.usage, "\(option) is not well-formed JSON: \(shown(bytes))")
        }
        return json
    }

    private static func shown(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).shortened(to: 60)
    }

    private static func file(_ path: String, _ option: String) throws -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY)
        guard descriptor >= 0 else {
            throw Failure(.usage, "\(option): cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= bytesMax {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                throw Failure(.usage, "\(option): cannot read \(path): \(String(cString: strerror(errno)))")
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
        throw Failure(.usage, "\(option): \(path) has more than \(bytesMax) bytes")
    }
}
