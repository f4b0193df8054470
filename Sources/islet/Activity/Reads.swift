import ArgumentParser
import IsletClient

extension ActivityCommand {
    /// `islet activity get`.
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show all of it.",
            discussion: """
                EXAMPLES:
                  islet activity get order-7
                  islet activity get order-7 --json
                """)

        @OptionGroup var target: TargetOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(target.command("activity.get"))
                guard let activity = answer.activity else { throw IsletError.unreadable("no activity") }
                if output.json { return Console.data(activity.json.bytes) }
                let now = try await connection.now()
                for line in ActivityText.lines(activity, now: now, style: .output) { Console.data(line) }
            }
        }
    }

    /// `islet activity history`.
    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show its events, oldest first.",
            discussion: """
                EXAMPLES:
                  islet activity history order-7
                  islet activity history order-7 --json      one event a line
                """)

        @OptionGroup var target: TargetOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(target.command("activity.history"))
                EventLines.writeHistory(answer, name: target.target, output)
            }
        }
    }

    /// `islet activity explain`.
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say why it is as it is: each decision with its rule.",
            discussion: """
                EXAMPLES:
                  islet activity explain order-7
                """)

        @OptionGroup var target: TargetOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await connection.send(target.command("activity.explain"))
                if output.json { return Console.data(answer.json.bytes) }
                let now = try await connection.now()
                for line in ExplainText.lines(answer, now: now, style: .output) { Console.data(line) }
            }
        }
    }
}
