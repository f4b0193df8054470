import IsletCore
import IsletServer
import Testing

/// The values of settings, through the only door that they have.
@Suite struct SettingTextTests {
    private func reading(_ name: String, _ text: String) -> ConfigurationReading {
        ConfigurationReading(
            ConfigurationSources(flags: [name: text], environment: [:], now: Instant(1_763_700_000_000)))
    }

    private func span(_ text: String) -> Milliseconds? {
        let reading = reading("ruleSet.retention", text)
        return reading.problems.isEmpty ? reading.configuration.rules.retention : nil
    }

    @Test(
        arguments: [
            ("1", 1), ("28800000", 28_800_000), ("8h", 28_800_000), ("90s", 90_000), ("1h30m", 5_400_000),
            ("2d", 172_800_000), ("250ms", 250), ("1d2h3m4s5ms", 93_784_005), ("3650d", 315_360_000_000),
        ] as [(String, Milliseconds)])
    func aSpanIsMillisecondsOrNumbersWithUnits(text: String, expected: Milliseconds) {
        #expect(span(text) == expected)
    }

    @Test(
        arguments: [
            "", "0", "-1", "0h", "h", "8", "8hours", "8 h", "h8", "30m1h", "1h1h", "1.5h", "3651d",
            "99999999999999999999h",
            "9223372036854775807d", "8h ", "+8h", "none",
        ].filter { $0 != "8" })
    func anythingElseIsNoSpan(text: String) {
        #expect(span(text) == nil)
    }

    @Test func aRuleThatIsOffByDefaultCanBeSetAndSwitchedOff() {
        #expect(
            reading("ruleSet.muteAfterPersonDismissal", "1h").configuration.rules.muteAfterPersonDismissal == 3_600_000)
        for text in ["none", "off", "null", "~"] {
            let off = reading("ruleSet.muteAfterPersonDismissal", text)
            #expect(off.problems.isEmpty && off.configuration.rules.muteAfterPersonDismissal == nil)
        }
    }

    @Test(
        arguments: [
            ("system", .system), ("manual", .manual(from: Instant(1_767_225_600_000))),
            ("manual=1763700000000", .manual(from: Instant(1_763_700_000_000))),
        ] as [(String, ClockMode)])
    func aClockIsSystemOrManual(text: String, expected: ClockMode) {
        let reading = reading("clock", text)
        #expect(reading.problems.isEmpty && reading.configuration.clock == expected)
    }

    @Test func aClockThatStartsInSecondsIsToldTheMilliseconds() {
        let problem = reading("clock", "manual=1767225600").problems.map(\.description)
        #expect(problem.count == 1 && problem[0].contains("manual=1767225600000"))
        #expect(reading("clock", "manual=9223372036854775807").problems.count == 1)
        #expect(reading("clock", "sundial").problems.count == 1)
    }

    @Test func aFastClockStartsAtTheWallClock() {
        let fast = reading("speed", "600")
        #expect(fast.configuration.clock == .speed(from: Instant(1_763_700_000_000), factor: 600))
        for text in ["0", "-1", "nan", "inf", "1e9", "fast", ""] {
            #expect(reading("speed", text).problems.count == 1, "\(text)")
        }
        let both = ConfigurationReading(
            ConfigurationSources(flags: ["clock": "manual", "speed": "2"], environment: [:], now: Instant(0)))
        #expect(both.problems.count == 1)
    }

    @Test(
        arguments: [
            "tcp://127.0.0.1:7411", "tcp://127.0.0.1:*", "tcp://127.0.0.1:0", "tcp://127.9.8.7:1",
            "ipc:///run/islet/commands",
            "ipc://relative", "ipc://*",
        ])
    func aLoopbackOrLocalAddressIsTaken(text: String) {
        let reading = reading("commands", text)
        #expect(reading.problems.isEmpty && reading.configuration.commands == text)
    }

    @Test(
        arguments: [
            "", "nonsense", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:", "tcp://127.0.0.1:65536",
            "tcp://127.0.0.1:http",
            "tcp://0.0.0.0:7411", "tcp://*:7411", "tcp://192.0.2.1:7411", "tcp://example.com:7411",
            "tcp://127.0.0.1.example:1",
            "tcp://127.0.0:1", "tcp://127.0.0.256:1", "tcp://127.0.0.:1", "tcp://localhost:7411", "tcp://[::]:7411",
            "tcp://eth0;127.0.0.1:7411", "inproc://a", "udp://127.0.0.1:1", "ipc://",
            "ipc://" + String(repeating: "x", count: 108),
        ])
    func anyOtherAddressIsRefused(text: String) {
        for name in ["commands", "events", "bulk", "ingest"] {
            let problems = reading(name, text).problems.map(\.description)
            #expect(problems.count == 1 && problems[0].contains("--\(name)") && problems[0].contains("\"\(text)\""))
        }
    }

    @Test func httpHasAHostAndAPortOfThisMachine() {
        #expect(reading("http", "127.0.0.1:*").configuration.http == HTTPAddress(host: "127.0.0.1", port: 0))
        #expect(reading("http", "127.9.8.7:1").configuration.http == HTTPAddress(host: "127.9.8.7", port: 1))
        #expect(reading("http", "none").configuration.http == nil)
        for text in ["", "7414", ":7414", "127.0.0.1", "0.0.0.0:7414", "localhost:7414", "http://127.0.0.1:7414"] {
            #expect(reading("http", text).problems.map(\.description).first?.hasPrefix("--http: ") == true)
        }
    }

    @Test func whatAStoreMayBeIsSaid() {
        #expect(
            reading("store", "paper").problems.map(\.description) == [
                "--store: store: \"paper\" is none of sqlite, memory"
            ])
    }

    @Test(
        arguments: [
            ("contentLimit", "0"), ("contentLimit", "65537"), ("contentLimit", "4k"), ("maximumPerApp", "many"),
            ("endedCountTowardMaxima", "2"), ("date", "2026-13-01"), ("date", "2026-02-29"),
            ("date", "2026-04-31"), ("date", "1.2.2026"), ("date", "2026-1-01"), ("name", ""), ("name", "ü"), ("maximumEntities", "-1"),
        ])
    func aRuleOutsideItsRangeIsRefused(name: String, text: String) {
        let reading = reading("ruleSet.\(name)", text)
        #expect(reading.problems.count == 1)
        #expect(reading.configuration.rules == .standard)
    }
}
