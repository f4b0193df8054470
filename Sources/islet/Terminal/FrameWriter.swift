/// A place of lines on a terminal: `columns` × `rows`.
package struct ScreenSize: Hashable, Sendable {
    var columns: Int
    var rows: Int

    /// So many columns and rows.
    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// Where a terminal does not say how large it is.
    static let standard = ScreenSize(columns: 80, rows: 24)
}

/// What has to be written so that a terminal shows a frame: only the lines that are other than before.
package struct FrameWriter {
    private let hasColours: Bool
    private var shown: [StyledLine] = []
    private var size: ScreenSize?

    /// - Parameter hasColours: whether colours may be used; weight and reversal always are.
    package init(hasColours: Bool) {
        self.hasColours = hasColours
    }

    /// Nothing is known of what the terminal shows: the next frame is written whole.
    package mutating func forget() {
        size = nil
    }

    /// The text that brings the terminal from the last frame to this one; empty where nothing is to be done.
    package mutating func text(for lines: [StyledLine], size: ScreenSize) -> String {
        let lines = lines.prefix(size.rows).map { $0.fitted(to: size.columns) }
        var text = ""
        let isNew = size != self.size
        if isNew { text = "\u{1B}[0m\u{1B}[2J" }
        for row in 0..<size.rows {
            let line = row < lines.count ? lines[row] : StyledLine()
            if isNew ? line.runs.isEmpty : row < shown.count && shown[row] == line { continue }
            text += "\u{1B}[\(row + 1);1H" + line.coded(hasColours: hasColours)
            if line.columns < size.columns { text += "\u{1B}[K" }
        }
        shown = lines + Array(repeating: StyledLine(), count: max(0, size.rows - lines.count))
        self.size = size
        return text
    }
}
