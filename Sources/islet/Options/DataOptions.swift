import ArgumentParser
import IsletServer

/// Where a service's files are: for the subcommands that read them without asking a service.
struct DataOptions: ParsableArguments {
    @Option(
        name: .customLong("data"),
        help: ArgumentHelp(
            "The service's directory (else ISLET_DATA, else islet in the XDG state directory).", valueName: "dir"))
    var named: String?

    /// Whether somebody has named it.
    var isNamed: Bool { named != nil || environment("ISLET_DATA") != nil }

    var directory: String {
        named ?? environment("ISLET_DATA") ?? ServeConfiguration.defaultData(processEnvironment())
    }
}
