import ArgumentParser

/// `islet scenario …`: tests of one's own flows.
struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Test one's own flows, step by step.",
        discussion: """
            EXAMPLES:
              islet scenario run order.yaml
              islet scenario run scenarios/ --junit report.xml
              islet scenario check order.yaml

            No device, no service and no waiting are needed: each scenario plays against
            a service of its own in this process, whose clock it moves.
            """,
        subcommands: [ScenarioRun.self, ScenarioCheckFiles.self])
}
