import ArgumentParser
import IsletClient
import IsletFilter

extension GroupCommand {
    /// `islet group set`.
    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a key a value.",
            discussion: """
                EXAMPLES:
                  islet group set group.com.example last-city '{"city":"berlin"}'
                  islet group set group.com.example greeting '"hello"'
                  islet group set group.com.example state @state.json --if-revision 3
                """)

        @OptionGroup var target: GroupKeyTarget

        @Argument(help: ArgumentHelp("Any JSON but null; @file, or @- for standard input.", valueName: "json"))
        var value: String

        @OptionGroup var revision: RevisionOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("group.set")
            command["value"] = try Payload.readAny(value, option: "the value")
            command["ifRevision"] = revision.json
            try await target.group.change(command, done: "set", name: target.name, output, service)
        }
    }

    /// `islet group get`.
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the value of a key, byte for byte.",
            discussion: """
                EXAMPLES:
                  islet group get group.com.example last-city | jq -r .city
                  islet group get group.com.example last-city --json    with its revision and who set it
                """)

        @OptionGroup var target: GroupKeyTarget
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await target.group.send(target.command("group.get"), connection)
                guard let item = answer["group"]?.object, let value = item["value"] else {
                    throw IsletError.unreadable("no key")
                }
                if output.json { return Console.data(item.json.bytes) }
                if Console.isSeen { Console.data(value.description) } else { Console.exactly(value.bytes) }
            }
        }
    }

    /// `islet group list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the keys in their order.",
            discussion: """
                EXAMPLES:
                  islet group list group.com.example
                  islet group list group.com.example --prefix last-
                  islet group list group.com.example --filter 'by!=com.example.watch and revision>3'
                  islet group list group.com.example --json | jq -r .key
                """)

        @OptionGroup var target: GroupTarget

        @Option(help: ArgumentHelp("Only keys that begin so.", valueName: "text"))
        var prefix: String?

        @OptionGroup var filter: FilterOption<GroupItemRows>
        @OptionGroup var limit: LimitOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("group.list")
            command["prefix"] = prefix.map(RawJSON.string)
            try await service.withConnection { connection in
                command["app"] = .string(try await target.app.required(connection))
                let (rows, count) = try await rows(command, connection)
                try await RowOutput.write(rows, output, name: { $0["key"]?.string ?? "?" }) { _ in
                    GroupText.table(rows, now: try await connection.now(), style: .output)
                }
                let keys = prefix.map { ", with keys \($0)…" } ?? ""
                Console.message("\(count) in \(target.group)\(keys)")
            }
        }

        /// The rows, and how many there are of which.
        private func rows(
            _ command: Command, _ connection: IsletConnection
        ) async throws -> (rows: [RawObject], count: String) {
            guard let filter = filter.filter else {
                let (rows, total, isExact) = try await Pages.rows(command, "items", limit: limit.limit, connection)
                return (rows, ShownCount.line(rows.count, of: total, isExact: isExact))
            }
            let now = filter.needsNow ? try await connection.now() : 0
            let selection = try await Pages.rows(
                command, "items", limit: limit.limit, fitting: filter, now: now, connection)
            return (selection.rows, selection.line)
        }
    }

    /// `islet group delete`.
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take a key away.",
            discussion: """
                EXAMPLES:
                  islet group delete group.com.example last-city
                """)

        @OptionGroup var target: GroupKeyTarget
        @OptionGroup var revision: RevisionOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("group.delete")
            command["ifRevision"] = revision.json
            try await target.group.change(command, done: "deleted", name: target.name, output, service)
        }
    }

    /// `islet group notify`.
    struct Notify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a signal without data to all who follow the group.",
            discussion: """
                EXAMPLES:
                  islet group notify group.com.example moved
                """)

        @OptionGroup var target: GroupTarget

        @Argument(help: ArgumentHelp("What the signal is called.", valueName: "name"))
        var name: String

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("group.notify")
            command["name"] = .string(name)
            try await target.change(command, done: "notified", name: target.group, output, service)
        }
    }
}
