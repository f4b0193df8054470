import ArgumentParser
import IsletClient

/// The app that a subcommand about a family is about.
struct FamilyApp<Family: CommandFamily>: ParsableArguments {
    @Option(
        name: .customLong("app"),
        help: ArgumentHelp("The app (else ISLET_APP, else \(Family.standardApp)).", valueName: "bundle id"))
    var named: String?

    var app: String { named ?? environment("ISLET_APP") ?? Family.standardApp }
}

/// The app of activities, and of what belongs to no family.
typealias AppOption = FamilyApp<Activities>

/// The one entity that a subcommand is about.
protocol EntityTarget: ParsableArguments {
    associatedtype Family: CommandFamily

    /// What the person called it.
    var target: String { get }

    /// The command `<family>.<verb>` with the fields that address the entity.
    func command(_ verb: String, _ connection: IsletConnection) async throws -> Command
}
