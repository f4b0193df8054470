import IsletFilter
import IsletServer

/// All that is wrong with a file.
package struct ScenarioProblems: Error, Sendable, Hashable {
    package var all: [ScenarioProblem]

    init(_ all: [ScenarioProblem]) {
        self.all = all
    }
}

/// The reading of a file: its YAML documents as scenarios, with all that is wrong in them.
package struct ScenarioReading {
    /// More steps than this are in no scenario.
    static let stepsMax = 10_000
    /// Further problems are not told: they come of the first ones.
    static let problemsMax = 20

    let path: String
    private(set) var problems: [ScenarioProblem] = []
    /// Of the scenario that is being read.
    var defaults = Scenario.Defaults()
    /// The names that steps have given so far.
    var names: [String] = []
    /// Where the clock stands at the step that is being read; nil where it cannot be known.
    var now: Int64?
    /// What steps and the provider do something with, by what it is.
    var said: [NameRole: Set<String>] = [:]
    /// Whether what is expected of an event is being read, which says only what is new.
    var isInEvent = false
    /// What is expected to be gone, or to have no events.
    var soughtNames: [SoughtName] = []

    /// Reads the scenarios of a file.
    ///
    /// - Parameters:
    ///   - text: YAML: one scenario for each document.
    ///   - path: how messages call the file.
    package static func read(_ text: String, path: String) -> Result<[Scenario], ScenarioProblems> {
        var reading = ScenarioReading(path: path)
        let documents: ScenarioDocuments
        do throws(ScenarioProblem) {
            documents = try ScenarioDocuments(text, path: path)
        } catch {
            return .failure(ScenarioProblems([error]))
        }
        guard !documents.roots.isEmpty else {
            return .failure(
                ScenarioProblems([ScenarioProblem(path: path, place: nil, text: "is empty: it has no scenario")]))
        }
        var scenarios: [Scenario] = []
        for root in documents.roots {
            guard let scenario = reading.scenario(root) else { continue }
            if let twin = scenarios.first(where: { $0.name == scenario.name }) {
                reading.note(root.place, "a scenario '\(scenario.name)' stands at line \(twin.place.line) already")
            }
            scenarios.append(scenario)
        }
        return reading.problems.isEmpty ? .success(scenarios) : .failure(ScenarioProblems(reading.problems))
    }

    private init(path: String) {
        self.path = path
    }

    /// Reads a pattern by itself.
    ///
    /// - Throws: the first thing that is wrong with it.
    static func pattern(_ yaml: String, names: [String]) throws(ScenarioProblem) -> ScenarioPattern {
        let documents = try ScenarioDocuments(yaml, path: "pattern")
        var reading = ScenarioReading(path: "pattern")
        reading.names = names
        let pattern = documents.roots.first.map { reading.pattern($0) } ?? .anything
        if let problem = reading.problems.first { throw problem }
        return pattern
    }

    // MARK: Problems

    /// Takes in that something is wrong.
    mutating func note(_ place: ScenarioPlace, _ text: String) {
        guard problems.count < Self.problemsMax else { return }
        problems.append(ScenarioProblem(path: path, place: place, text: text))
    }

    /// Takes in that a name is not known, and which one may be meant.
    mutating func noteUnknown(_ what: String, _ name: String, at place: ScenarioPlace, among known: [String]) {
        let meant = Spelling.closest(to: name, among: known).map { "; did you mean '\($0)'?" }
        let all = known.count <= 12 ? ": one of \(known.joined(separator: ", "))" : ""
        note(place, "'\(name.shortened(to: 60))' is no \(what)\(meant ?? (known.isEmpty ? "" : all))")
    }

    // MARK: Parts that many have

    /// The members of a mapping, all of which must be known.
    mutating func members(_ node: ScenarioNode, of what: String, _ known: [String]) -> [ScenarioNode.Entry]? {
        guard let entries = node.entries else {
            note(node.place, "\(what) is a mapping, and this is \(node.kind)")
            return nil
        }
        for entry in entries where !known.contains(entry.name) {
            noteUnknown("member of \(what)", entry.name, at: entry.place, among: known)
        }
        return entries.filter { known.contains($0.name) }
    }

    /// A text that is not empty.
    mutating func text(_ entry: ScenarioNode.Entry) -> String? {
        guard let text = entry.value.text, !entry.value.isNull, !text.isEmpty else {
            note(entry.value.place, "\(entry.name) is a text, and this is \(entry.value.kind)")
            return nil
        }
        return text
    }

    /// A length of time, such as `30m`.
    mutating func span(_ entry: ScenarioNode.Entry) -> Span? {
        guard let text = entry.value.text, let span = Span(argument: text) else {
            note(
                entry.value.place,
                "\(entry.name) is a length of time such as 30s, 4h or 1h30m, and this is "
                    + (entry.value.text.map { "'\($0.shortened(to: 60))'" } ?? entry.value.kind))
            return nil
        }
        return span
    }

    // MARK: Scenarios

    private static let scenarioMembers = [
        "name", "about", "clock", "rules", "app", "type", "kind", "key", "device", "provider", "steps",
    ]

    private mutating func scenario(_ node: ScenarioNode) -> Scenario? {
        guard let entries = members(node, of: "a scenario", Self.scenarioMembers) else { return nil }
        var scenario = Scenario(path: path, place: node.place)
        defaults = Scenario.Defaults()
        names = []
        said = [:]
        soughtNames = []
        var steps: ScenarioNode.Entry?
        var provider: ScenarioNode.Entry?
        for entry in entries {
            switch entry.name {
            case "name": scenario.name = text(entry) ?? scenario.name
            case "clock": if let date = date(entry) { scenario.clock = date }
            case "rules": scenario.rules = rules(entry.value)
            case "app": if let text = text(entry) { defaults.app = text }
            case "type": if let text = text(entry) { defaults.type = text }
            case "kind": defaults.kind = text(entry)
            case "key": defaults.key = text(entry)
            case "device": defaults.device = text(entry)
            case "provider": provider = entry
            case "steps": steps = entry
            case _: break
            }
        }
        scenario.defaults = defaults
        if scenario.name.isEmpty, !entries.contains(where: { $0.name == "name" }) {
            note(node.place, "a scenario has a name")
        }
        keep(defaults)
        if let provider {
            keep(provider: provider.value)
            scenario.provider = self.provider(provider.value)
        }
        guard let steps else {
            note(node.place, "a scenario has steps")
            return scenario
        }
        guard let elements = steps.value.elements, !elements.isEmpty else {
            note(steps.place, "steps is a list, and this is \(steps.value.kind)")
            return scenario
        }
        guard elements.count <= Self.stepsMax else {
            note(steps.place, "there are more than \(Self.stepsMax) steps")
            return scenario
        }
        now = scenario.clock
        for element in elements {
            guard let step = step(element, provider: scenario.provider) else { continue }
            if case .provider = step.action, scenario.provider == nil {
                note(element.place, "the scenario has no provider")
            }
            scenario.steps.append(step)
        }
        checkSoughtNames()
        return scenario
    }

    /// A date in UTC, or milliseconds since 1970.
    private mutating func date(_ entry: ScenarioNode.Entry) -> Int64? {
        guard let text = entry.value.text, case .at(let date) = Moment(argument: text), Moment.plausible.contains(date)
        else {
            note(
                entry.value.place,
                "\(entry.name) is a date in UTC such as 2026-01-31T09:00Z, and this is "
                    + (entry.value.text.map { "'\($0.shortened(to: 60))'" } ?? entry.value.kind))
            return nil
        }
        return date
    }

    private mutating func rules(_ node: ScenarioNode) -> [Scenario.Rule] {
        guard let entries = node.entries else {
            note(node.place, "rules is a mapping, as ruleSet in the configuration file, and this is \(node.kind)")
            return []
        }
        var rules: [Scenario.Rule] = []
        for entry in entries {
            guard ServeConfiguration.ruleNames.contains(entry.name) else {
                noteUnknown("rule", entry.name, at: entry.place, among: ServeConfiguration.ruleNames)
                continue
            }
            guard let text = entry.value.text else {
                note(entry.value.place, "\(entry.name) is one value, and this is \(entry.value.kind)")
                continue
            }
            var trial = ServeConfiguration()
            if let reason = trial.setRule(entry.name, text) {
                note(entry.value.place, "\(entry.name): '\(text.shortened(to: 60))' is \(reason)")
            }
            rules.append(Scenario.Rule(name: entry.name, text: text))
        }
        return rules
    }
}
