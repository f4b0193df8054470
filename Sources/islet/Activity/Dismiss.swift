import ArgumentParser
import IsletClient

extension ActivityCommand {
    /// `islet activity dismiss`.
    struct Dismiss: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an activity, as a person does with a swipe.",
            discussion: """
                EXAMPLES:
                  islet activity dismiss order-7
                  islet activity dismiss order-7 --by system
                  islet activity dismiss --filter 'state=ended and endedAt<-1h' --by system --yes

                With --filter it says how many it would be, and asks before it removes them.
                What has changed by then and does not fit any more is skipped; what is gone
                by then is counted, and is no failure.
                """)

        @OptionGroup var choice: EntityChoice<ActivityTarget>

        @Option(help: ArgumentHelp("Who removes it: person or system.", valueName: "who"))
        var by: String?

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var fields: RawObject = [:]
            fields["by"] = by.map(RawJSON.string)
            guard let target = choice.one else {
                guard let filter = choice.filter.filter else { return }
                return try await BulkChange(
                    choice: choice, filter: filter, verb: "dismiss", done: "dismissed",
                    fields: { [fields] _ in fields }, output: output, service: service
                ).run()
            }
            var command = target.command("activity.dismiss")
            command["by"] = fields["by"]
            try await service.withConnection { [command] connection in
                let answer = try await target.send(command, connection)
                try await Report.change(
                    answer, done: "dismissed", name: target.target, output: output, now: connection.now)
            }
        }
    }

    /// `islet activity renew`.
    struct Renew: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End an activity and start a linked one, before the 8 hours are over.",
            discussion: """
                EXAMPLES:
                  islet activity renew shift-3
                  islet activity renew shift-3 --state '{"hours":8}' --stale-in 1h
                """)

        @OptionGroup var target: ActivityTarget

        @Option(help: ArgumentHelp("The content of the new one; the old one's where it is absent.", valueName: "json"))
        var state: String?

        @OptionGroup var stale: StaleOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("activity.renew")
            if let state { command["contentState"] = try Payload.read(state, option: "--state") }
            try await service.withConnection { connection in
                command["staleDate"] = try await stale.staleDate(now: connection.now)
                let answer = try await target.send(command, connection)
                try await Report.change(
                    answer, done: "renewed", name: target.target, output: output, now: connection.now)
                if !output.json, let id = answer.activity?["id"]?.string { Console.data("id \(id)") }
            }
        }
    }

    /// `islet activity heartbeat`.
    struct Heartbeat: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say that an activity's publisher lives, where the rule set asks for it.",
            discussion: """
                EXAMPLES:
                  islet activity heartbeat order-7
                """)

        @OptionGroup var target: ActivityTarget
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            try await service.withConnection { connection in
                let answer = try await target.send(
                    target.command("activity.heartbeat"), connection)
                try await Report.change(
                    answer, done: "heartbeat of", name: target.target, output: output, now: connection.now)
            }
        }
    }

    /// `islet activity tap`.
    struct Tap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tap an activity, as a person does: it opens its app.",
            discussion: """
                EXAMPLES:
                  islet activity tap order-7
                  islet activity tap order-7 --url delivery://order/7
                """)

        @OptionGroup var target: ActivityTarget

        @Option(help: ArgumentHelp("What it opens there.", valueName: "url"))
        var url: String?

        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("activity.tap")
            command["url"] = url.map(RawJSON.string)
            try await service.withConnection { connection in
                let answer = try await target.send(command, connection)
                try await Report.change(
                    answer, done: "tapped", name: target.target, details: url.map { ["opens \($0)"] } ?? [],
                    output: output, now: connection.now)
            }
        }
    }
}
