import Configuration

/// The reading of one configuration: flags over the environment (`ISLET_COMMANDS`, `ISLET_RULE_SET_CONTENT_LIMIT` …)
/// over the YAML file that `--config` or `ISLET_CONFIG` names.
package struct ConfigurationReading {
    /// A provider of swift-configuration, and how to say where one of its values stands.
    private struct Layer {
        var provider: any ConfigProvider
        var origin: (Setting) -> SettingOrigin
    }

    /// What was said; the default where a setting is missing or wrong.
    package private(set) var configuration = ServeConfiguration()
    /// Where each setting was said, and on which layer, from the highest on.
    private var origins: [String: (layer: Int, origin: SettingOrigin)] = [:]
    /// Everything that is wrong.
    package private(set) var problems: [ConfigurationProblem] = []
    /// What is strange and goes on all the same: the environment belongs to others, too.
    package private(set) var warnings: [ConfigurationProblem] = []

    package init(_ sources: ConfigurationSources) {
        configuration.data = ServeConfiguration.defaultData(sources.environment)
        let settings = Setting.all(now: sources.now)
        var layers = [
            Layer(provider: InMemoryProvider(name: "flags", values: ConfigurationReading.values(sources.flags))) {
                .flag($0.flagName)
            },
            Layer(
                provider: EnvironmentVariablesProvider(environmentVariables: sources.environment)
                    .prefixKeys(with: "islet")
            ) {
                .environment($0.environmentName)
            },
        ]
        if let path = sources.flags["config"] ?? sources.environment["ISLET_CONFIG"], let file = open(path) {
            problems += file.problems
            layers.append(
                Layer(
                    provider: InMemoryProvider(
                        name: path, values: ConfigurationReading.values(file.entries.mapValues(\.text)))
                ) {
                    .file(path: path, line: file.entries[$0.name]?.line ?? 0)
                })
            refuseUnknown(file, settings)
            if let data = file.entries["data"], data.isNull {
                problems.append(
                    .badValue(
                        setting: "data", value: data.text, at: .file(path: path, line: data.line),
                        reason: "no directory"))
            }
        }
        for setting in settings { read(setting, from: layers) }
        refuseEqualAddresses()
        noteUnknown(sources.environment.keys.sorted(), settings)
    }

    private static func values(_ texts: [String: String]) -> [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, text) in texts {
            values[key(name)] = ConfigValue(.string(text), isSecret: false)
        }
        return values
    }

    private static func key(_ name: String) -> AbsoluteConfigKey {
        AbsoluteConfigKey(name.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }

    private mutating func open(_ path: String) -> ConfigurationFile? {
        do throws(ConfigurationProblem) {
            return try ConfigurationFile(path: path)
        } catch {
            problems.append(error)
            return nil
        }
    }

    private mutating func refuseUnknown(_ file: ConfigurationFile, _ settings: [Setting]) {
        let known = settings.map(\.name)
        for (name, entry) in file.entries.sorted(by: { $0.value.line < $1.value.line }) where !known.contains(name) {
            // A section without content.
            if entry.text.isEmpty, known.contains(where: { $0.hasPrefix(name + ".") }) { continue }
            problems.append(
                .unknownSetting(
                    name, at: .file(path: file.path, line: entry.line), meant: Spelling.closest(to: name, among: known))
            )
        }
    }

    private mutating func noteUnknown(_ names: [String], _ settings: [Setting]) {
        let known = settings.map(\.environmentName) + ConfigurationReading.otherNames
        for name in names where name.hasPrefix("ISLET_") && !known.contains(name) {
            warnings.append(
                .unknownSetting(name, at: .environment(name), meant: Spelling.closest(to: name, among: known)))
        }
    }

    /// Names of the environment that are no settings of the service: its file, what the other commands read, and a
    /// folder of the board's files for those who work on them.
    private static let otherNames = ["ISLET_CONFIG", "ISLET_APP", "ISLET_CONTEXT", "ISLET_BOARD_FILES"]

    /// Two sockets cannot have one address, unless the system chooses the port.
    private mutating func refuseEqualAddresses() {
        let http = configuration.http.map { "tcp://\($0)" }
        let all = [
            ("commands", configuration.commands), ("events", configuration.events), ("bulk", configuration.bulk),
            ("ingest", configuration.ingest ?? ""), ("http", http ?? ""),
        ]
        for (index, (name, address)) in all.enumerated() where !address.isEmpty {
            let canonical = EndpointAddress.canonical(address)
            if canonical.hasPrefix("tcp://"), canonical.hasSuffix(":0") || canonical.hasSuffix(":*") { continue }
            guard let other = all[..<index].first(where: { EndpointAddress.canonical($0.1) == canonical }) else {
                continue
            }
            // Where one of them is a default, the other one is wrong.
            let said = origins[name].map { (name, $0.origin) } ?? origins[other.0].map { (other.0, $0.origin) }
            guard let (setting, origin) = said else { continue }
            problems.append(
                .badValue(
                    setting: setting, value: address, at: origin,
                    reason: "the address of \(setting) and of \(setting == name ? other.0 : name)"))
        }
    }

    /// Reads a setting from the first layer that has it.
    private mutating func read(_ setting: Setting, from layers: [Layer]) {
        for (place, layer) in layers.enumerated() {
            // Every layer holds texts, so that no lookup as text fails.
            let found = try? layer.provider.value(forKey: ConfigurationReading.key(setting.name), type: .string)
            guard case .string(let text) = found?.value?.content else { continue }
            origins[setting.name] = (place, layer.origin(setting))
            // Who chose a manual clock on a layer above did not want another's speed.
            if setting.name == "speed", case .manual = configuration.clock, let clock = origins["clock"],
                clock.layer < place
            {
                return
            }
            do throws(SettingRefusal) {
                try setting.read(text, &configuration)
            } catch {
                problems.append(
                    .badValue(
                        setting: setting.name, value: text, at: layer.origin(setting), reason: error.reason))
            }
            return
        }
    }
}
