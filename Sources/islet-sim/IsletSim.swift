import IsletSimulation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `islet-sim`: the deterministic simulator, for many seeds or for one that is told step by step.
@main
struct IsletSim {
    private static let usage = """
        usage: islet-sim [--seeds N] [--first SEED] [--steps N] [--failures N] [--once] [--names] [--unshrunk] [--json]
               islet-sim --seed S [--steps N | --script STEPS] --verbose
        """

    static func main() {
        var options = Options()
        guard options.read(CommandLine.arguments.dropFirst()) else {
            complain(usage)
            exit(64)
        }
        exit(options.isVerbose ? tell(options) : run(options))
    }

    private static func tell(_ options: Options) -> Int32 {
        switch Campaign.tell(seed: options.first, steps: options.steps, script: options.script, to: { print($0) }) {
        case .passed(let tally):
            print(tally)
            return 0
        case .failed(let step, let message):
            print("seed \(options.first), step \(step): \(message)")
            return 1
        }
    }

    private static func run(_ options: Options) -> Int32 {
        var campaign = Campaign(first: options.first, seeds: options.seeds, steps: options.steps)
        campaign.runsTwice = !options.isOnce
        campaign.shrinks = !options.isUnshrunk
        let clock = ContinuousClock()
        let start = clock.now
        let report = campaign.run(maximumFailures: options.failures) { seed in
            // A trap of the service ends this process: its seed stands in the last line then.
            if options.isChatty { complain("seed \(seed)") }
        }
        let seconds = Double((clock.now - start) / .milliseconds(1)) / 1_000
        for failure in report.failures { tell(failure, options) }
        Figures(report, seconds: seconds, runs: options.isOnce ? 1 : 2).write(asJSON: options.isJSON)
        return report.failures.isEmpty ? 0 : 1
    }

    private static func tell(_ failure: Campaign.Failure, _ options: Options) {
        complain("seed \(failure.seed), step \(failure.step): \(failure.message)")
        complain("  again: swift run -c release islet-sim --seed \(failure.seed) --steps \(options.steps) --verbose")
        let script = failure.shortest.joined(separator: ";")
        complain(
            "  the shortest script, \(failure.shortest.count) steps: --seed \(failure.seed) --script \"\(script)\"")
        complain("  fails with: \(failure.shortestMessage)")
    }
}

func complain(_ message: String) {
    var line = message + "\n"
    _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
