import Glibc
import IsletCore
import IsletServer
import Testing

@Suite struct ConfigurationReadingTests {
    /// Reads settings with a file of this content, which is removed again.
    private func reading(
        file: String? = nil, environment: [String: String] = [:], flags: [String: String] = [:]
    ) throws -> ConfigurationReading {
        var flags = flags
        var path: String?
        if let file {
            let template = "/tmp/islet-configuration-XXXXXX"
            var name = Array(template.utf8CString)
            let descriptor = mkstemp(&name)
            try #require(descriptor >= 0)
            let bytes = Array(file.utf8)
            try #require(write(descriptor, bytes, bytes.count) == bytes.count)
            close(descriptor)
            path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
            flags["config"] = path
        }
        defer { if let path { unlink(path) } }
        return ConfigurationReading(
            ConfigurationSources(flags: flags, environment: environment, now: Instant(1_763_700_000_000)))
    }

    private func problems(file: String) throws -> [String] {
        try reading(file: file).problems.map { problem in
            // Without the folder and the random name.
            let text = problem.description
            return text.firstIndex(of: ":").map { String(text[$0...].dropFirst()) } ?? text
        }
    }

    @Test func withoutAWordTheDefaultsHold() throws {
        let reading = try reading()
        #expect(reading.problems.isEmpty && reading.warnings.isEmpty)
        #expect(reading.configuration == ServeConfiguration())
        #expect(reading.configuration.commands == "tcp://127.0.0.1:7411")
        #expect(reading.configuration.events == "tcp://127.0.0.1:7412")
        #expect(reading.configuration.bulk == "tcp://127.0.0.1:7413")
        #expect(reading.configuration.ingest == nil)
        #expect(reading.configuration.rules == .standard)
    }

    @Test func flagsStandOverTheEnvironmentAndThatOverTheFile() throws {
        let reading = try reading(
            file: "commands: ipc://file\nevents: ipc://file\nbulk: ipc://file\nruleSet:\n  contentLimit: 100\n",
            environment: [
                "ISLET_COMMANDS": "ipc://environment", "ISLET_EVENTS": "ipc://environment",
                "ISLET_RULE_SET_MAXIMUM_PER_APP": "7", "ISLET_LOG_LEVEL": "debug",
            ],
            flags: ["commands": "ipc://flag"])
        #expect(reading.problems.isEmpty && reading.warnings.isEmpty)
        #expect(reading.configuration.commands == "ipc://flag")
        #expect(reading.configuration.events == "ipc://environment")
        #expect(reading.configuration.bulk == "ipc://file")
        #expect(reading.configuration.rules.contentLimit == 100)
        #expect(reading.configuration.rules.maximumPerApp == 7)
        #expect(reading.configuration.yaml.contains("logLevel: debug"))
    }

    @Test func theEnvironmentMayNameTheFile() throws {
        let missing = ConfigurationReading(
            ConfigurationSources(flags: [:], environment: ["ISLET_CONFIG": "/nowhere/islet.yaml"], now: Instant(0)))
        #expect(
            missing.problems == [.fileUnreadable(path: "/nowhere/islet.yaml", reason: "No such file or directory")])
    }

    @Test func everyRuleCanBeSet() throws {
        let reading = try reading(
            file: """
                ruleSet:
                  name: strict
                  date: 2026-02-03
                  contentLimit: 1
                  activeLimit: 2
                  dismissalLimit: 3
                  maximumPerApp: 4
                  maximumPerDevice: 5
                  endedCountTowardMaxima: true
                  futureTimestampLimit: 6
                  pushEndAcceptsOlderTimestamp: false
                  ignoresUnchangedUpdates: no
                  muteAfterPersonDismissal: 7
                  heartbeatStaleAfter: 8
                  heartbeatEndAfter: 9
                  controlRetryFirst: 13
                  controlRetryLongest: 14
                  authenticationLimit: 15
                  controlValueLimit: 16
                  widgetDailyBudget: 20
                  widgetLearningBudget: 21
                  widgetLearningSpan: 22
                  widgetReloadSpacing: 23
                  widgetEntrySpacing: 24
                  widgetReloadJitter: 25
                  widgetRetryFirst: 26
                  widgetRetryLongest: 27
                  maximumTimelineEntries: 28
                  widgetDeveloperMode: true
                  groupValueLimit: 17
                  maximumGroupKeys: 18
                  groupLimit: 19
                  retention: 10
                  maximumRetained: 11
                  maximumEntities: 12
                """)
        var rules = RuleSet(name: "strict", date: "2026-02-03")
        rules.contentLimit = 1
        rules.activeLimit = 2
        rules.dismissalLimit = 3
        rules.maximumPerApp = 4
        rules.maximumPerDevice = 5
        rules.endedCountTowardMaxima = true
        rules.futureTimestampLimit = 6
        rules.pushEndAcceptsOlderTimestamp = false
        rules.ignoresUnchangedUpdates = false
        rules.muteAfterPersonDismissal = 7
        rules.heartbeatStaleAfter = 8
        rules.heartbeatEndAfter = 9
        rules.controlRetryFirst = 13
        rules.controlRetryLongest = 14
        rules.authenticationLimit = 15
        rules.controlValueLimit = 16
        rules.widgetDailyBudget = 20
        rules.widgetLearningBudget = 21
        rules.widgetLearningSpan = 22
        rules.widgetReloadSpacing = 23
        rules.widgetEntrySpacing = 24
        rules.widgetReloadJitter = 25
        rules.widgetRetryFirst = 26
        rules.widgetRetryLongest = 27
        rules.maximumTimelineEntries = 28
        rules.widgetDeveloperMode = true
        rules.groupValueLimit = 17
        rules.maximumGroupKeys = 18
        rules.groupLimit = 19
        rules.retention = 10
        rules.maximumRetained = 11
        rules.maximumEntities = 12
        #expect(reading.problems.isEmpty)
        #expect(reading.configuration.rules == rules)
        // A rule that is added has to be added here and to the settings.
        #expect(Mirror(reflecting: rules).children.count == 34)
    }

    @Test func whatIsShownCanBeReadAgain() throws {
        var configuration = ServeConfiguration()
        configuration.ingest = "tcp://127.0.0.1:*"
        configuration.data = "a directory: with \"all\" \\ sorts # of signs"
        configuration.clock = .speed(from: Instant(1_763_700_000_000), factor: 2.5)
        configuration.rules = RuleSet(name: "strict: #1", date: "2026-02-03")
        configuration.rules.muteAfterPersonDismissal = 5_400_001
        configuration.rules.activeLimit = 1
        #expect(try reading(file: configuration.yaml).configuration == configuration)
        #expect(try reading(file: configuration.yaml).problems.isEmpty)
        configuration.clock = .manual(from: Instant(1_763_700_000_000))
        #expect(try reading(file: configuration.yaml).configuration == configuration)
        #expect(try reading(file: ServeConfiguration().yaml).configuration == ServeConfiguration())
    }

    @Test func aMisspeltNameIsToldWithItsLineAndWhatWasProbablyMeant() throws {
        #expect(
            try problems(file: "# a comment\ncomands: tcp://127.0.0.1:7411\n") == [
                "2: there is no setting \"comands\"; did you mean \"commands\"?"
            ])
        #expect(
            try problems(file: "ruleSet:\n  contentLimit: 5\n  maximumPerAp: 3\n") == [
                "3: there is no setting \"ruleSet.maximumPerAp\"; did you mean \"ruleSet.maximumPerApp\"?"
            ])
        #expect(try problems(file: "weather: fine\n") == ["1: there is no setting \"weather\""])
        #expect(
            try problems(file: "commands:\n  url: ipc://a\n") == [
                "2: there is no setting \"commands.url\"; did you mean \"commands\"?"
            ])
    }

    @Test func aWrongValueIsToldWithWhereItStands() throws {
        #expect(
            try problems(file: "\nruleSet:\n  maximumPerApp: many\n") == [
                "3: ruleSet.maximumPerApp: \"many\" is no whole number"
            ])
        #expect(
            try reading(environment: ["ISLET_SPEED": "fast"]).problems.map(\.description) == [
                "ISLET_SPEED: speed: \"fast\" is no speed: write a number from 0.000001 up to 1000000"
            ])
        #expect(try problems(file: "commands: [ipc://a, ipc://b]\n") == ["1: commands: one value is wanted here"])
    }

    @Test func allProblemsAreToldAtOnce() throws {
        let reading = try reading(
            file: "commands: tcp://0.0.0.0:1\nstor: memory\n", environment: ["ISLET_SYNC": "x"], flags: ["speed": "0"])
        #expect(reading.problems.count == 4)
        #expect(reading.configuration == ServeConfiguration())
        #expect(throws: ConfigurationError.self) {
            try ServeConfiguration(
                from: ConfigurationSources(flags: ["speed": "0"], environment: [:], now: Instant(0)))
        }
    }

    @Test(
        arguments: [
            "store: [a, b\n", "- a\n- b\n", "just text\n", "a: 1\na: 2\n", "\tcommands: x\n", "commands: \"x\n",
            "? [a]\n: b\n",
        ])
    func aFileThatIsNoMappingIsRefused(text: String) throws {
        let reading = try reading(file: text)
        #expect(!reading.problems.isEmpty)
        for problem in reading.problems {
            #expect(!problem.description.contains("\n"))
        }
    }

    @Test(arguments: ["", "\n", "# nothing\n", "---\n", "ruleSet:\n", "{}\n"])
    func aFileThatSaysNothingIsGood(text: String) throws {
        let reading = try reading(file: text)
        #expect(reading.problems.isEmpty)
        #expect(reading.configuration == ServeConfiguration())
    }

    @Test func aFolderIsNoFile() throws {
        let reading = try reading(flags: ["config": "/tmp"])
        #expect(reading.problems.map(\.description) == ["/tmp: cannot be read: Is a directory"])
    }

    @Test func aStrangeNameInTheEnvironmentIsAWarning() throws {
        let reading = try reading(environment: ["ISLET_COMANDS": "x", "ISLETS": "x", "PATH": "x"])
        #expect(reading.problems.isEmpty)
        #expect(
            reading.warnings.map(\.description) == [
                "ISLET_COMANDS: there is no setting \"ISLET_COMANDS\"; did you mean \"ISLET_COMMANDS\"?"
            ])
    }

    @Test func whatTheOtherCommandsReadIsNotStrange() throws {
        #expect(try reading(environment: ["ISLET_APP": "com.example.x", "ISLET_CONTEXT": "x"]).warnings.isEmpty)
    }
}
