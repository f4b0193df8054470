/// One scenario: what is done, step by step, and what is expected of it.
package struct Scenario: Sendable {
    /// A rule that differs from the standard, as the configuration file would have it.
    struct Rule: Sendable {
        var name: String
        var text: String
    }

    /// What steps need not say.
    struct Defaults: Sendable {
        var app = "com.example.scenario"
        var type = "Activity"
        var kind: String?
        var key: String?
        var device: String?
    }

    package var name = ""
    package var path: String
    package var place: ScenarioPlace
    /// 2026-01-01T00:00Z.
    static let usualClock: Int64 = 1_767_225_600_000
    /// Where the clock stands at first, where nothing else is said.
    package var clock = usualClock
    var rules: [Rule] = []
    var defaults = Defaults()
    var provider: ProviderScript?
    package var steps: [ScenarioStep] = []

    /// Whether it can be played only where the clock is manual.
    var movesClock: Bool {
        steps.contains { step in
            guard case .command(let command) = step.action else { return false }
            return command.op == "clock.advance"
        }
    }
}

/// One step of a scenario.
package struct ScenarioStep: Sendable {
    /// What is done.
    enum Action: Sendable {
        case command(ScenarioCommandForm)
        /// The provider's part is written anew in some places.
        case provider([ProviderScript.Change])
    }

    package var place: ScenarioPlace
    /// What it does, in a few words of the file.
    package var title: String
    var action: Action?
    var checks: [ScenarioCheck] = []
    /// How long, in real time, what is expected may take to come; nil: as the scenario's surroundings have it.
    var within: Duration?
    /// Under which name later steps find the answer.
    var capture: String?
}

/// A command as a step has it, before names and dates are known.
struct ScenarioCommandForm: Sendable {
    /// Something placed that is named by its kind, whose id is asked for.
    struct Placed: Sendable {
        /// `control` or `widget`.
        var family: String
        var kind: ScenarioTemplate
    }

    var op: String
    var fields: [ScenarioTemplate.Member]
    var placed: Placed?
}

/// What is expected after a step.
struct ScenarioCheck: Sendable {
    enum Expectation: Sendable {
        /// The answer to the step's command.
        case answer(ScenarioPattern)
        /// How an entity is now.
        case state(ScenarioSubject, ScenarioState)
        /// The events that came.
        case events([ScenarioEventPattern], ScenarioEventOrder)
        /// None of these came; empty: none at all.
        case noEvents([ScenarioEventPattern])
    }

    var place: ScenarioPlace
    var expectation: Expectation
}

/// An entity that is looked at.
struct ScenarioSubject: Sendable {
    /// `activity`, `control` or `widget`.
    var family: String
    /// An activity's key, the kind of something placed, or a `$name`.
    var name: ScenarioTemplate
    var app: ScenarioTemplate
    var device: ScenarioTemplate?
    /// As the file has it.
    var title: String
    /// Whether the file says that the name is a key, or that it is an id; nil: it may be either.
    var isKey: Bool?
}

/// How an entity is expected to be.
enum ScenarioState: Sendable {
    /// It is there, and has these.
    case members([ScenarioPattern.Member])
    /// There is none.
    case gone
}

/// How strict a list of events is.
enum ScenarioEventOrder: String, Sendable, CaseIterable {
    /// They came in this order; others may stand between them.
    case inOrder = "in order"
    /// They came, each once; others may have come too.
    case anyOrder = "any order"
    /// They came in this order, and nothing else did.
    case exactly
}

/// An event that is expected.
struct ScenarioEventPattern: Sendable {
    var name: String?
    /// An activity's key, a kind, or a `$name`.
    var subject: ScenarioTemplate?
    /// The other members.
    var members: ScenarioPattern
    var place: ScenarioPlace
    /// As the file has it.
    var title: String
}
