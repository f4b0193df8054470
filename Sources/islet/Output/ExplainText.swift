import IsletClient

/// Why an entity is as it is, in plain words: what it is and what will become of it, then what was decided.
enum ExplainText {
    /// Writes the answer to an `explain`.
    ///
    /// - Parameters:
    ///   - begin: decisions before this date are left out; nil: none are.
    ///   - decisions: how many of the others are shown.
    static func write(
        _ answer: Answer, since begin: Int64? = nil, _ decisions: DecisionsOption, shown: (RawObject) -> String?,
        _ output: OutputOptions, _ connection: IsletConnection
    ) async throws {
        if output.json {
            var object = answer.object
            if begin != nil || decisions.limit != nil, let all = answer["decisions"]?.elements {
                let since = all.filter { $0.object?["at"]?.integer ?? .max >= begin ?? .min }
                object["decisions"] = .array(Array(since.suffix(decisions.limit ?? .max)))
            }
            return Console.data(object.json.bytes)
        }
        let now = try await connection.now()
        let most = decisions.most(isChosen: begin != nil)
        let lines = Self.lines(
            answer, since: begin ?? .min, last: most, others: "--all", shown: shown, now: now, style: .output)
        for line in lines { Console.data(line) }
        if let note = note(answer) { Console.message(note) }
    }

    /// - Parameters:
    ///   - begin: decisions before this date are left out; those that are shown keep their numbers.
    ///   - most: how many of the others are shown, the last ones; nil: all.
    ///   - others: what shows those that are left out then.
    ///   - shown: what an entity shows, where that is said.
    static func lines(
        _ answer: Answer, since begin: Int64 = .min, last most: Int? = nil, others: String = "",
        shown: (RawObject) -> String?, now: Int64, style: Style
    ) -> [String] {
        let decisions = answer["decisions"]?.elements?.compactMap(\.object) ?? []
        var lines: [String] = []
        if let entity = EntityText.entity(answer) {
            let parts = [EntityText.state(entity, style: style), shown(entity), PlacedText.failure(entity)]
            let since = since(decisions).map { ", since \(TimeText.full($0, now: now))" } ?? ""
            lines.append("Now it is \(parts.compactMap(\.self).joined(separator: ", "))\(since).")
            if let other = entity["renewedBy"]?.string { lines.append("It goes on as \(other.printable).") }
            lines += OutlookText.lines(entity, now: now)
        }
        let wanted = decisions.enumerated().filter { $1["at"]?.integer ?? 0 >= begin }
        let told = Array(wanted.suffix(most ?? .max))
        guard !told.isEmpty else { return lines }
        lines.append("What was decided:")
        if told.count < wanted.count {
            let left = RecoveryText.counted(wanted.count - told.count, "earlier one", "earlier ones")
            lines.append(style.dim("  … \(left): \(others)"))
        }
        return lines + Self.lines(told, style: style)
    }

    /// Decisions with their numbers, below the dates of their days.
    private static func lines(_ told: [(offset: Int, element: RawObject)], style: Style) -> [String] {
        let width = max(3, "\((told.last?.offset ?? 0) + 1).".count)
        var lines: [String] = []
        var date = ""
        for (index, decision) in told {
            let at = decision["at"]?.integer ?? 0
            if TimeText.date(at) != date {
                date = TimeText.date(at)
                lines.append(style.dim(TimeText.dateWithWeekday(at) + " UTC"))
            }
            let number = "\(index + 1).".padded(to: width)
            lines.append("\(number) \(TimeText.clock(at))  \(sentence(decision, style: style))")
            lines.append(style.dim("\(String(repeating: " ", count: width + 11))\(source(decision))"))
        }
        return lines
    }

    /// What a list of decisions does not say: that older ones are not kept, or not in the answer.
    static func note(_ answer: Answer) -> String? {
        let rows = answer["decisions"]?.elements ?? []
        let decisions = rows.compactMap(\.object)
        guard !decisions.isEmpty else { return "no decision about it is kept any more" }
        let first = decisions.first { $0["revision"] != nil }?["revision"]?.unsigned
        guard let first, first > 1 else { return nil }
        return AnswerRoom.isFull(rows)
            ? "an answer has no room for what was decided before revision \(first)"
            : "what was decided before revision \(first) is not kept any more"
    }

    private static func sentence(_ decision: RawObject, style: Style) -> String {
        let text = decision["text"]?.string?.printable ?? ""
        let from = decision["from"]?.string
        let to = decision["to"]?.string ?? "?"
        let shownTo = style.of(state: to, to)
        switch decision["outcome"]?.string {
        case "ignored": return "\(style.bold("ignored")): \(text)"
        case "refused": return "\(style.bold("refused")): \(text)"
        default:
            guard let from else { return "\(shownTo): \(text)" }
            let shownFrom = style.of(state: from, from)
            return from == to ? "\(shownTo): \(text)" : "\(shownFrom) → \(shownTo): \(text)"
        }
    }

    /// Why, who asked, by which rule, what failed.
    private static func source(_ decision: RawObject) -> String {
        var parts: [String] = []
        if let reason = decision["reason"]?.string {
            parts.append("reason: \(reason)")
        } else if decision["outcome"]?.string == "applied", let cause = decision["cause"]?.string {
            parts.append(CauseText.reason(cause).map { "because \($0) (\(cause))" } ?? "cause \(cause)")
        }
        if let by = decision["by"]?.object { parts += asker(by) }
        if let source = decision["rule"]?.string { parts.append("rule: \(rule(source, decision))") }
        if let failure = PlacedText.failureWords(decision) { parts.append("failure: \(failure)") }
        if let exempt = decision["exempt"]?.string { parts.append("not charged: \(exempt)") }
        if let revision = decision["revision"] { parts.append("revision \(revision)") }
        return parts.joined(separator: " · ")
    }

    /// What people may look up with `islet rules`; of another version's rules only where they come from is known.
    private static func rule(_ source: String, _ decision: RawObject) -> String {
        RuleBook.entry(source: source, text: decision["text"]?.string ?? "")?.shown ?? source
    }

    /// Such as `asked by c7-184 of client …d1c0ffee1234`.
    private static func asker(_ by: RawObject) -> [String] {
        let client = by["client"]?.string.map { "client …\(EntityText.shortID($0))" }
        switch (by["req"]?.string, client) {
        case (let req?, let client?): return ["asked by \(req) of \(client)"]
        case (let req?, nil): return ["asked by \(req)"]
        case (nil, let client?): return ["asked by \(client)"]
        case (nil, nil): return []
        }
    }

    /// When it came into the state that it is in.
    private static func since(_ decisions: [RawObject]) -> Int64? {
        decisions.last { $0["outcome"]?.string == "applied" && $0["from"]?.string != $0["to"]?.string }?["at"]?.integer
    }
}
