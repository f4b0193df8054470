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

/// The list of a family's entities in one app.
struct EntityList<Family: CommandFamily> {
    let app: FamilyApp<Family>
    let allApps: AllAppsOption
    let limit: LimitOption
    let filter: Filter?
    let output: OutputOptions
    let service: ServiceOptions

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
        try await service.withConnection(asked == nil ? .joins : .nothing) { [command] connection in
            guard let asked else { return try await writeAll(command, told: with, connection) }
            if let filter {
                let now = filter.needsNow ? try await connection.now() : 0
                let selection = try await Pages.rows(
                    command, Family.plural, limit: limit.limit, fitting: filter, now: now, connection)
                try await write(selection.rows, connection)
                Console.message("\(selection.line) in \(asked)\(with)")
            } else {
                let (rows, total, isExact) = try await Pages.rows(
                    command, Family.plural, limit: limit.limit, connection)
                try await write(rows, connection)
                Console.message(ShownCount.line(rows.count, of: total, isExact: isExact) + " in \(asked)\(with)")
            }
        }
    }

    /// What the service would refuse is said before it is asked, with what there is.
    private static func check(state: String?) throws {
        guard let state, let states = Family.filterSubject.words(of: "state"), !states.contains(state) else { return }
        let hint = Suggestion.text(for: state, among: states)
        throw Failure(
            .usage, "--state is one of \(states.joined(separator: ", ")), and not '\(state.printable)'\(hint)")
    }

    private func write(_ rows: [RawObject], _ connection: IsletConnection) async throws {
        try await RowOutput.write(rows, output, name: Family.address) { isWide in
            Family.table(rows, isWide: isWide, now: try await connection.now(), style: .output)
        }
    }
}
