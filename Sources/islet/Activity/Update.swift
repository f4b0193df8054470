import ArgumentParser
import IsletClient
import IsletFilter

extension ActivityCommand {
    /// `islet activity update`.
    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the content.",
            discussion: """
                EXAMPLES:
                  islet activity update order-7 --state '{"eta":11}' --stale-in 30s
                  islet activity update order-7 --state '{"eta":1}' \\
                      --alert-title 'Almost there' --alert-body 'One minute'

                Without --stale-in or --stale-at the content does not go out of date.
                """)

        @OptionGroup var target: ActivityTarget

        @Option(help: ArgumentHelp("The new content: a JSON object, or @file.", valueName: "json"))
        var state: String

        @OptionGroup var stale: StaleOptions
        @OptionGroup var alert: AlertOptions

        @OptionGroup var relevance: RelevanceOption
        @OptionGroup var age: AgeOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            var command = target.command("activity.update")
            command["contentState"] = try Payload.read(state, option: "--state")
            command["relevanceScore"] = relevance.json
            command["alert"] = alert.json
            try await service.withConnection { connection in
                command["staleDate"] = try await stale.staleDate(now: connection.now)
                var fields: RawObject = [:]
                try await age.apply(to: &fields, now: connection.now)
                for field in fields.members { command[field.name] = field.value }
                let answer = try await target.send(command, connection)
                try await Report.change(
                    answer, done: "updated", name: target.target, output: output, now: connection.now)
            }
        }
    }

    /// `islet activity end`.
    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End an activity, with a last content or as it is.",
            discussion: """
                EXAMPLES:
                  islet activity end order-7                  removed after 4 hours
                  islet activity end order-7 --dismissal 15m --state '{"eta":0}'
                  islet activity end order-7 --dismissal immediate
                  islet activity end --filter 'state=stale and type=Delivery' --dry-run
                  islet activity end --filter 'state=stale and type=Delivery' --yes

                With --filter it says how many it would be, and asks before it ends them. What
                has changed by then and does not fit any more is skipped; what is gone by then is
                counted, and is no failure.
                """)

        @OptionGroup var choice: EntityChoice<ActivityTarget>

        @Option(help: ArgumentHelp("The last content: a JSON object, or @file.", valueName: "json"))
        var state: String?

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("When it is removed: default, immediate, a span or a date.", valueName: "policy"))
        var dismissal: String?

        @OptionGroup var age: AgeOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func run() async throws {
            let content = try state.map { try Payload.read($0, option: "--state") }
            guard let target = choice.one else {
                guard let filter = choice.filter.filter else { return }
                return try await BulkChange(
                    choice: choice, filter: filter, verb: "end", done: "ended",
                    fields: { try await fields(content, $0) }, states: ["pending", "active", "stale"], output: output,
                    service: service
                ).run()
            }
            try await service.withConnection { connection in
                var command = target.command("activity.end")
                for field in try await fields(content, connection).members { command[field.name] = field.value }
                let answer = try await target.send(command, connection)
                try await Report.change(answer, done: "ended", name: target.target, output: output, now: connection.now)
            }
        }

        /// What the command says beside the address, with its dates as they are now.
        private func fields(_ content: RawJSON?, _ connection: IsletConnection) async throws -> RawObject {
            var fields: RawObject = [:]
            fields["contentState"] = content
            if let dismissal { fields["dismissalPolicy"] = try await Self.policy(dismissal, now: connection.now) }
            try await age.apply(to: &fields, now: connection.now)
            return fields
        }

        private static func policy(_ text: String, now: () async throws -> Int64) async throws -> RawJSON {
            if text == "default" || text == "immediate" { return .string(text) }
            guard let moment = Moment(argument: text) else {
                let meant = Moment.meant(by: text).map { "; \($0)" } ?? ""
                throw Failure(
                    .usage,
                    "--dismissal is default, immediate, a span such as 15m, or a date, and not '\(text)'\(meant)")
            }
            return .object([.init("after", .integer(try await moment.resolved(now: now)))])
        }
    }

    /// How old a change is, and under which conditions it counts.
    struct AgeOptions: ParsableArguments {
        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("When the content was made, such as -5m or a date; else now.", valueName: "date"))
        var timestamp: Moment?

        @Option(help: ArgumentHelp("Only where the activity has this revision.", valueName: "number"))
        var ifRevision: UInt64?

        @Flag(help: "As a push, whose rules differ where its timestamp is old.")
        var push = false

        func apply(to fields: inout RawObject, now: () async throws -> Int64) async throws {
            if let timestamp { fields["timestamp"] = .integer(try await timestamp.resolved(now: now)) }
            if let ifRevision { fields["ifRevision"] = .integer(ifRevision) }
            if push { fields["source"] = .string("push") }
        }
    }
}
