import IsletCore
import Testing

/// Thousands of random commands and spans of time over a few apps, devices and keys: the engine must do what the naive
/// service does, step by step, and say of itself what its events told.
@Suite("Engine: agreement with a naive service")
struct EngineModelTests {
    /// Fixed lives, and one that differs in every run.
    static let seeds: [UInt64] = [1, 2, .random(in: .min ... .max)]

    @Test("the same outcomes, events and states", arguments: ModelScenario.all, seeds)
    func agrees(scenario: ModelScenario, seed: UInt64) {
        let run = EngineModelRun(scenario, seed: seed)
        for step in 0..<scenario.steps {
            run.step()
            if let problem = run.problem {
                Issue.record("seed \(seed), \(scenario.name), step \(step): \(problem)\n\(run.doing)")
                return
            }
        }
        // The fixed lives must have been eventful, or they prove nothing.
        guard Self.seeds.prefix(2).contains(seed) else { return }
        for outcome in run.wanted where run.seen[outcome] == nil {
            Issue.record("seed \(seed), \(scenario.name): no '\(outcome)' ever came, of \(run.seen)")
        }
    }
}
