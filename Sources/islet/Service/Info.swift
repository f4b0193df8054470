import ArgumentParser
import IsletClient

/// `islet info`.
struct Info: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what the service is, its rules and figures.",
        discussion: """
            EXAMPLES:
              islet info
              islet info --json | jq .ruleSet
            """)

    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await service.withConnection { connection in
            let answer = try await connection.send(Command("service.info"))
            guard let info = answer["info"]?.object else { throw IsletError.unreadable("no info") }
            if output.json { return Console.data(info.json.bytes) }
            for line in Self.lines(info, indent: "") { Console.data(line) }
        }
    }

    /// Names and values, what is nested under its name.
    private static func lines(_ object: RawObject, indent: String) -> [String] {
        object.members.flatMap { member -> [String] in
            let name = indent + member.name
            if let nested = member.value.object {
                if let spans = SpanText.line(nested, microseconds: member.name == "commit") {
                    return [name.padded(to: 32) + " " + spans]
                }
                return [name] + lines(nested, indent: indent + "  ")
            }
            return [name.padded(to: 32) + " " + value(member)]
        }
    }

    private static func value(_ member: RawObject.Member) -> String {
        if let elements = member.value.elements {
            return elements.map { $0.text }.joined(separator: ", ")
        }
        if member.value.isNull { return "off" }
        if let number = member.value.integer {
            if member.name == "now" { return "\(number) (\(TimeText.full(number)))" }
            if spans.contains(member.name) { return "\(number) (\(TimeText.span(number)))" }
        }
        return member.value.text
    }

    /// The members that are lengths of time in milliseconds.
    private static let spans: Set<String> = [
        "activeLimit", "dismissalLimit", "futureTimestampLimit", "muteAfterPersonDismissal", "heartbeatStaleAfter",
        "heartbeatEndAfter", "controlRetryFirst", "controlRetryLongest", "authenticationLimit", "retention", "uptime",
        "widgetLearningSpan", "widgetReloadSpacing", "widgetReloadJitter", "widgetEntrySpacing", "widgetRetryFirst",
        "widgetRetryLongest",
    ]
}
