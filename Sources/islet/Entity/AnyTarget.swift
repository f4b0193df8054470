import ArgumentParser
import IsletClient
import IsletServer

/// An entity of any family, for subcommands that do not say which.
struct AnyTarget: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "An activity's key or id; a control or widget as lists show it: its kind, its id or the end of it.",
            valueName: "key or id"),
        completion: .custom(Completions.anything))
    var target: String

    @Option(
        help: ArgumentHelp("The device that it is on.", valueName: "device"),
        completion: .custom(Completions.devices))
    var device: String?

    @Option(
        help: ArgumentHelp("Only look among these: activity, control or widget.", valueName: "family"),
        completion: .list(["activity", "control", "widget"]))
    var family: String?

    @Option(
        help: ArgumentHelp(
            "The app (else ISLET_APP, else the context's; else it is looked for in all).",
            valueName: "bundle id"),
        completion: .custom(Completions.apps))
    var app: String?

    private static let families: [any CommandFamily.Type] = [Activities.self, Controls.self, Widgets.self]

    /// The families to look among.
    private var asked: [any CommandFamily.Type] {
        Self.families.filter { family == nil || $0.noun == family }
    }

    func validate() throws {
        if let only = asked.first, asked.count == 1 {
            try EntityText.checkAddress(target, device: device, of: only)
        }
        guard asked.isEmpty else { return }
        throw ValidationError("--family is one of \(Self.families.map { $0.noun }.joined(separator: ", "))")
    }

    /// Looks for it: in all apps, where none is chosen; else first among activities, then among controls, then among widgets.
    ///
    /// - Throws: a `Failure` where nothing is called so, or several are.
    func find(_ connection: IsletConnection) async throws -> FoundEntity {
        if chosenApp(app) == nil,
            let found = try await AnyApp.find(target, family: family, device: device, connection),
            let family = Self.families.first(where: { $0.noun == found.family }),
            let whole = EntityText.entity(try await connection.send(found.command("get")))
        {
            return FoundEntity(family: family, app: found.app, target: target, whole: whole)
        }
        let apps = try await apps(connection)
        let isID = EntityText.isID(target)
        for (family, app) in apps {
            // An id takes no device: what has its form is a key on one.
            let isKey = family == Activities.self && (!isID || device != nil)
            let whole =
                if isKey { try await activity(app: app, connection) } else {
                    try await entity(family, app: app, connection)
                }
            if let whole { return FoundEntity(family: family, app: app, target: target, whole: whole) }
        }
        // A key may have the form of an id, which is looked for first.
        if isID, device == nil, let (family, app) = apps.first(where: { $0.family == Activities.self }),
            let whole = try await activity(app: app, connection)
        {
            return FoundEntity(family: family, app: app, target: target, whole: whole)
        }
        let nouns = asked.map { $0.noun }.joined(separator: ", ")
        var names: [String] = []
        for (_, app) in apps where !names.contains(app) { names.append(app) }
        let place = " in \(names.joined(separator: " or "))"
        let advice = chosenApp(app) == nil ? "; name another app by --app" : ""
        var hint = ""
        if let app = apps.first(where: { $0.family == Activities.self })?.app {
            hint = await ActivityTarget.suggestion(for: target, app: app, device: device, connection)
        }
        throw Failure(
            .notFound,
            "nothing is called '\(target)'\(place)\(hint)\(advice) (looked for: \(nouns)) (notFound)")
    }

    /// The families to look among, each in its app: the one that is named, else the one that the demo has of it.
    private func apps(
        _ connection: IsletConnection
    ) async throws -> [(family: any CommandFamily.Type, app: String)] {
        if let app = chosenApp(app) { return asked.map { ($0, app) } }
        let demo = try await DemoApps(connection)
        return try asked.map { family in
            guard let app = demo[family] else { throw DemoApps.none }
            return (family, app)
        }
    }

    /// The activity whose key it is; nil where there is none.
    private func activity(app: String, _ connection: IsletConnection) async throws -> RawObject? {
        var command = Command("activity.get", app: app, ["key": .string(target)])
        command["device"] = device.map(RawJSON.string)
        do throws(IsletError) {
            return EntityText.entity(try await connection.send(command))
        } catch {
            // What can be no key, such as Torch/27e5fe81cfb1, may still be the name of something placed.
            if error.code == .badField, asked.count > 1 { return nil }
            guard error.code == .notFound else { throw error }
        }
        guard device == nil else { return nil }
        // What changes nothing may be asked of the only one that has the key, whichever device it is on.
        let others = await ActivityTarget.onDevices(target, app: app, connection)
        guard others.count <= 1 else { throw ActivityTarget.ambiguous(target, others) }
        return others.first
    }

    /// What has the id or, of what is placed, the name; nil where nothing has.
    private func entity(
        _ family: any CommandFamily.Type, app: String, _ connection: IsletConnection
    ) async throws -> RawObject? {
        guard device == nil || !EntityText.isID(target) else { return nil }
        do {
            let id =
                if family == Controls.self {
                    try await PlacedName<Controls>(target, device: device, app: app).id(connection)
                } else if family == Widgets.self {
                    try await PlacedName<Widgets>(target, device: device, app: app).id(connection)
                } else {
                    target.lowercased()
                }
            let get = Command("\(family.noun).get", app: app, ["id": .string(id)])
            return EntityText.entity(try await connection.send(get))
        } catch let error as IsletError where error.code == .notFound {
            return nil
        } catch let failure as Failure where failure.code == .notFound {
            return nil
        }
    }
}

/// An entity that a person has named.
struct FoundEntity: Sendable {
    let family: any CommandFamily.Type
    let app: String
    /// What the person called it.
    let target: String
    /// As it was when it was found.
    let whole: RawObject

    var id: String { whole["id"]?.string ?? "" }

    /// Where its events are.
    var topic: String {
        "\(app)/\(family.noun)/\((whole["type"] ?? whole["kind"])?.string ?? "")/\(id)"
    }

    /// The command `<family>.<verb>` about it.
    func command(_ verb: String) -> Command {
        Command("\(family.noun).\(verb)", app: app, ["id": .string(id)])
    }
}
