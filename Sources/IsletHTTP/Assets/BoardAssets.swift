import Glibc
import HTTPTypes

/// The files of the board: those that are built in, or those of a folder while somebody works on them.
package struct BoardAssets: Sendable {
    private let folder: String?

    /// - Parameter folder: nil: the built-in files.
    package init(folder: String?) {
        self.folder = folder
    }

    private static let builtIn = Dictionary(
        uniqueKeysWithValues: boardFiles.map { file in
            (file.name, BoardAsset(name: file.name, bytes: file.text.withUTF8Buffer { Array($0) }))
        })

    /// The file of that name; nil where there is none.
    package func asset(_ name: String) -> BoardAsset? {
        guard let folder else { return Self.builtIn[name] }
        guard Self.isPlain(name), let bytes = Self.read(folder + "/" + name) else { return nil }
        return BoardAsset(name: name, bytes: bytes)
    }

    /// Whether it names a file in the folder itself.
    private static func isPlain(_ name: String) -> Bool {
        name.first != "."
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &part, part.count)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += part[..<count]
        }
    }
}

/// One file of the board.
package struct BoardAsset: Sendable, Equatable {
    package var bytes: [UInt8]
    package var contentType: String
    /// Of the content: a browser asks each time, and gets the file only where it has changed.
    package var tag: String

    package init(name: String, bytes: [UInt8]) {
        self.bytes = bytes
        contentType =
            switch name.split(separator: ".").last {
            case "html": "text/html; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "js": "text/javascript; charset=utf-8"
            case "svg": "image/svg+xml"
            case "json", "webmanifest": "application/json"
            default: "text/plain; charset=utf-8"
            }
        // FNV-1a.
        let hash = bytes.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        tag = "\"" + String(hash, radix: 16) + "\""
    }

    /// The answer to a browser that has the versions of these tags.
    package func reply(known tags: String?) -> Reply {
        var fields: HTTPFields = [.eTag: tag, .cacheControl: "no-cache"]
        if let tags, tags == "*" || tags.split(separator: ",").contains(where: { $0.hasSuffix(tag) }) {
            return Reply(status: .notModified, fields: fields)
        }
        fields[.contentType] = contentType
        return Reply(status: .ok, fields: fields, body: bytes)
    }
}
