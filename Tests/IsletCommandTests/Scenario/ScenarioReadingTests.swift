import IsletClient
import Testing
import islet

private func read(_ text: String) -> Result<[Scenario], ScenarioProblems> {
    ScenarioReading.read(text, path: "s.yaml")
}

private func problems(_ text: String) -> [String] {
    switch read(text) {
    case .success: []
    case .failure(let problems): problems.all.map(\.description)
    }
}

@Suite("A file of scenarios")
struct ScenarioReadingTests {
    @Test("has one for each document, with its place")
    func documents() throws {
        let scenarios = try read(
            """
            # the first
            name: one
            steps:
              - start: a
              - advance: 1h
            ---
            ---
            name: two
            clock: 2026-02-01T00:00Z
            steps: [{to: 2026-02-01T00:00Z}]
            """
        ).get()
        #expect(scenarios.map(\.name) == ["one", "two"])
        #expect(scenarios.map(\.place.line) == [2, 8])
        #expect(scenarios.map(\.steps.count) == [2, 1])
        #expect(scenarios.map(\.clock) == [1_767_225_600_000, 1_769_904_000_000])
        #expect(scenarios[0].steps.map(\.title) == ["start a", "advance 1h"])
        #expect(scenarios[0].steps[1].place == ScenarioPlace(line: 5, column: 5))
    }

    @Test("tells everything that is wrong, in the order of its lines, and not more than helps")
    func everything() {
        let found = problems("name: x\naap: 1\nsteps:\n  - strat: a\n  - device: lok\n")
        #expect(
            found == [
                "s.yaml:2:1: 'aap' is no member of a scenario; did you mean 'app'?",
                "s.yaml:4:5: 'strat' is no member of a step; did you mean 'start'?",
                "s.yaml:5:13: 'lok' is no event of a device; did you mean 'lock'?",
            ])
        let many = "name: x\nsteps:\n" + String(repeating: "  - strat: a\n", count: 100)
        #expect(problems(many).count == 20)
    }

    @Test("may use anchors, within bounds")
    func anchors() throws {
        let text = """
            name: x
            steps:
              - start: {key: a, contentState: &state {eta: 1}}
              - update: {key: a, contentState: *state}
                expect: ignored
            """
        #expect(try read(text).get().count == 1)
        var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1..<8 {
            bomb += "a\(level): &a\(level) [\(Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ","))]\n"
        }
        #expect(problems(bomb).first?.contains("has more than 200000 values") == true)
    }

    @Test("knows as many steps and documents as are sensible")
    func bounds() {
        let steps = "name: x\nsteps:\n" + String(repeating: "  - start: a\n", count: 10_001)
        #expect(problems(steps) == ["s.yaml:2:1: there are more than 10000 steps"])
        let documents = (0...1_000).map { "name: x\($0)\nsteps: [{start: a}]\n" }.joined(separator: "---\n")
        #expect(problems(documents) == ["s.yaml:3001:1: has more than 1000 documents: use several files"])
    }

    @Test("is refused and does not end the process, whatever is in it")
    func noise() {
        var generator = SeededGenerator(seed: 20_261_122)
        let pieces = [
            "name: ", "steps:", "\n", "\n  - ", "start: ", "{", "}", "[", "]", "a", "key: ", "$a", "'", "\"", ": ",
            "&a ", "*a",
            "---\n", "\t", "expect: ", "state: ", "events: ", "advance: ", "9h", "to: ", "2026-01-01T00:00Z",
            "one of: ", "!!str ",
            "? ", "| ", "> ", "\u{1F600}", "provider: ", "controls: ", "as: b", "within: 1s", "send: ",
            "op: clock.advance", "by: 9223372036854775807",
        ]
        var accepted = 0
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 1...24, using: &generator)).map { _ in
                pieces.randomElement(using: &generator) ?? ""
            }.joined()
            if case .success = read(text) { accepted += 1 }
            _ = read("name: x\nsteps:\n  - " + text)
        }
        #expect(accepted < 3_000)
    }
}

/// SplitMix64.
private struct SeededGenerator: RandomNumberGenerator {
    var seed: UInt64

    mutating func next() -> UInt64 {
        seed &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (seed ^ (seed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
