import IsletClient

/// A column of a table: what stands in it, what it is sorted by, and how much room it may have.
struct TopColumn: Sendable {
    /// What rows are sorted by; where there is nothing to sort by, a row comes last.
    enum SortKey: Sendable, Hashable {
        case number(Int64)
        case text(String)
        case nothing
    }

    let title: String
    /// The columns of the terminal that it has at least and at most.
    let width: ClosedRange<Int>
    /// The columns with the highest rank go first where there is not room for all; 0 stays.
    let rank: Int
    var isRight = false
    /// Whether the greatest come first when it is sorted by.
    var isDescending = false
    let cell: @Sendable (RawObject, Int64) -> String
    let key: @Sendable (RawObject) -> SortKey

    /// A column of a text member.
    static func text(_ title: String, _ member: String, _ width: ClosedRange<Int>, rank: Int) -> TopColumn {
        TopColumn(
            title: title, width: width, rank: rank, cell: { row, _ in row[member]?.string ?? "" },
            key: { row in row[member]?.string.map(SortKey.text) ?? .nothing })
    }

    /// A column of a number, the greatest first.
    static func number(_ title: String, _ member: String, _ width: ClosedRange<Int>, rank: Int) -> TopColumn {
        TopColumn(
            title: title, width: width, rank: rank, isRight: true, isDescending: true,
            cell: { row, _ in row[member]?.integer.map(TopText.count) ?? "" },
            key: { row in row[member]?.integer.map(SortKey.number) ?? .nothing })
    }

    /// How long ago a date was, the youngest first.
    static func age(_ member: String, rank: Int) -> TopColumn {
        TopColumn(
            title: "AGE", width: 4...5, rank: rank, isRight: true,
            cell: { row, now in row[member]?.integer.map { TopText.age(now.subtractingClamped($0)) } ?? "" },
            key: { row in row[member]?.integer.map { .number(-$0) } ?? .nothing })
    }

    /// How long ago by a span of real time that the row says, the youngest first.
    static func span(_ title: String, _ member: String, rank: Int) -> TopColumn {
        TopColumn(
            title: title, width: 5...7, rank: rank, isRight: true,
            cell: { row, _ in row[member]?.integer.map { TopText.age($0) } ?? "" },
            key: { row in row[member]?.integer.map(SortKey.number) ?? .nothing })
    }

    /// The next deadline, the soonest first.
    static func next(also: @escaping @Sendable (RawObject) -> [String] = { _ in [] }) -> TopColumn {
        TopColumn(
            title: "NEXT", width: 17...40, rank: 1,
            cell: { row, now in (EntityText.upcoming(row, now: now) + also(row)).joined(separator: ", ") },
            key: { row in
                let dates = [row["next"]?.object?["at"]?.integer, row["held"]?.object?["until"]?.integer]
                return dates.compactMap(\.self).min().map(SortKey.number) ?? .nothing
            })
    }
}

extension TopTab {
    /// The columns of its table.
    var columns: [TopColumn] {
        switch self {
        case .problems: Self.problemColumns
        case .activities: Self.activityColumns
        case .controls: Self.controlColumns
        case .widgets: Self.widgetColumns
        case .providers: Self.providerColumns
        case .subscribers: Self.subscriberColumns
        }
    }

    /// The column that it is sorted by at first.
    var standardSort: String {
        switch self {
        case .problems: "SEVERITY"
        case .activities, .widgets: "NEXT"
        case .controls: "NAME"
        case .providers: "CALLS"
        case .subscribers: "LAG"
        }
    }

    /// What a person calls it.
    private static func name(_ tab: TopTab, _ width: ClosedRange<Int>) -> TopColumn {
        TopColumn(
            title: "NAME", width: width, rank: 0, cell: { row, _ in tab.name(row) },
            key: { row in .text(tab.name(row)) })
    }

    private static let state = TopColumn.text("STATE", "state", 9...14, rank: 0)
    private static let revision = TopColumn.number("REV", "revision", 3...7, rank: 4)
    private static let device = TopColumn.text("DEVICE", "device", 6...16, rank: 5)
    private static let app = TopColumn.text("APP", "app", 8...28, rank: 7)
    private static let cause = TopColumn.text("CAUSE", "cause", 7...15, rank: 3)

    private static let problemColumns = [
        // The worst first, as the service has them: what is about more than one entity before single ones, then what has
        // lasted longest.
        TopColumn(
            title: "SEVERITY", width: 8...8, rank: 0, cell: { row, _ in row["severity"]?.string ?? "" },
            key: { .number(ProblemsText.order($0)) }),
        .text("WHAT", "what", 5...9, rank: 0), name(.problems, 12...34), app,
        TopColumn(
            title: "FOR", width: 4...5, rank: 1, isRight: true,
            cell: { row, now in row["since"]?.integer.map { TopText.age(now.subtractingClamped($0)) } ?? "" },
            key: { row in row["since"]?.integer.map(TopColumn.SortKey.number) ?? .nothing }),
        TopColumn(
            title: "WHY", width: 20...100, rank: 2, cell: { row, _ in ProblemsText.why(row) },
            key: { row in .text(ProblemsText.why(row)) }),
    ]

    private static let activityColumns = [
        name(.activities, 9...30), .text("TYPE", "type", 5...16, rank: 6), device, state, revision,
        .age("startedAt", rank: 2), .next(), cause, app,
    ]

    private static let controlColumns = [
        name(.controls, 12...30), device, state,
        TopColumn(
            title: "VALUE", width: 5...20, rank: 1, cell: { row, _ in ControlText.value(row) ?? "" },
            key: { row in ControlText.value(row).map(TopColumn.SortKey.text) ?? .nothing }),
        .text("STATUS", "status", 6...30, rank: 6), revision, .age("addedAt", rank: 5),
        .next { [PlacedText.failure($0)].compactMap(\.self) }, cause, app,
    ]

    private static let widgetColumns = [
        name(.widgets, 12...30), .text("FAMILY", "family", 6...20, rank: 6), device, state,
        TopColumn(
            title: "ENTRY", width: 8...40, rank: 4, cell: { row, _ in WidgetText.content(row["entry"]) ?? "" },
            key: { row in row["entryIndex"]?.integer.map(TopColumn.SortKey.number) ?? .nothing }),
        revision, .age("addedAt", rank: 5),
        .next { WidgetText.marks($0) + [PlacedText.failure($0)].compactMap(\.self) }, cause, app,
    ]

    private static let providerColumns = [
        name(.providers, 12...12), .text("APP", "app", 18...28, rank: 2), .text("STATE", "state", 8...8, rank: 0),
        .number("CALLS", "calls", 5...9, rank: 0), .number("FAILED", "failures", 6...8, rank: 0),
        .number("AT WORK", "inFlight", 7...7, rank: 3), .number("WAITING", "waiting", 7...7, rank: 1),
        .number("P50 ms", "p50", 6...7, rank: 4), .number("P99 ms", "p99", 6...7, rank: 1),
        .span("SILENT", "silence", rank: 5), .span("AGE", "age", rank: 5),
        TopColumn(
            title: "KINDS", width: 8...60, rank: 6,
            cell: { row, _ in
                ["kinds", "widgets"].flatMap { row[$0]?.elements ?? [] }.compactMap { $0.string }
                    .map(PlacedText.shortKind).joined(separator: ", ")
            }, key: { _ in .nothing }),
    ]

    private static let subscriberColumns = [
        name(.subscribers, 12...12), .number("LAG", "lag", 6...10, rank: 0),
        TopColumn(
            title: "STATE", width: 8...8, rank: 0,
            cell: { row, _ in row["isLagging"]?.bool == true ? "lagging" : "well" },
            key: { row in .number(row["isLagging"]?.bool == true ? 0 : 1) }),
        .span("REPORT", "age", rank: 1),
        TopColumn(
            title: "APPS", width: 10...60, rank: 2,
            cell: { row, _ in
                (row["apps"]?.object?.members ?? []).map { app in
                    let seq = app.value.object?["seq"]?.integer.map(TopText.count) ?? "?"
                    return "\(app.name) at \(seq)"
                }.joined(separator: ", ")
            }, key: { row in .number(Int64(row["apps"]?.object?.members.count ?? 0)) }),
    ]
}
