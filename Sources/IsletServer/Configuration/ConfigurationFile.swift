import Glibc
import Yams

/// A YAML file of settings: the scalars in it by their dotted names, each with its line.
///
/// Read with Yams itself and not with the YAML trait of swift-configuration, which does not tell what names a file has,
/// so that a misspelt one would pass in silence.
struct ConfigurationFile {
    /// A longer file is no configuration.
    static let maximumBytes = 1 << 20

    struct Entry: Equatable {
        var text: String
        var line: Int
        /// Whether it is YAML's word for no value, and not a text that looks like it.
        var isNull = false
    }

    var path: String
    var entries: [String: Entry] = [:]
    /// What is neither a scalar nor a mapping of names.
    var problems: [ConfigurationProblem] = []

    /// - Throws: `fileUnreadable` or `fileMalformed`.
    init(path: String) throws(ConfigurationProblem) {
        try self.init(path: path, text: ConfigurationFile.read(path))
    }

    /// - Throws: `fileMalformed`.
    init(path: String, text: String) throws(ConfigurationProblem) {
        self.path = path
        let root: Node?
        do {
            // Some editors begin a file with a mark of its encoding, of which Yams makes a document of its own.
            let isMarked = text.unicodeScalars.first == "\u{FEFF}"
            root = try Parser(yaml: isMarked ? String(text.unicodeScalars.dropFirst()) : text).singleRoot()
        } catch let error as YamlError {
            throw ConfigurationFile.malformed(path, error)
        } catch {
            throw .fileMalformed(path: path, line: nil, reason: "\(error)")
        }
        switch root {
        case nil: break
        // An empty document is a null scalar.
        case .scalar(let scalar) where scalar.string.isEmpty: break
        case .mapping(let mapping): add(mapping, prefix: "")
        case .scalar, .sequence, .alias:
            throw .fileMalformed(path: path, line: root?.mark?.line, reason: "is no mapping of settings to values")
        }
    }

    private mutating func add(_ mapping: Node.Mapping, prefix: String) {
        for (key, value) in mapping {
            let line = key.mark?.line ?? 0
            guard let name = key.scalar?.string else {
                problems.append(.fileMalformed(path: path, line: line, reason: "a setting's name is no text"))
                continue
            }
            let full = prefix + name
            switch value {
            case .scalar(let scalar):
                // Names with dots and sections say the same.
                if let other = entries[full] {
                    problems.append(
                        .fileMalformed(
                            path: path, line: line, reason: "\(full) stands twice, here and in line \(other.line)"))
                }
                let isNull = scalar.style == .plain && ["~", "null", "Null", "NULL", ""].contains(scalar.string)
                entries[full] = Entry(text: scalar.string, line: line, isNull: isNull)
            case .mapping(let inner): add(inner, prefix: full + ".")
            case .sequence, .alias:
                problems.append(.fileMalformed(path: path, line: line, reason: "\(full): one value is wanted here"))
            }
        }
    }

    private static func malformed(_ path: String, _ error: YamlError) -> ConfigurationProblem {
        switch error {
        case .scanner(_, let problem, let mark, let text), .parser(_, let problem, let mark, let text),
            .composer(_, let problem, let mark, let text):
            // What has no end is missed behind the last line.
            .fileMalformed(path: path, line: min(mark.line, lineCount(text)), reason: "is no YAML: \(problem)")
        case .reader(let problem, let offset, _, let text):
            // What Yams says of it has the line itself, with whatever stands in it.
            .fileMalformed(
                path: path, line: offset.map { line(ofCharacter: $0, in: text) }, reason: "is no YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            .fileMalformed(
                path: path, line: context.mark.line, reason: "stands twice: \(duplicates.joined(separator: ", "))")
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            .fileMalformed(path: path, line: nil, reason: "is no YAML: \(error)")
        }
    }

    /// How many lines a text has, with any of the ends of lines that YAML knows; at least one.
    private static func lineCount(_ text: String) -> Int {
        let ends = text.count { $0.isNewline }
        return max(1, text.last?.isNewline == false ? ends + 1 : ends)
    }

    /// The line of a character, from 1 on.
    private static func line(ofCharacter offset: Int, in text: String) -> Int {
        1 + text.prefix(offset).count { $0.isNewline }
    }

    private static func read(_ path: String) throws(ConfigurationProblem) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                guard errno == EINTR else { throw unreadable(path, errno) }
                continue
            }
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= maximumBytes else {
                throw .fileUnreadable(path: path, reason: "it has more than \(maximumBytes) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .fileMalformed(path: path, line: nil, reason: "is no UTF-8")
        }
        return text
    }

    private static func unreadable(_ path: String, _ code: Int32) -> ConfigurationProblem {
        .fileUnreadable(path: path, reason: String(cString: strerror(code)))
    }
}
