import ArgumentParser
import IsletClient

/// The activity that a subcommand is about.
struct ActivityTarget: EntityTarget {
    typealias Family = Activities

    @Argument(
        help: ArgumentHelp("The activity's key, or its id (a UUID).", valueName: "key or id"),
        completion: .custom(Completions.names(of: Activities.self)))
    var target: String

    @Option(
        help: ArgumentHelp("The device whose activity has the key.", valueName: "device"),
        completion: .custom(Completions.devices))
    var device: String?

    @OptionGroup var app: AppOption

    /// The command with the fields that address the activity.
    func command(_ op: String) -> Command {
        var command = Command(op, app: app.app)
        if EntityText.isID(target) {
            command["id"] = .string(target)
        } else {
            command["key"] = .string(target)
            command["device"] = device.map(RawJSON.string)
        }
        return command
    }

    func command(_ verb: String, _ connection: IsletConnection) -> Command {
        command("activity.\(verb)")
    }

    func send(_ command: Command, _ connection: IsletConnection) async throws -> Answer {
        do throws(IsletError) {
            return try await connection.send(command)
        } catch {
            guard error.code == .notFound else { throw error }
            let hint = await Self.suggestion(for: target, app: app.app, connection)
            let place = app.app + (device.map { " on \($0)" } ?? "")
            throw Failure(.notFound, "\(place) has no activity '\(target)'\(hint) (notFound)")
        }
    }

    /// How many activities a misspelt name is compared with.
    private static let comparedMax = 1_000

    /// Such as `; did you mean order-7?`, of a page of the app's activities; empty where none is close.
    static func suggestion(for name: String, app: String, _ connection: IsletConnection) async -> String {
        let list = Command("activity.list", app: app, ["limit": .integer(comparedMax)])
        let rows = (try? await connection.send(list))?["activities"]?.elements ?? []
        return Suggestion.text(for: name, among: rows.compactMap(\.object).map(ActivityText.name))
    }
}
