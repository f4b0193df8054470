import ArgumentParser
import IsletClient

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
            try await service.change(command, done: "set", name: target.name, output)
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
                let answer = try await connection.send(target.command("group.get"))
                guard let item = answer["group"]?.object, let value = item["value"] else {
                    throw IsletError.unreadable("no key")
                }
                Console.data(output.json ? item.json.bytes : value.bytes)
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
                  islet group list group.com.example --json | jq -r .key
                """)

        @OptionGroup var target: GroupTarget

        @Option(help: ArgumentHelp("Only keys that begin so.", valueName: "text"))
        var prefix: String?

        @Option(help: ArgumentHelp("How many at most.", valueName: "number"))
        var limit = 50

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
        }

        func run() async throws {
            var command = target.command("group.list")
            command["prefix"] = prefix.map(RawJSON.string)
            try await service.withConnection { connection in
                let (rows, total) = try await Pages.rows(command, "items", limit: limit, connection)
                if output.json {
                    for row in rows { Console.data(row.json.bytes) }
                } else if !rows.isEmpty {
                    let now = try await connection.now()
                    for line in GroupText.table(rows, now: now, style: .output) { Console.data(line) }
                }
                let filter = prefix.map { ", with keys \($0)…" } ?? ""
                Console.message("showing \(rows.count) of \(total) in \(target.group)\(filter)")
            }
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
            try await service.change(command, done: "deleted", name: target.name, output)
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
            try await service.change(command, done: "notified", name: target.group, output)
        }
    }
}
