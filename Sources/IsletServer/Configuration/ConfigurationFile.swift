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
            root = try Parser(yaml: text).singleRoot()
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
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            .fileMalformed(path: path, line: mark.line, reason: "is no YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            .fileMalformed(
                path: path, line: context.mark.line, reason: "stands twice: \(duplicates.joined(separator: ", "))")
        case .no, .memory, .reader, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            .fileMalformed(path: path, line: nil, reason: "is no YAML: \(error)")
        }
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
