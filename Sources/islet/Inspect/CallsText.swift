package import IsletClient

/// The calls to providers in the answer to `timer.list`, as people read them.
package struct CallsText {
    let calls: [RawObject]
    private let total: Int64
    private let isExact: Bool
    private let style: Style

    init(_ answer: Answer, style: Style) {
        self.init(answer.object, style: style)
    }

    /// The members of an answer; an older service tells no calls.
    package init(_ answer: RawObject, style: Style) {
        calls = answer["calls"]?.elements?.compactMap(\.object) ?? []
        total = answer["callsTotal"]?.integer ?? 0
        isExact = answer["exact"]?.bool ?? true
        self.style = style
    }

    /// What stands below a table of timers; nothing where there are no calls.
    package var section: [String] {
        guard !calls.isEmpty else { return [] }
        let rest = total.subtractingClamped(Int64(calls.count))
        let more = rest > 0 ? ["… \(RecoveryText.grouped(Int(clamping: rest))) more calls"] : []
        return [""] + table(isWide: false) + more
    }

    /// A table of the calls, those whose time is over first; nothing where there are none.
    package func table(isWide: Bool) -> [String] {
        guard !calls.isEmpty else { return [] }
        var table = TextTable(
            "CALL", "TIME LEFT", "SENT", "NAME", "APP", "DEVICE", "PROVIDER", more: isWide ? ["KIND", "ID", "ATTEMPT"] : [])
        for call in calls {
            let sent = call["age"]?.integer.map { "\(TimeText.span($0)) ago" }
            table.add(
                call["op"]?.string ?? "", call["left"]?.integer.map(TimeText.span) ?? "-", sent ?? "waits",
                Self.name(call), call["app"]?.string ?? "", call["device"]?.string ?? "-",
                call["provider"]?.string.map(EntityText.shortID) ?? "-",
                more: isWide
                    ? [
                        call["kind"]?.string ?? "", call["id"]?.string ?? "-",
                        call["attempt"]?.integer.map(String.init) ?? "",
                    ] : [])
        }
        return table.lines(style: style)
    }

    /// What other subcommands take for it: the id of what is placed; of a kind its name.
    static func address(_ call: RawObject) -> String {
        call["id"]?.string ?? call["kind"]?.string ?? "?"
    }

    private static func name(_ call: RawObject) -> String {
        let family = call["family"]?.string ?? "?"
        guard call["id"] != nil else { return "\(family) \(PlacedText.shortKind(call["kind"]?.string ?? "?"))".printable }
        return "\(family) \(PlacedText.name(call))"
    }

    /// Such as `showing 2 of 2 calls`.
    package func shown(_ filters: KeyValuePairs<String, String?>) -> String {
        ShownCount.line(calls.count, of: total, "call", isExact: isExact, filters: filters)
    }
}
