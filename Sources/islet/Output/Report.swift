import IsletClient

/// How the answer to a change is told.
enum Report {
    /// Writes what became of a change.
    ///
    /// - Parameters:
    ///   - done: what happened, such as `started`.
    ///   - name: what the person called the activity or control.
    ///   - details: what is to be said beside the state.
    /// - Throws: a `Failure` where the change was ignored because of the state; an update that changes nothing is none.
    static func change(
        _ answer: Answer, done: String, name: String, details: [String] = [], output: OutputOptions,
        now: () async throws -> Int64
    ) async throws {
        switch answer.outcome {
        case .ignored(let reason):
            if output.json { Console.data(answer.json.bytes) }
            let text = "ignored: \(reason)\(explanation(reason))"
            guard reason == "unchanged" else { throw Failure(.conflict, text) }
            Console.message(text)
        case .applied, nil:
            let change = "\(done) \(name)"
            guard !output.json else { return Console.data(answer.json.bytes, of: change) }
            guard !output.isNames else { return Console.data(name, of: change) }
            let summary = await summary(answer, details, now: now)
            Console.data("\(change)\(summary)", of: change)
        }
    }

    /// Such as `: active, revision 3, ends in 8 h`.
    private static func summary(
        _ answer: Answer, _ details: [String], now: () async throws -> Int64
    ) async -> String {
        guard let entity = EntityText.entity(answer), entity["state"] != nil else { return "" }
        var parts = [EntityText.state(entity, style: .output)] + details
        if let revision = entity["revision"] { parts.append("revision \(revision)") }
        // The change is made, whether the service still answers or not.
        if entity["next"] != nil, let now = try? await now() { parts += EntityText.upcoming(entity, now: now) }
        if let held = entity["held"]?.object { parts.append(WidgetText.reason(held)) }
        return ": " + parts.joined(separator: ", ")
    }

    private static func explanation(_ reason: String) -> String {
        switch reason {
        case "unchanged": " (it is so already; nothing happened)"
        case "ended": " (it has ended and will not change any more)"
        case "dismissed": " (it was dismissed; start a new one)"
        case "olderTimestamp": " (a newer content is there already)"
        case "futureTimestamp": " (the timestamp is too far in the future)"
        case "disabled": " (its provider allows no interaction now)"
        case "acting": " (its action runs already)"
        default: ""
        }
    }
}
