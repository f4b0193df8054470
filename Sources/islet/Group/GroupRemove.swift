import ArgumentParser
import IsletClient

extension GroupCommand {
    /// `islet group remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a group that has no keys, or with its keys.",
            discussion: """
                EXAMPLES:
                  islet group remove group.com.example
                  islet group remove group.com.example --with-keys

                Only the app that made the group can remove it. Each key that --with-keys
                deletes is an event on that app's stream; the end of the group is none.
                """)

        @OptionGroup var target: GroupTarget

        @Flag(help: "Delete its keys first.")
        var withKeys = false

        @OptionGroup var consent: ConsentOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        /// How often it is tried to remove a group in which others set keys meanwhile.
        private static let triesMax = 4
        /// How many keys are deleted by one message.
        private static let partMax = 64

        func run() async throws {
            try await service.withConnection { connection in
                let app = try await target.app.required(connection)
                if withKeys {
                    let keys = try await target.send(target.command("group.info"), connection)["group"]?.object?["keys"]
                    if let count = keys?.integer, count > 0 {
                        let counted = "\(RecoveryText.grouped(Int(count))) \(count == 1 ? "key" : "keys")"
                        try consent.require("remove \(target.group) of \(app) with its \(counted)")
                    }
                }
                let answer = try await remove(app, connection)
                try await Report.change(
                    answer, done: "removed", name: target.group, output: output, now: connection.now)
            }
        }

        private func remove(_ app: String, _ connection: IsletConnection) async throws -> Answer {
            var tries = 0
            while true {
                tries += 1
                do throws(IsletError) {
                    return try await connection.send(Self.command("group.remove", target.group, app))
                } catch {
                    guard case .refused(let refusal) = error, refusal.code == .conflict else { throw error }
                    guard withKeys else {
                        throw Failure(
                            .conflict,
                            "\(refusal.message.printable): --with-keys deletes them, too; nothing was changed")
                    }
                    guard tries < Self.triesMax else {
                        throw Failure(.conflict, "\(target.group) gets new keys all the time, and was not removed")
                    }
                }
                try await deleteKeys(app, connection)
            }
        }

        private func deleteKeys(_ app: String, _ connection: IsletConnection) async throws {
            let list = Self.command("group.list", target.group, app)
            let rows = try await Pages.rows(list, "items", limit: .max, connection).rows
            var rest = rows[...]
            while !rest.isEmpty {
                let part = rest.prefix(Self.partMax)
                rest = rest.dropFirst(Self.partMax)
                let deletions = part.map { row in
                    var command = Self.command("group.delete", target.group, app)
                    command["key"] = row["key"]
                    return command
                }
                for case .failure(let error) in await connection.send(batch: deletions) {
                    // Somebody else has deleted it.
                    if case .refused(let refusal) = error, refusal.code == .notFound { continue }
                    throw error
                }
            }
        }

        private static func command(_ op: String, _ group: String, _ app: String) -> Command {
            Command(op, app: app, ["group": .string(group)])
        }
    }
}
