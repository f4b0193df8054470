/// One seed's run.
package enum Run {
    package enum Outcome: Sendable {
        case passed(Tally)
        /// The step at which it failed, and why.
        case failed(step: Int, message: String)
    }

    /// - Parameter log: told of every step and message, where somebody wants to read them.
    static func run(_ script: Script, log: ((String) -> Void)? = nil) -> Outcome {
        let simulation: Simulation
        do {
            simulation = try Simulation(script)
        } catch {
            return .failed(step: 0, message: "it does not start: \(error)")
        }
        simulation.log = log
        for (index, step) in script.steps.enumerated() {
            log?("step \(index): \(step)")
            do {
                try simulation.take(step)
            } catch {
                return .failed(step: index, message: "\(error)")
            }
        }
        do {
            try simulation.verify()
        } catch {
            return .failed(step: script.steps.count, message: "at the end: \(error)")
        }
        return .passed(simulation.tally)
    }

    /// Runs a seed twice: both runs must be the same.
    package static func twice(seed: UInt64, steps: Int) -> Outcome {
        let script = Script(seed: seed, steps: steps)
        let first = run(script)
        guard case .passed(let tally) = first else { return first }
        let second = run(script)
        guard case .passed(let again) = second else { return second }
        guard tally == again else {
            return .failed(step: steps, message: "the second run has another hash: \(tally) \(again)")
        }
        return first
    }
}
