import ArgumentParser
import IsletClient

/// The app that a subcommand about a family is about.
struct FamilyApp<Family: CommandFamily>: ParsableArguments {
    @Option(
        name: .customLong("app"),
        help: ArgumentHelp(
            "The app (else ISLET_APP, else the context's, else \(Family.standardApp)).", valueName: "bundle id"),
        completion: .custom(Completions.apps))
    var named: String?

    var app: String { chosenApp(named) ?? Family.standardApp }
}

/// The app that is meant: the one that is named, by itself or by `--context`, else ISLET_APP's, else that of the context
/// in use; nil where nobody says one.
func chosenApp(_ named: String?) -> String? {
    named ?? ChosenContext.value(of: .app, orEnvironment: "ISLET_APP")
}

/// The app of activities, and of what belongs to no family.
typealias AppOption = FamilyApp<Activities>

/// The one entity that a subcommand is about.
protocol EntityTarget: ParsableArguments {
    associatedtype Family: CommandFamily

    /// What the person called it.
    var target: String { get }
    var device: String? { get }
    var app: FamilyApp<Family> { get }

    /// The command `<family>.<verb>` with the fields that address the entity.
    func command(_ verb: String, _ connection: IsletConnection) async throws -> Command

    /// Sends a command about it. Where there is no such entity, what may be meant is suggested.
    func send(_ command: Command, _ connection: IsletConnection) async throws -> Answer
}

extension EntityTarget {
    func send(_ command: Command, _ connection: IsletConnection) async throws -> Answer {
        try await connection.send(command)
    }
}
