/// Many seeds, one after another.
package struct Campaign: Sendable {
    package var first: UInt64
    package var seeds: Int
    package var steps: Int
    /// Whether each seed runs twice, to see that it is the same each time.
    package var runsTwice = true
    /// Whether the script of a seed that failed is made shorter, which takes hundreds of runs.
    package var shrinks = true

    package init(first: UInt64, seeds: Int, steps: Int) {
        self.first = first
        self.seeds = seeds
        self.steps = steps
    }

    /// A seed that failed.
    package struct Failure: Sendable {
        package var seed: UInt64
        package var step: Int
        package var message: String
        /// The shortest script that was found, and how that fails.
        package var shortest: [String]
        package var shortestMessage: String
    }

    package struct Report: Sendable {
        package var seeds = 0
        package var total = Tally()
        package var failures: [Failure] = []
    }

    /// - Parameters:
    ///   - maximumFailures: after as many it ends.
    ///   - begins: told of each seed before it runs.
    package func run(maximumFailures: Int = 1, begins: (UInt64) -> Void = { _ in }) -> Report {
        var report = Report()
        for offset in 0..<UInt64(seeds) {
            let seed = first + offset
            begins(seed)
            report.seeds += 1
            let outcome =
                runsTwice ? Run.twice(seed: seed, steps: steps) : Run.run(Script(seed: seed, steps: steps))
            switch outcome {
            case .passed(let tally): report.total.add(tally)
            case .failed(let step, let message):
                let script = Script(seed: seed, steps: steps)
                let (shortest, why) = shrinks ? Shrinker.shrink(script, failingAt: step) : (script, message)
                report.failures.append(
                    Failure(
                        seed: seed, step: step, message: message, shortest: shortest.steps.map(\.description),
                        shortestMessage: why))
                if report.failures.count >= maximumFailures { return report }
            }
        }
        return report
    }

    /// One seed, told step by step.
    ///
    /// - Parameter script: its steps as a failure prints them; nil for those that the seed makes.
    package static func tell(
        seed: UInt64, steps: Int, script text: String? = nil, to log: @escaping (String) -> Void
    ) -> Run.Outcome {
        var script = Script(seed: seed, steps: steps)
        if let text { script.steps = text.split(separator: ";").compactMap { Step(String($0)) } }
        return Run.run(script, log: log)
    }
}
