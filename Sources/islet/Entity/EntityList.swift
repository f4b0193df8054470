import ArgumentParser
import IsletClient
import IsletFilter

/// How many rows of a list are shown.
struct LimitOption: ParsableArguments {
    @Option(help: ArgumentHelp("How many at most.", valueName: "number"))
    var limit = 50

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
    }
}

/// The list of a family's entities in one app, or in all.
struct EntityList<Family: CommandFamily> {
    let app: FamilyApp<Family>
    let allApps: AllAppsOption
    let limit: LimitOption
    let filter: Filter?
    let output: OutputOptions
    let service: ServiceOptions
    /// Whether the service gives the rows of all apps as one list where no app is named, as a device shows them.
    var isOneOfAllApps = false

    /// Asks for the rows and writes them, and says how many there are of which.
    ///
    /// - Parameters:
    ///   - filters: fields that select rows, and are told.
    ///   - fields: fields that are not.
    func write(_ filters: KeyValuePairs<String, String?>, fields: RawObject = [:]) async throws {
        // Of all where nobody names one.
        let asked = allApps.isSet ? nil : chosenApp(app.named)
        var command = Command("\(Family.noun).list", app: asked, fields)
        for (name, value) in filters { command[name] = value.map(RawJSON.string) }
        let with = ShownCount.told(filters)
        try Self.check(state: command["state"]?.string)
        guard !allApps.isSet || app.named == nil else {
            throw Failure(.usage, "name --app or --all, not both")
        }
        let isApart = asked == nil && !isOneOfAllApps
        try await service.withConnection(isApart ? .joins : .nothing) { [command] connection in
            guard !isApart else { return try await writeAll(command, told: with, connection) }
            let (rows, line) = try await rows(command, connection)
            try await write(rows, hasApps: asked == nil, connection)
            let place = asked.map { " in \($0)" } ?? ""
            Console.message("\(line)\(place)\(with)")
        }
    }

    /// The rows of one list, and how many there are of which.
    private func rows(
        _ command: Command, _ connection: IsletConnection
    ) async throws -> (rows: [RawObject], line: String) {
        guard let filter else {
            let (rows, total, isExact) = try await Pages.rows(
                command, Family.plural, limit: limit.limit, connection)
            return (rows, ShownCount.line(rows.count, of: total, isExact: isExact))
        }
        let now = filter.needsNow ? try await connection.now() : 0
        let selection = try await Pages.rows(
            command, Family.plural, limit: limit.limit, fitting: filter, now: now, connection)
        return (selection.rows, selection.line)
    }

    /// What the service would refuse is said before it is asked, with what there is.
    private static func check(state: String?) throws {
        guard let state, let states = Family.filterSubject.words(of: "state"), !states.contains(state) else { return }
        let hint = Suggestion.text(for: state, among: states)
        throw Failure(
            .usage, "--state is one of \(states.joined(separator: ", ")), and not '\(state.printable)'\(hint)")
    }

    /// - Parameter hasApps: whether they may be of several apps, so that a name alone does not say which is meant.
    private func write(_ rows: [RawObject], hasApps: Bool, _ connection: IsletConnection) async throws {
        let name = hasApps ? Self.addressAndApp : Family.address
        let apps = hasApps ? Set(rows.compactMap { $0["app"]?.string }) : []
        // Of several apps the table has a column, as where each has a table of its own it has a head.
        if apps.count == 1, let app = apps.first, !output.json, !output.isNames {
            Console.data(Style.output.bold(app))
        }
        try await RowOutput.write(rows, output, name: name) { isWide in
            Family.table(rows, isWide: isWide, now: try await connection.now(), style: .output)
        }
    }

    /// What names a row alone to other subcommands, whichever app it is of.
    static func addressAndApp(_ row: RawObject) -> String {
        Family.address(row) + (row["app"]?.string.map { " --app \($0)" } ?? "")
    }
}
