import ArgumentParser
import IsletClient
import IsletServer

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

    /// The command with the fields that address the activity in its app, which `send` adds. What has the form of an id
    /// is one, unless `send` finds none; an id takes no device.
    func command(_ op: String) -> Command {
        var command = Command(op)
        if device == nil, EntityText.isID(target) {
            command["id"] = .string(target)
        } else {
            command["key"] = .string(target)
            command["device"] = device.map(RawJSON.string)
        }
        return command
    }

    func command(_ verb: String, _ connection: IsletConnection) async throws -> Command {
        var command = command("activity.\(verb)")
        if !command.isChange, chosenApp(app.named) == nil,
            let found = try await AnyApp.find(target, family: Family.noun, device: device, connection)
        {
            return found.command(verb)
        }
        command["app"] = .string(try await app.required(connection))
        return command
    }

    func send(_ command: Command, _ connection: IsletConnection) async throws -> Answer {
        let app: String =
            if let app = command["app"]?.string { app } else { try await self.app.required(connection) }
        var command = command
        command["app"] = .string(app)
        do throws(IsletError) {
            return try await connection.send(command)
        } catch {
            guard error.code == .notFound else { throw error }
            if EntityText.isID(target), command["id"]?.string == target {
                // No id, so that it was not executed: many shops have keys of that form.
                command["id"] = nil
                command["key"] = .string(target)
                return try await send(command, connection)
            }
            let others = device == nil ? await Self.onDevices(target, app: app, connection) : []
            // What changes nothing may be asked of the only one that has the key, whichever device it is on.
            if others.count == 1, let id = others.first?["id"], !command.isChange {
                return try await connection.send(Command(command.op, app: app, ["id": id]))
            }
            guard others.isEmpty else { throw Self.ambiguous(target, others) }
            let hint = await Self.suggestion(for: target, app: app, device: device, connection)
            let place = app + (device.map { " on \($0)" } ?? "")
            throw Failure(.notFound, "\(place) has no activity '\(target)'\(hint) (notFound)")
        }
    }

    /// How many devices are named.
    private static let devicesMax = 5

    /// What is said where several devices have the key.
    static func ambiguous(_ target: String, _ others: [RawObject]) -> Failure {
        let devices = others.compactMap { $0["device"]?.string }
        let named = devices.prefix(devicesMax).joined(separator: ", ")
        let more = devices.count > devicesMax ? " …" : ""
        return Failure(.notFound, "'\(target)' is on \(named)\(more): say so with --device (notFound)")
    }

    /// The activities that have the key on any device: the listed ones, or where there are none, of those that were
    /// dismissed and are still readable the newest of each device.
    static func onDevices(_ target: String, app: String, _ connection: IsletConnection) async -> [RawObject] {
        var list = Command("activity.list", app: app, ["key": .string(target)])
        let listed = await onDevices(target, list, connection)
        guard listed.isEmpty else { return listed }
        list["state"] = .string("dismissed")
        let newestFirst = await onDevices(target, list, connection).sorted {
            // What was never shown has no start, but its id has its time.
            let (one, other) = ($0["startedAt"]?.integer ?? 0, $1["startedAt"]?.integer ?? 0)
            return one == other ? $0["id"]?.string ?? "" > $1["id"]?.string ?? "" : one > other
        }
        var devices: Set<String> = []
        return newestFirst.filter { devices.insert($0["device"]?.string ?? "").inserted }
    }

    private static func onDevices(
        _ target: String, _ list: Command, _ connection: IsletConnection
    ) async -> [RawObject] {
        var rows: [RawObject] = []
        // The list is of keys that begin so.
        let isWhole = try? await Pages.forEach(list, Activities.plural, connection, timeout: patience) {
            rows = []
        } _: { row in
            if row["key"]?.string == target, row["device"] != nil { rows.append(row) }
        }
        return isWhole == true ? rows : []
    }

    /// How long a question for what may be meant may take.
    private static let patience = Duration.seconds(1)
    /// How many activities a misspelt name is compared with.
    private static let comparedMax = 1_000

    /// Such as `; did you mean order-7 on phone?`, of a page of the app's activities; empty where none is close. The
    /// device is told where it is not the one that was named; those on that one come first. Of an id beside a device it
    /// is told that it takes none.
    static func suggestion(
        for name: String, app: String, device: String?, _ connection: IsletConnection
    ) async -> String {
        let list = Command("activity.list", app: app, ["limit": .integer(comparedMax)])
        let answer = try? await connection.send(list, timeout: Self.patience)
        // What is called so, and was not found all the same, is on another device or came just now.
        let rows = (answer?["activities"]?.elements ?? []).compactMap(\.object).filter { row in
            ActivityText.name(row) != name || row["key"] != nil && row["device"]?.string != device
        }
        let here = rows.filter { $0["device"]?.string == device }
        let hint = Suggestion.text(for: name, among: here.map(ActivityText.name))
        guard hint.isEmpty else { return hint }
        guard let meant = Spelling.closest(to: name, among: rows.map(ActivityText.name)) else {
            return device != nil && EntityText.isID(name) ? "; \(EntityText.idTakesNoDevice)" : ""
        }
        let place = rows.first { ActivityText.name($0) == meant }?["device"]?.string
        return "; did you mean \(meant)\(place.map { " on \($0.printable)" } ?? "")?"
    }
}
