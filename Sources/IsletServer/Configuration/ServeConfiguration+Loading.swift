package import IsletCore

/// Where the settings of a process come from.
package struct ConfigurationSources: Sendable {
    /// The flags that were given, by the setting's name (`commands`, `logLevel`), and `config`, the file.
    package var flags: [String: String]
    package var environment: [String: String]
    /// The wall clock, which a fast clock starts from.
    package var now: Instant

    package init(
        flags: [String: String], environment: [String: String], now: Instant = Instant(ClockReading.system().wall)
    ) {
        self.flags = flags
        self.environment = environment
        self.now = now
    }
}

extension ServeConfiguration {
    /// Reads the settings.
    ///
    /// - Throws: all problems at once.
    package init(from sources: ConfigurationSources) throws(ConfigurationError) {
        let reading = ConfigurationReading(sources)
        guard reading.problems.isEmpty else { throw ConfigurationError(problems: reading.problems) }
        self = reading.configuration
    }

    /// The settings as a YAML file that says all of them.
    package var yaml: String { yaml(of: Setting.all(now: Instant(0))) }

    /// The defaults of the settings that only the file and the environment can say.
    package static var yamlWithoutFlags: String {
        let flags = Set(Setting.flags.map(\.name))
        return ServeConfiguration().yaml(of: Setting.all(now: Instant(0)).filter { !flags.contains($0.name) })
    }

    private func yaml(of settings: [Setting]) -> String {
        var lines: [String] = []
        var section = ""
        for setting in settings {
            guard let text = setting.show(self) else { continue }
            var name = setting.name[...]
            if let dot = name.lastIndex(of: ".") {
                if section != name[..<dot] {
                    section = String(name[..<dot])
                    lines.append("\(section):")
                }
                name = "  " + name[name.index(after: dot)...]
            }
            lines.append("\(name): \(ServeConfiguration.scalar(text))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A text as a YAML scalar, quoted where it could be taken for something else.
    private static func scalar(_ text: String) -> String {
        let isPlain = text.first?.isLetter == true || text.first?.isNumber == true
        let plain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._/:=*@-".contains($0)) }
        if isPlain && plain && text.last != ":" { return text }
        let escaped = text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "\"\(escaped)\""
    }
}
