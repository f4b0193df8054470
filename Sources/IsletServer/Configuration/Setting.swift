import IsletCore
import IsletJournal
import Logging

/// One setting of `islet serve`: how it is named, read and shown.
struct Setting {
    /// The name in the file, a dot for each level; the environment variable's and the flag's are made of it.
    var name: String
    /// Reads the setting's text into a configuration.
    var read: (String, inout ServeConfiguration) throws(SettingRefusal) -> Void
    /// What the configuration says, as text that `read` reads; nil where the setting is of no concern.
    var show: (ServeConfiguration) -> String?

    /// `ISLET_` and the words of the name in upper case.
    var environmentName: String {
        var result = "ISLET_"
        var previous: Character?
        for character in name {
            if character == "." {
                result += "_"
            } else {
                if character.isUppercase, previous?.isLowercase == true { result += "_" }
                result += character.uppercased()
            }
            previous = character
        }
        return result
    }

    /// `--` and the words of the name; only top-level settings have a flag.
    var flagName: String {
        "--" + name.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
    }
}

extension Setting {
    /// All settings, in the order in which they are read and shown.
    ///
    /// - Parameter now: The wall clock, which a fast clock starts from.
    static func all(now: Instant) -> [Setting] {
        endpoints + process + clocks(now: now) + journal + rules
    }

    /// The top-level settings, which are the flags as well.
    static var flags: [Setting] { endpoints + process + clocks(now: Instant(0)) }

    private static var endpoints: [Setting] {
        [
            address("commands", \.commands), address("events", \.events), address("bulk", \.bulk),
            Setting(name: "ingest") { text, configuration throws(SettingRefusal) in
                configuration.ingest = SettingText.isNone(text) ? nil : try EndpointAddress.checked(text)
            } show: {
                $0.ingest ?? "none"
            },
            Setting(name: "http") { text, configuration throws(SettingRefusal) in
                configuration.http = SettingText.isNone(text) ? nil : try EndpointAddress.checkedHTTP(text)
            } show: {
                $0.http?.description ?? "none"
            },
            Setting(name: "boardWrite") { text, configuration throws(SettingRefusal) in
                configuration.boardWrite = try SettingText.bool(text)
            } show: {
                "\($0.boardWrite)"
            },
        ]
    }

    private static var process: [Setting] {
        [
            Setting(name: "store") { text, configuration throws(SettingRefusal) in
                configuration.store = try SettingText.choice(text, of: ServeConfiguration.Store.self)
            } show: {
                $0.store.rawValue
            },
            Setting(name: "data") { text, configuration throws(SettingRefusal) in
                guard !text.isEmpty, !text.utf8.contains(0) else { throw SettingRefusal("no directory") }
                configuration.data = text
            } show: {
                $0.data
            },
            Setting(name: "sync") { text, configuration throws(SettingRefusal) in
                configuration.sync = try SettingText.choice(text, of: SyncMode.self)
            } show: {
                $0.sync.rawValue
            },
            Setting(name: "logLevel") { text, configuration throws(SettingRefusal) in
                configuration.logLevel = try SettingText.choice(text, of: Logger.Level.self)
            } show: {
                $0.logLevel.rawValue
            },
        ]
    }

    private static func clocks(now: Instant) -> [Setting] {
        [
            Setting(name: "clock") { text, configuration throws(SettingRefusal) in
                configuration.clock = try SettingText.clock(text)
            } show: { configuration in
                switch configuration.clock {
                case .system, .speed: "system"
                case .manual(let from): "manual=\(from.milliseconds)"
                }
            },
            Setting(name: "speed") { text, configuration throws(SettingRefusal) in
                let factor = try SettingText.speed(text)
                switch configuration.clock {
                case .system, .speed: configuration.clock = .speed(from: now, factor: factor)
                case .manual: throw SettingRefusal("of no use beside a manual clock, which moves only when it is told")
                }
            } show: { configuration in
                guard case .speed(_, let factor) = configuration.clock else { return nil }
                return "\(factor)"
            },
        ]
    }

    private static var journal: [Setting] {
        [
            journal("segmentBytes", \.segmentBytes, 1 << 16...1 << 32),
            journal("retentionBytes", \.retentionBytes, 1 << 17...1 << 50),
            Setting(name: "journal.retention") { text, configuration throws(SettingRefusal) in
                configuration.journal.retention = try SettingText.span(text)
            } show: {
                SettingText.text(span: $0.journal.retention)
            },
            journal("minimumFree", \.minimumFree, 0...1 << 50),
            journal("logRoom", \.logRoom), journal("allowVolatile", \.allowVolatile),
        ]
    }

    private static func journal(
        _ name: String, _ path: WritableKeyPath<ServeConfiguration.JournalLimits, Int>, _ range: ClosedRange<Int>
    ) -> Setting {
        Setting(name: "journal.\(name)") { text, configuration throws(SettingRefusal) in
            configuration.journal[keyPath: path] = try SettingText.integer(text, range)
        } show: {
            "\($0.journal[keyPath: path])"
        }
    }

    private static func journal(
        _ name: String, _ path: WritableKeyPath<ServeConfiguration.JournalLimits, Bool>
    ) -> Setting {
        Setting(name: "journal.\(name)") { text, configuration throws(SettingRefusal) in
            configuration.journal[keyPath: path] = try SettingText.bool(text)
        } show: {
            "\($0.journal[keyPath: path])"
        }
    }

    private static var rules: [Setting] {
        [
            rule("name") {
                $0.name
            } set: { text, rules throws(SettingRefusal) in
                rules.name = try SettingText.name(text)
            },
            rule("date") {
                $0.date
            } set: { text, rules throws(SettingRefusal) in
                rules.date = try SettingText.day(text)
            },
            integer("contentLimit", \.contentLimit, 1...65_536), span("activeLimit", \.activeLimit),
            span("dismissalLimit", \.dismissalLimit), integer("maximumPerApp", \.maximumPerApp, 1...1_000_000),
            integer("maximumPerDevice", \.maximumPerDevice, 1...1_000_000),
            bool("endedCountTowardMaxima", \.endedCountTowardMaxima),
            span("futureTimestampLimit", \.futureTimestampLimit),
            bool("pushEndAcceptsOlderTimestamp", \.pushEndAcceptsOlderTimestamp),
            bool("ignoresUnchangedUpdates", \.ignoresUnchangedUpdates),
            optionalSpan("muteAfterPersonDismissal", \.muteAfterPersonDismissal),
            optionalSpan("heartbeatStaleAfter", \.heartbeatStaleAfter),
            optionalSpan("heartbeatEndAfter", \.heartbeatEndAfter),
            span("controlRetryFirst", \.controlRetryFirst), span("controlRetryLongest", \.controlRetryLongest),
            span("authenticationLimit", \.authenticationLimit),
            integer("controlValueLimit", \.controlValueLimit, 1...65_536),
            integer("widgetDailyBudget", \.widgetDailyBudget, 1...ReloadLedger.largestBudget),
            integer("widgetLearningBudget", \.widgetLearningBudget, 1...ReloadLedger.largestBudget),
            span("widgetLearningSpan", \.widgetLearningSpan), span("widgetReloadSpacing", \.widgetReloadSpacing),
            span("widgetEntrySpacing", \.widgetEntrySpacing), span("widgetReloadJitter", \.widgetReloadJitter),
            span("widgetRetryFirst", \.widgetRetryFirst), span("widgetRetryLongest", \.widgetRetryLongest),
            integer("maximumTimelineEntries", \.maximumTimelineEntries, 1...4_096),
            bool("widgetDeveloperMode", \.widgetDeveloperMode),
            integer("groupValueLimit", \.groupValueLimit, 1...65_536),
            integer("maximumGroupKeys", \.maximumGroupKeys, 1...1_000_000),
            integer("groupLimit", \.groupLimit, 1...1_000_000_000), span("retention", \.retention),
            integer("maximumRetained", \.maximumRetained, 0...100_000_000),
            integer("maximumEntities", \.maximumEntities, 1...100_000_000),
        ]
    }

    private static func address(_ name: String, _ path: WritableKeyPath<ServeConfiguration, String>) -> Setting {
        Setting(name: name) { text, configuration throws(SettingRefusal) in
            configuration[keyPath: path] = try EndpointAddress.checked(text)
        } show: {
            $0[keyPath: path]
        }
    }

    private static func rule(
        _ name: String, get: @escaping (RuleSet) -> String,
        set: @escaping (String, inout RuleSet) throws(SettingRefusal) -> Void
    ) -> Setting {
        Setting(name: "ruleSet.\(name)") { text, configuration throws(SettingRefusal) in
            try set(text, &configuration.rules)
        } show: {
            get($0.rules)
        }
    }

    private static func span(_ name: String, _ path: WritableKeyPath<RuleSet, Milliseconds>) -> Setting {
        rule(name) {
            SettingText.text(span: $0[keyPath: path])
        } set: { text, rules throws(SettingRefusal) in
            rules[keyPath: path] = try SettingText.span(text)
        }
    }

    private static func optionalSpan(_ name: String, _ path: WritableKeyPath<RuleSet, Milliseconds?>) -> Setting {
        rule(name) {
            $0[keyPath: path].map { SettingText.text(span: $0) } ?? "none"
        } set: { text, rules throws(SettingRefusal) in
            rules[keyPath: path] = try SettingText.optionalSpan(text)
        }
    }

    private static func integer(
        _ name: String, _ path: WritableKeyPath<RuleSet, Int>, _ range: ClosedRange<Int>
    ) -> Setting {
        rule(name) {
            "\($0[keyPath: path])"
        } set: { text, rules throws(SettingRefusal) in
            rules[keyPath: path] = try SettingText.integer(text, range)
        }
    }

    private static func bool(_ name: String, _ path: WritableKeyPath<RuleSet, Bool>) -> Setting {
        rule(name) {
            "\($0[keyPath: path])"
        } set: { text, rules throws(SettingRefusal) in
            rules[keyPath: path] = try SettingText.bool(text)
        }
    }
}
