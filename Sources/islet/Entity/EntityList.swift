import ArgumentParser
import IsletClient

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
    let limit: LimitOption
    let output: OutputOptions
    let service: ServiceOptions

    /// Asks for the rows and writes them, and says how many there are of which.
    ///
    /// - Parameters:
    ///   - filters: fields that select rows, and are told.
    ///   - fields: fields that are not.
    func write(_ filters: KeyValuePairs<String, String?>, fields: RawObject = [:]) async throws {
        var command = Command("\(Family.noun).list", app: app.app, fields)
        for (name, value) in filters { command[name] = value.map(RawJSON.string) }
        try await service.withConnection { connection in
            let (rows, total) = try await Pages.rows(command, Family.plural, limit: limit.limit, connection)
            if output.json {
                for row in rows { Console.data(row.json.bytes) }
            } else if !rows.isEmpty {
                let now = try await connection.now()
                for line in Family.table(rows, now: now, style: .output) { Console.data(line) }
            }
            let told = filters.compactMap { name, value in value.map { "\(name) \($0)" } }
            let filter = told.isEmpty ? "" : ", with " + told.joined(separator: ", ")
            Console.message("showing \(rows.count) of \(total) in \(app.app)\(filter)")
        }
    }
}
