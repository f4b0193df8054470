import IsletSimulation

/// A campaign's figures, for people or for programs.
struct Figures {
    private let report: Campaign.Report
    private let seconds: Double
    private let runs: Int

    init(_ report: Campaign.Report, seconds: Double, runs: Int) {
        self.report = report
        self.seconds = seconds
        self.runs = runs
    }

    private var years: Double { Double(report.total.simulatedMilliseconds) / (365.25 * 86_400_000) }
    private var events: [(key: String, value: Int)] { report.total.events.sorted { $0.key < $1.key } }
    private var rate: Int { Int(Double(report.total.steps * runs) / max(seconds, 0.001)) }

    func write(asJSON: Bool) {
        let rounded = (years * 1_000).rounded() / 1_000
        if asJSON {
            let counts = report.total.figures.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",")
            let events = self.events.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
            print(
                "{\"seeds\":\(report.seeds),\"failures\":\(report.failures.count),\"years\":\(rounded),\(counts),\"events\":{\(events)},"
                    + "\"stepsPerSecond\":\(rate),\"hash\":\"\(String(report.total.hash, radix: 16))\"}")
            return
        }
        print("\(report.seeds) seeds, \(report.failures.count) failures, \(rounded) simulated years")
        for (name, value) in report.total.figures { print("  \(name): \(value)") }
        for (name, value) in events { print("  \(name): \(value)") }
        print("  steps/s: \(rate)")
        print("  hash: \(String(report.total.hash, radix: 16))")
    }
}
