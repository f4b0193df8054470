package import IsletClient

/// The answer to `timer.list` as people read it.
package struct TimersText {
    private let timers: [RawObject]
    private let byHour: [RawObject]
    private let later: Int64
    private let count: Int64?
    private let overdue: Int64
    private let isExact: Bool
    private let now: Int64
    private let style: Style

    /// The longest bar of the histogram, in characters.
    private static let barWidth = 40

    init(_ answer: Answer, now: Int64, style: Style) {
        self.init(answer.object, now: now, style: style)
    }

    /// The members of an answer.
    package init(_ answer: RawObject, now: Int64, style: Style) {
        timers = answer["timers"]?.elements?.compactMap(\.object) ?? []
        byHour = answer["hours"]?.elements?.compactMap(\.object) ?? []
        later = answer["later"]?.integer ?? 0
        count = answer["total"]?.integer
        overdue = answer["overdue"]?.integer ?? 0
        isExact = answer["exact"]?.bool ?? true
        self.now = now
        self.style = style
    }

    /// A table of the timers, the next first; nothing where there are none.
    package var table: [String] { table(of: timers, isWide: false) }

    /// A table of some of the timers.
    package func table(of timers: [RawObject], isWide: Bool) -> [String] {
        guard !timers.isEmpty else { return [] }
        let more = isWide ? ["KIND", "ID"] : []
        var table = TextTable("FIRES", "AT", "WHAT", "NAME", "APP", "DEVICE", "STATE", more: more)
        for timer in timers {
            let at = timer["at"]?.integer ?? 0
            table.add(
                at > now ? TimeText.distance(to: at, now: now) : "due for \(TimeText.span(now.subtractingClamped(at)))",
                TimeText.full(at), timer["cause"]?.string ?? "", Self.name(timer), timer["app"]?.string ?? "",
                timer["device"]?.string ?? "-", timer["state"]?.string ?? "",
                more: isWide ? [timer["kind"]?.string ?? "", timer["id"]?.string ?? ""] : [])
        }
        return table.lines(style: style)
    }

    /// What other subcommands take for it: the key of an activity that is on no device, else the id.
    package static func address(_ timer: RawObject) -> String {
        let key = timer["device"]?.string == nil ? timer["key"]?.string : nil
        return key ?? timer["id"]?.string ?? "?"
    }

    /// `activity order-7`, `widget Flight/27e5fe81cfb1`.
    private static func name(_ timer: RawObject) -> String {
        let family = timer["family"]?.string ?? "?"
        let name = timer["key"]?.string ?? PlacedText.name(timer)
        return "\(family) \(name)"
    }

    /// A bar for each hour, the first of which holds what is overdue.
    package var hours: [String] {
        let counts = byHour.map { $0["count"]?.integer ?? 0 }
        let most = max(counts.max() ?? 0, later, 1)
        var lines: [String] = []
        var date = ""
        for (hour, count) in zip(byHour, counts) {
            let from = hour["from"]?.integer ?? 0
            if TimeText.date(from) != date {
                date = TimeText.date(from)
                lines.append(style.dim("\(TimeText.dateWithWeekday(from)) UTC"))
            }
            lines.append(Self.bar(String(TimeText.clock(from).prefix(5)), count, of: most))
        }
        if later > 0 || lines.isEmpty { lines.append(Self.bar("later", later, of: most)) }
        return lines
    }

    private static func bar(_ label: String, _ count: Int64, of most: Int64) -> String {
        let width = count == 0 ? 0 : max(1, Int(Double(count) / Double(most) * Double(barWidth)))
        let number = RecoveryText.grouped(Int(clamping: count))
        let text = label.padded(to: 6) + String(repeating: " ", count: max(1, 10 - number.count)) + number
        return width == 0 ? text : "\(text)  \(String(repeating: "#", count: width))"
    }

    /// How late timers have fired, since the start and lately.
    package static func lateness(_ stats: RawObject) -> [String] {
        guard let lateness = stats["lateness"]?.object, let line = SpanText.line(lateness) else { return [] }
        var lines = ["", "lateness     \(line)"]
        if let recent = lateness["recent"]?.object, let text = SpanText.line(recent, like: lateness) {
            let span = recent["span"]?.integer.map { "last \(TimeText.span($0))" } ?? "lately"
            lines.append("  \(span.padded(to: 10)) \(text)")
        }
        return lines
    }

    /// Such as `showing 50 of 12 031 timers, 3 of them overdue`.
    package func shown(_ filters: KeyValuePairs<String, String?>) -> String {
        ShownCount.line(timers.count, of: count, "timer", isExact: isExact, filters: filters) + overdueNote
    }

    /// Such as `12 031 timers, 3 of them overdue`.
    package func total(_ filters: KeyValuePairs<String, String?>) -> String {
        let all = byHour.reduce(later) { $0.addingClamped($1["count"]?.integer ?? 0) }
        return ShownCount.line(Int(clamping: all), of: count, "timer", isExact: isExact, filters: filters) + overdueNote
    }

    private var overdueNote: String {
        overdue == 0 ? ", none overdue" : ", \(RecoveryText.grouped(Int(clamping: overdue))) overdue"
    }
}
