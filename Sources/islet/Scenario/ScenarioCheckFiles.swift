import ArgumentParser

/// `islet scenario check`.
struct ScenarioCheckFiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Only read files of scenarios, and say what is wrong in them.",
        discussion: """
            EXAMPLES:
              islet scenario check order.yaml
              islet scenario check scenarios/

            Names each scenario with its file and line. Exit code 2 where a file is wrong.
            """)

    @OptionGroup var files: ScenarioFiles

    func run() async throws {
        for scenario in try await files.read() {
            let steps = "\(scenario.steps.count) step\(scenario.steps.count == 1 ? "" : "s")"
            Console.data("\(scenario.path):\(scenario.place.line): \(scenario.name.printable) (\(steps))")
        }
    }
}
