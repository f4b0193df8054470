import IsletClient
import IsletFilter

/// The rows that a person sees: filtered and sorted.
struct TopRow: Sendable {
    /// What tells it from all others.
    let identity: String
    let object: RawObject
    /// What stands in the tab's columns.
    let cells: [String]
    /// Its state, which colours it.
    var state: String { object["state"]?.string ?? "" }
}

/// What a table is sorted by.
struct TopSort: Sendable, Hashable {
    /// The title of a column.
    var column: String
    /// Whether it is the other way round than the column's own.
    var isReversed = false
}

extension TopRow {
    /// The rows of a tab that fit a filter, in order.
    ///
    /// - Parameter now: domain time in milliseconds since 1970.
    static func rows(
        _ objects: [RawObject], _ tab: TopTab, filter: TopFilter, isTyping: Bool, sort: TopSort, now: Int64
    ) -> [TopRow] {
        let columns = tab.columns
        let rows = objects.compactMap { object -> TopRow? in
            let cells = columns.map { $0.cell(object, now).printable }
            guard filter.matches(object, tab, cells: cells, isTyping: isTyping, now: now) else { return nil }
            return TopRow(identity: tab.identity(object), object: object, cells: cells)
        }
        guard let column = columns.first(where: { $0.title == sort.column }) else { return rows }
        let isDescending = column.isDescending != sort.isReversed
        let keyed = rows.map { (key: column.key($0.object), name: tab.name($0.object), row: $0) }
        return keyed.sorted { one, other in
            switch compare(one.key, other.key) {
            case _ where one.key == other.key: one.name < other.name
            case .last: false
            case .first: true
            case .less: !isDescending
            case .more: isDescending
            }
        }.map(\.row)
    }

    private enum Order {
        case less, more
        /// Comes first, or last, whatever the direction.
        case first, last
    }

    private static func compare(_ one: TopColumn.SortKey, _ other: TopColumn.SortKey) -> Order {
        switch (one, other) {
        case (.nothing, _): .last
        case (_, .nothing): .first
        case (.number(let one), .number(let other)): one < other ? .less : .more
        case (.text(let one), .text(let other)): one.lowercased() < other.lowercased() ? .less : .more
        case (.number, .text): .less
        case (.text, .number): .more
        }
    }
}

/// Which columns there is room for, and how wide they are.
struct TopLayout {
    /// The indexes of the columns that are shown, from the left.
    let columns: [Int]
    /// Their widths.
    let widths: [Int]

    /// The blanks between columns.
    static let gap = 2

    init(_ columns: [TopColumn], rows: some Sequence<TopRow>, width: Int) {
        let wanted = columns.indices.map { index in
            let longest = rows.reduce(columns[index].title.columns + (columns[index].isRight ? 0 : 1)) {
                max($0, $1.cells[index].columns)
            }
            return min(max(longest, columns[index].width.lowerBound), columns[index].width.upperBound)
        }
        // What nothing stands in takes no room.
        var shown = columns.indices.filter { index in
            columns[index].rank == 0 || rows.contains { !$0.cells[index].isEmpty }
        }
        func total(_ widths: [Int]) -> Int { widths.reduce(0, +) + max(0, widths.count - 1) * Self.gap }
        let least = { (index: Int) in min(wanted[index], columns[index].width.lowerBound + 4) }
        while shown.count > 1, total(shown.map(least)) > width,
            let worst = shown.filter({ columns[$0].rank > 0 }).max(by: { columns[$0].rank < columns[$1].rank })
        {
            shown.removeAll { $0 == worst }
        }
        var widths = shown.map { wanted[$0] }
        // The widest gives until all fit.
        while total(widths) > width {
            let spare = widths.indices.map { widths[$0] - columns[shown[$0]].width.lowerBound }
            guard let most = spare.indices.max(by: { spare[$0] < spare[$1] }), spare[most] > 0 else { break }
            widths[most] -= 1
        }
        self.columns = Array(shown)
        self.widths = widths
    }
}
