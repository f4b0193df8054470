import ArgumentParser
import IsletClient
import IsletFilter

extension ActivityCommand {
    /// `islet activity start`.
    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start an activity, at once or later.",
            discussion: """
                EXAMPLES:
                  islet activity start order-7 --type Delivery \\
                      --state '{"eta":12}' --stale-in 30s
                  islet activity start order-8 --type Delivery --device phone-1 \\
                      --state @state.json --attributes '{"order":8}'
                  islet activity start order-9 --type Delivery --state '{}' \\
                      --start-in 2h --alert-title 'Order 9' --alert-body 'Coming'
                """)

        @Argument(
            help: ArgumentHelp(
                "Your own name for what it is about; at most one open activity has it.", valueName: "key"))
        var key: String?

        @Option(help: ArgumentHelp("The type of its attributes, such as Delivery.", valueName: "name"))
        var type: String

        @Option(help: ArgumentHelp("The content: a JSON object, or @file.", valueName: "json"))
        var state: String

        @Option(help: ArgumentHelp("What will not change: a JSON object, or @file.", valueName: "json"))
        var attributes = "{}"

        @OptionGroup var stale: StaleOptions

        @Option(help: ArgumentHelp("Start after this long; needs an alert.", valueName: "span"))
        var startIn: Span?

        @Option(
            parsing: .unconditional, help: ArgumentHelp("Start at this date; needs an alert.", valueName: "date"))
        var startAt: Moment?

        @OptionGroup var alert: AlertOptions

        @OptionGroup var relevance: RelevanceOption

        @Option(help: ArgumentHelp("standard, or transient: it goes when the device is locked.", valueName: "style"))
        var style: String?

        @Option(help: ArgumentHelp("token, or channel:ID.", valueName: "type"))
        var pushType: String?

        @Option(
            help: ArgumentHelp(
                "The device that shows it; without one it counts toward no maximum.", valueName: "device"))
        var device: String?

        @Option(help: ArgumentHelp("A UUID of your own as its id.", valueName: "uuid"))
        var id: String?

        @Flag(help: "Say that the app is in the background, from where a start is refused.")
        var background = false

        @Flag(help: "Where the key is held, update that one instead.")
        var orUpdate = false

        @OptionGroup var app: AppOption
        @OptionGroup var output: OutputOptions
        @OptionGroup var service: ServiceOptions

        func validate() throws {
            guard startIn == nil || startAt == nil else {
                throw ValidationError("name --start-in or --start-at, not both")
            }
            guard startIn == nil && startAt == nil || alert.json != nil else {
                let option = startIn == nil ? "--start-at" : "--start-in"
                throw ValidationError("\(option) needs an alert, which tells of the start: add --alert-title")
            }
        }

        func run() async throws {
            var command = Command("activity.start")
            command["type"] = .string(type)
            command["attributes"] = try Payload.read(attributes, option: "--attributes")
            command["contentState"] = try Payload.read(state, option: "--state")
            command["relevanceScore"] = relevance.json
            command["style"] = style.map(RawJSON.string)
            command["alert"] = alert.json
            command["pushType"] = pushType.map(Self.pushType)
            command["device"] = device.map(RawJSON.string)
            command["key"] = key.map(RawJSON.string)
            command["id"] = id.map(RawJSON.string)
            if background { command["background"] = .bool(true) }
            if orUpdate { command["ifExists"] = .string("update") }
            try await service.withConnection { connection in
                command["app"] = .string(try await app.required(connection))
                command["staleDate"] = try await stale.staleDate(now: connection.now)
                if let startIn {
                    command["startDate"] = .integer(
                        try await Moment.fromNow(milliseconds: startIn.milliseconds).resolved(now: connection.now))
                } else if let startAt {
                    command["startDate"] = .integer(try await startAt.resolved(now: connection.now))
                }
                let answer = try await connection.send(command)
                let id = answer.activity?["id"]?.string ?? ""
                let name = key ?? id
                let isScheduled = answer.activity?["state"]?.string == ActivityState.pending.rawValue
                // What has just begun has its first revision.
                let isUpdated = orUpdate && answer.activity?["revision"]?.integer ?? 1 > 1
                try await Report.change(
                    answer, done: isUpdated ? "updated" : isScheduled ? "scheduled" : "started", name: name,
                    output: output, now: connection.now)
                guard !output.json else { return }
                if key != nil { Console.data("id \(id)") }
                suggest(name)
            }
        }

        /// The next commands worth trying, as they can be typed here.
        private func suggest(_ name: String) {
            let rest =
                Invocation.options(["app": app.named, "device": key == nil ? nil : device]) + service.spelled
            let islet = Invocation.name
            Console.message(
                """

                Next you might try:
                  \(islet) activity update \(name) --state '…'\(rest)
                  \(islet) activity explain \(name)\(rest)
                  \(islet) activity end \(name)\(rest)
                  \(islet) tail\(service.spelled)
                """)
        }

        private static func pushType(_ text: String) -> RawJSON {
            guard text.hasPrefix("channel:") else { return .string(text) }
            return .object([.init("channel", .string(String(text.dropFirst("channel:".count))))])
        }
    }
}
