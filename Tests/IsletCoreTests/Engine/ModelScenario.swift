import IsletCore
import Testing

/// Rules under which the engine and the naive service live the same random life.
struct ModelScenario: CustomTestStringConvertible {
    var name: String
    var rules: NaiveRules
    /// As with the manual clock: deadlines are dated by themselves, and no command comes while some are due.
    var datesByDue = false
    /// How many commands and spans of time a life has.
    var steps = 3_000
    var testDescription: String { name }

    init(_ name: String, datesByDue: Bool = false, _ change: (inout NaiveRules) -> Void = { _ in }) {
        self.name = name
        self.datesByDue = datesByDue
        rules = NaiveRules()
        change(&rules)
    }

    static let all = [
        ModelScenario("the defaults"),
        ModelScenario("the manual clock", datesByDue: true),
        ModelScenario("heartbeats") {
            $0.staleAfter = 1_500
            $0.endAfter = 4_000
        },
        ModelScenario("heartbeats on the manual clock, the end first", datesByDue: true) {
            $0.staleAfter = 2_000
            $0.endAfter = 2_000
        },
        ModelScenario("muted keys, strict pushes, ended ones count") {
            $0.mute = 5_000
            $0.pushEndAcceptsOlder = false
            $0.endedCount = true
        },
        ModelScenario("unchanged updates count, short retention, a low ceiling") {
            $0.ignoresUnchanged = false
            $0.retention = 500
            $0.maximumRetained = 7
            $0.maximumEntities = 12
        },
        ModelScenario("no retention on the manual clock", datesByDue: true) { $0.retention = 0 },
    ]

    /// The same rules for the engine.
    var ruleSet: RuleSet {
        var set = RuleSet(name: "model", date: "2026-01-01")
        set.contentLimit = rules.contentLimit
        set.activeLimit = rules.activeLimit
        set.dismissalLimit = rules.dismissalLimit
        set.maximumPerApp = rules.maximumPerApp
        set.maximumPerDevice = rules.maximumPerDevice
        set.endedCountTowardMaxima = rules.endedCount
        set.futureTimestampLimit = rules.future
        set.pushEndAcceptsOlderTimestamp = rules.pushEndAcceptsOlder
        set.ignoresUnchangedUpdates = rules.ignoresUnchanged
        set.muteAfterPersonDismissal = rules.mute
        set.heartbeatStaleAfter = rules.staleAfter
        set.heartbeatEndAfter = rules.endAfter
        set.retention = rules.retention
        set.maximumRetained = rules.maximumRetained
        set.maximumEntities = rules.maximumEntities
        return set
    }
}
