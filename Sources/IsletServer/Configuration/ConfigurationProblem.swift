/// Where a setting was said.
package enum SettingOrigin: Equatable, Sendable {
    case flag(String)
    case environment(String)
    case file(path: String, line: Int)
}

extension SettingOrigin: CustomStringConvertible {
    package var description: String {
        switch self {
        case .flag(let name): name
        case .environment(let name): name
        case .file(let path, let line): "\(path):\(line)"
        }
    }
}

/// One thing that is wrong with a configuration, in words for the person who wrote it.
package enum ConfigurationProblem: Error, Equatable, Sendable {
    case fileUnreadable(path: String, reason: String)
    /// It is no YAML, or no mapping of names to values.
    case fileMalformed(path: String, line: Int?, reason: String)
    case unknownSetting(String, at: SettingOrigin, meant: String?)
    /// A value that cannot be; `reason` goes on after "is".
    case badValue(setting: String, value: String, at: SettingOrigin, reason: String)
}

extension ConfigurationProblem: CustomStringConvertible {
    /// One line: ends of lines in names and values are escaped.
    package var description: String {
        switch self {
        case .fileUnreadable(let path, let reason):
            "\(path): cannot be read: \(reason)"
        case .fileMalformed(let path, let line, let reason):
            "\(path)\(line.map { ":\($0)" } ?? ""): \(reason)"
        case .unknownSetting(let name, let origin, let meant):
            "\(origin): there is no setting \(name.debugDescription)" + (meant.map { "; did you mean \"\($0)\"?" } ?? "")
        case .badValue(let setting, let value, let origin, let reason):
            "\(origin): \(setting): \(value.debugDescription) is \(reason)"
        }
    }
}

/// Everything that is wrong with a configuration; the process ends with exit code 2.
package struct ConfigurationError: Error, Equatable, Sendable {
    package var problems: [ConfigurationProblem]
}
