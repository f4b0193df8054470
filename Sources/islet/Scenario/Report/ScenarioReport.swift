package import IsletClient
import IsletFilter

/// Results in words, and as JSON.
package struct ScenarioReport: Sendable {
    package var results: [ScenarioResult]
    package var duration: Duration

    package init(_ results: [ScenarioResult], duration: Duration) {
        self.results = results
        self.duration = duration
    }

    var failed: Int { results.count { $0.failure != nil } }
    var passed: Int { results.count - failed }

    /// The last line: `7 scenarios, 6 passed, 1 failed (0.8 s)`.
    package var summary: String {
        let noun = results.count == 1 ? "scenario" : "scenarios"
        return "\(results.count) \(noun), \(passed) passed, \(failed) failed (\(Self.text(duration)))"
    }

    /// Such as `0.8 s` and `12 ms`.
    static func text(_ duration: Duration) -> String {
        let milliseconds = Span(duration).milliseconds
        return milliseconds < 100 ? "\(milliseconds) ms" : TimeText.span(milliseconds)
    }

    /// The lines about one scenario: one where it passed.
    static func lines(_ result: ScenarioResult, style: Style) -> [String] {
        let time = style.dim("(\(text(result.duration)))")
        guard let failure = result.failure else {
            return ["\(style.of(state: "active", "ok"))    \(result.name.printable) \(time)"]
        }
        let step = failure.step > 0 ? ", step \(failure.step)" : ""
        let title = failure.title.isEmpty ? "" : " (\(failure.title))"
        var lines = [
            "\(style.wrong("FAIL"))  \(style.bold(result.name.printable)) \(time)",
            "  \(result.path.printable):\(failure.place.line)\(step)\(title.printable): \(failure.message.printable)",
        ]
        lines += differences(failure, style: style).map { "    " + $0 }
        if failure.differences.isEmpty == false, let came = failure.came {
            lines.append("    came: " + style.dim(came.description.shortened(to: 400).printable))
        }
        if !failure.eventLines.isEmpty {
            lines.append("  the last events:")
            lines += failure.eventLines.map { "    " + $0.printable }
        } else if failure.step > 0 {
            lines.append("  no event has come")
        }
        if !failure.explanation.isEmpty {
            lines.append("  why \(failure.entity ?? "it") is as it is:")
            lines += failure.explanation.map { "    " + $0.printable }
        }
        return lines
    }

    /// Two lines for each difference: what was expected, and what came.
    static func differences(_ failure: ScenarioFailure, style: Style) -> [String] {
        failure.differences.flatMap { difference in
            let name = difference.name.isEmpty ? "" : "\(difference.name): "
            let hint = difference.hint.map { " (did you mean \($0)?)" } ?? ""
            return [
                "- \(name)\(difference.expected)\(hint)".printable,
                style.wrong("+ \(name)\(difference.came)".printable),
            ]
        }
    }

    // MARK: JSON

    /// All as one object, as proto-json/schemas/cli/scenario.json has it.
    package var json: RawJSON {
        .object([
            .init("scenarios", .integer(results.count)), .init("passed", .integer(passed)),
            .init("failed", .integer(failed)), .init("duration", .integer(Span(duration).milliseconds)),
            .init("results", .array(results.map(Self.json))),
        ])
    }

    private static func json(_ result: ScenarioResult) -> RawJSON {
        var members: [RawObject.Member] = [
            .init("name", .string(result.name)), .init("file", .string(result.path)),
            .init("line", .integer(result.place.line)), .init("passed", .bool(result.failure == nil)),
            .init("steps", .integer(result.steps)), .init("duration", .integer(Span(result.duration).milliseconds)),
        ]
        if let failure = result.failure { members.append(.init("failure", json(failure))) }
        return .object(members)
    }

    private static func json(_ failure: ScenarioFailure) -> RawJSON {
        var members: [RawObject.Member] = [
            .init("line", .integer(failure.place.line)), .init("column", .integer(failure.place.column)),
            .init("step", .integer(failure.step)), .init("title", .string(failure.title)),
            .init("message", .string(failure.message)),
            .init(
                "differences",
                .array(
                    failure.differences.map { difference in
                        .object([
                            .init("path", .array(difference.path.map(RawJSON.string))),
                            .init("expected", .string(difference.expected)), .init("came", .string(difference.came)),
                        ])
                    })),
        ]
        if let came = failure.came { members.append(.init("came", came)) }
        members.append(.init("events", .array(failure.events)))
        members.append(.init("explanation", .array(failure.explanation.map(RawJSON.string))))
        return .object(members)
    }
}
