/// Rows in columns under a head, for people.
package struct TextTable {
    private let head: [String]
    private var rows: [[String]] = []
    /// The column that has the colour of the state in it.
    private let stateColumn: Int?

    /// - Parameter more: columns after those, for a wide table.
    package init(_ head: String..., more: [String] = []) {
        let head = head + more
        self.head = head
        stateColumn = head.firstIndex(of: "STATE")
    }

    /// Takes a row in, which has as many cells as the head. They become printable here.
    package mutating func add(_ cells: String..., more: [String] = []) {
        rows.append((cells + more).map(\.printable))
    }

    /// The lines, of which the first is the head. The last column is as wide as each of its cells.
    package func lines(style: Style) -> [String] {
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String], _ shown: (Int, String) -> String) -> String {
            cells.indices.map { column in
                let isLast = column == cells.count - 1
                return shown(column, isLast ? cells[column] : cells[column].padded(to: widths[column]))
            }.joined(separator: "  ")
        }
        return [style.dim(line(head) { $1 })]
            + rows.map { cells in
                line(cells) { column, text in column == stateColumn ? style.of(state: cells[column], text) : text }
            }
    }
}
