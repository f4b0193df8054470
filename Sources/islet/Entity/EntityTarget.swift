import ArgumentParser
import IsletClient

/// The app that a subcommand about a family is about.
struct FamilyApp<Family: CommandFamily>: ParsableArguments {
    @Option(
        name: .customLong("app"),
        help: ArgumentHelp(
            "The app (else ISLET_APP, else the context's; else reads look in all, and changes take the demo's).",
            valueName: "bundle id"),
        completion: .custom(Completions.apps))
    var named: String?

    /// The app that is meant.
    ///
    /// - Throws: a `Failure` where nobody says one.
    func required(_ connection: IsletConnection) async throws -> String {
        if let app = chosenApp(named) { return app }
        guard let app = try await DemoApps(connection)[Family.self] else { throw DemoApps.none }
        return app
    }
}

/// The app that is meant: the one that is named, by itself or by `--context`, else ISLET_APP's, else that of the context
/// in use; nil where nobody says one.
func chosenApp(_ named: String?) -> String? {
    named ?? ChosenContext.value(of: .app, orEnvironment: "ISLET_APP")
}

/// The apps that the service has of itself: those of the demo, where that is played. Elsewhere there is none, and
/// nothing is changed or looked for in an app that nobody has named.
struct DemoApps {
    private let apps: RawObject

    init(_ connection: IsletConnection) async throws {
        apps = try await connection.send(Command("service.info"))["info"]?.object?["demo"]?.object ?? [:]
    }

    /// The app of a family; nil: there is no demo.
    subscript(family: any CommandFamily.Type) -> String? { apps[family.noun]?.string }

    /// What is said where nobody names one.
    static var none: Failure {
        Failure(
            .usage,
            "name the app: --app com.example.pizza (or ISLET_APP, or one of a context: islet context add --app); "
                + "`\(Invocation.name) apps` shows which there are")
    }
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
