/// A line of a screen: texts, each in its ink. Whatever is added becomes printable here, so that no text can command
/// the terminal.
package struct StyledLine: Hashable, Sendable {
    /// A text in one ink.
    struct Run: Hashable, Sendable {
        var text: String
        var ink: Ink
    }

    private(set) var runs: [Run] = []
    /// The columns that it takes.
    package private(set) var columns = 0

    /// A line of nothing.
    package init() {}

    /// A line of one text.
    package init(_ text: String, _ ink: Ink = .plain) {
        add(text, ink)
    }

    /// Adds a text at the end.
    package mutating func add(_ text: String, _ ink: Ink = .plain) {
        let text = text.printable
        guard !text.isEmpty else { return }
        columns += text.columns
        if let last = runs.last, last.ink == ink {
            runs[runs.count - 1].text += text
        } else {
            runs.append(Run(text: text, ink: ink))
        }
    }

    /// Adds all of another line.
    mutating func add(_ line: StyledLine) {
        for run in line.runs { add(run.text, run.ink) }
    }

    /// Adds blanks up to a column.
    mutating func pad(to column: Int, _ ink: Ink = .plain) {
        if columns < column { add(String(repeating: " ", count: column - columns), ink) }
    }

    /// Adds a cell of exactly this width: filled up, or cut with an ellipsis.
    mutating func addCell(_ text: String, width: Int, isRight: Bool = false, _ ink: Ink = .plain) {
        let text = text.printable.ellipsized(toColumns: width)
        let blanks = String(repeating: " ", count: max(0, width - text.columns))
        add(isRight ? blanks + text : text + blanks, ink)
    }

    /// At most so many columns of it, the last one an ellipsis where something was cut.
    package func fitted(to limit: Int) -> StyledLine {
        guard columns > limit else { return self }
        var line = StyledLine()
        for run in runs {
            let room = limit - line.columns
            guard run.text.columns <= room - 1 else {
                line.add(run.text.cut(toColumns: max(0, room - 1)), run.ink)
                if limit > 0 { line.add("…", run.ink) }
                return line
            }
            line.add(run.text, run.ink)
        }
        return line
    }

    /// The whole line with every ink reversed, filled up to a width: the selected row.
    func reversed(width: Int) -> StyledLine {
        var line = StyledLine()
        for run in runs {
            var ink = run.ink
            ink.isReverse = true
            ink.isDim = false
            line.add(run.text, ink)
        }
        line.pad(to: width, Ink(isReverse: true))
        return line
    }

    /// The text alone.
    package var text: String { runs.map(\.text).joined() }

    /// The text with the codes that a terminal obeys; it ends in plain ink.
    package func coded(hasColours: Bool) -> String {
        runs.map { run in
            let code = run.ink.code(hasColours: hasColours)
            return code.isEmpty ? run.text : code + run.text + "\u{1B}[0m"
        }.joined()
    }
}

extension String {
    /// Cut with an ellipsis to at most so many columns.
    func ellipsized(toColumns limit: Int) -> String {
        guard columns > limit else { return self }
        return limit > 0 ? cut(toColumns: limit - 1) + "…" : ""
    }
}
