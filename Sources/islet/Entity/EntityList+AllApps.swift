import ArgumentParser
import IsletClient
import IsletFilter

/// Whether a list is of all apps.
struct AllAppsOption: ParsableArguments {
    @Flag(name: .customLong("all"), help: "Of all apps that there are, one after another, as where no app is named.")
    var isSet = false
}

extension EntityList {
    /// As `write`, of all apps: a table for each that has any.
    ///
    /// - Parameters:
    ///   - list: the command for one app, without the app.
    ///   - told: what is said of the fields that select rows.
    func writeAll(_ list: Command, told: String, _ connection: IsletConnection) async throws {
        let now = try await connection.now()
        var count = AllAppsCount()
        for app in try await knownApps(connection) {
            var command = list
            command["app"] = .string(app)
            // Where enough is shown, the others are only counted.
            let left = limit.limit - count.shown
            var rows: [RawObject]
            if let filter {
                let selection = try await Pages.rows(
                    command, Family.plural, limit: left, fitting: filter, now: now, connection)
                rows = selection.rows
                count.add(Int64(selection.matching), isExact: !selection.isCut)
            } else {
                let page = try await Pages.rows(command, Family.plural, limit: max(1, left), connection)
                rows = Array(page.rows.prefix(left))
                count.add(page.total ?? Int64(rows.count), isExact: page.isExact)
            }
            if rows.isEmpty { continue }
            if !output.json, !output.isNames {
                if count.shown > 0 { Console.data("") }
                Console.data(Style.output.bold(app))
            }
            try await RowOutput.write(rows, output, name: Self.addressAndApp) { isWide in
                Family.table(rows, isWide: isWide, now: now, style: .output)
            }
            count.shown += rows.count
        }
        let fit = filter == nil ? "" : " that fit"
        let apps = "\(count.apps) app\(count.apps == 1 ? "" : "s")"
        let line = ShownCount.line(count.shown, of: count.total, isExact: count.isExact)
        Console.message("\(line)\(fit), in \(apps)\(told)")
    }

    /// The apps that there are. The stream tells them: whoever reaches commands alone has to name one.
    private func knownApps(_ connection: IsletConnection) async throws -> [String] {
        do {
            return try await KnownApps.all(connection, timeout: service.timeout.duration).map(\.app)
        } catch let failure as Failure where failure.code == .unreachable {
            throw Failure(failure.code, "\(failure.text), so which apps there are is not known: name one with --app")
        }
    }
}

/// What a list of all apps has come to.
private struct AllAppsCount {
    var shown = 0
    private(set) var total: Int64 = 0
    /// The apps that have any.
    private(set) var apps = 0
    private(set) var isExact = true

    /// Counts an app's.
    mutating func add(_ count: Int64, isExact: Bool) {
        total = total.addingClamped(count)
        if count > 0 { apps += 1 }
        self.isExact = self.isExact && isExact
    }
}
