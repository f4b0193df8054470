import IsletClient

/// What stands where the table is otherwise: details, explanations, a tail, help.
extension TopScreen {
    /// All lines of the panel, wrapped to the screen.
    static func panelLines(_ model: TopModel) -> [StyledLine] {
        let width = model.size.columns
        switch model.panel {
        case nil: return []
        case .help: return help
        case .tail(_, nil): return [StyledLine("  joining …", .dim)]
        case .tail(_, let lines?):
            guard !lines.isEmpty else { return [StyledLine("  nothing has happened yet", .dim)] }
            return lines.map { event($0, width: width) }
        case .subject(_, nil): return [StyledLine("  …", .dim)]
        case .subject(let subject, let lines?):
            let wrap = subject.aspect == .details ? detail : decision
            return lines.flatMap { wrap($0, width) }
        }
    }

    static func panelTitle(_ model: TopModel) -> StyledLine {
        var line = StyledLine()
        switch model.panel {
        case nil: break
        case .help: line.add("Help", .bold)
        case .tail(let title, _):
            line.add("Tail of ", .dim)
            line.add(title, .bold)
        case .subject(let subject, _):
            line.add(subject.aspect == .details ? "" : "Why is it so? ", .dim)
            line.add(subject.name, .bold)
            // What tells a problem of no entity from others is said below.
            line.add("  \(subject.app)" + (subject.tab == .problems ? "" : "  \(subject.identity)"), .dim)
        }
        return line.fitted(to: model.size.columns)
    }

    static func panelFooter(_ model: TopModel, top: Int, height: Int, count: Int) -> StyledLine {
        var line: StyledLine
        switch model.panel {
        case .subject(let subject, _) where subject.tab.family != nil:
            line = legend(["Esc": "back", "d": "details", "e": "explain", "t": "tail", "↑↓": "scroll", "p": "pause"])
        case .tail: line = legend(["Esc": "back", "↑↓": "scroll", "G": "newest"])
        case .subject, .help, nil: line = legend(["Esc": "back", "↑↓": "scroll"])
        }
        if count > height {
            let place = "  \(top + 1)-\(min(count, top + height)) of \(count)"
            line.pad(to: model.size.columns - place.columns)
            line.add(place, .dim)
        }
        return line
    }

    /// A name in its column, its value wrapped beside it.
    private static func detail(_ text: String, _ width: Int) -> [StyledLine] {
        let column = 18
        guard text.count > column, text.hasPrefix("  "), width > 2 * column else {
            return text.printable.wrapped(toColumns: width).map { StyledLine($0) }
        }
        let name = String(text.prefix(column))
        let value = String(text.dropFirst(column)).printable
        let isState = name.dropFirst(2).hasPrefix("state ")
        return value.wrapped(toColumns: width - column).enumerated().map { index, piece in
            var line = StyledLine(index == 0 ? name : String(repeating: " ", count: column), .key)
            line.add(piece, isState ? .state(value) : .plain)
            return line
        }
    }

    /// A decision, and what stands under it in the same place.
    private static func decision(_ text: String, _ width: Int) -> [StyledLine] {
        let text = text.printable
        let indent = text.prefix { $0 == " " || $0.isNumber || $0 == "." || $0 == ":" }.count
        let isSource = text.hasPrefix("    ")
        let isDecision = text.first?.isNumber == true || text.hasPrefix("  ")
        let pieces = text.wrapped(toColumns: width)
        guard pieces.count > 1, indent < width / 2 else {
            return [StyledLine(text, isSource ? .dim : isDecision ? .plain : .bold)]
        }
        let rest = String(text.dropFirst(indent)).wrapped(toColumns: width - indent)
        return rest.enumerated().map { index, piece in
            let before = index == 0 ? String(text.prefix(indent)) : String(repeating: " ", count: indent)
            return StyledLine(before + piece, isSource ? .dim : isDecision ? .plain : .bold)
        }
    }

    /// A line of the tail: the time, and the states in their colours.
    private static func event(_ text: String, width: Int) -> StyledLine {
        var line = StyledLine()
        // Columns have no room on a small screen.
        let isNarrow = width < columnsMin
        let all = text.printable.split(separator: " ", omittingEmptySubsequences: false)
        let words = all.enumerated().filter { !isNarrow || !$1.isEmpty || ($0 > 0 && !all[$0 - 1].isEmpty) }.map(\.1)
        for (index, word) in words.enumerated() {
            if index > 0 { line.add(" ") }
            let ink = Ink.state(String(word))
            line.add(String(word), index == 0 ? .dim : ink)
        }
        return line.fitted(to: width)
    }

    /// A tail on a screen of fewer columns than this has no columns of its own.
    private static let columnsMin = 110

    private static let help: [StyledLine] = {
        func line(_ keys: String, _ text: String) -> StyledLine {
            var line = StyledLine("  " + keys.padded(to: 18), .key)
            line.add(text)
            return line
        }
        return [
            line("1 … 6, Tab", "problems, activities, controls, widgets, providers, subscribers"),
            line("↑ ↓ PgUp PgDn g G", "select a row"),
            line("Enter", "its details, kept up to date"),
            line("e", "explain: why it is as it is, each decision with its rule"),
            line("t", "tail: its events as they happen; T: those of all"),
            line("E, D, R", "end, dismiss, reload the row, once y confirms it; with --write"),
            line("/", "filter: words that stand anywhere in a row, and name=value:"),
            line("", "state=stale  key=order-7  type=Delivery  device=phone-1"),
            line("", "app=com.example.pizza  family=systemSmall, as in --filter of the"),
            line("", "lists, but a beginning until Enter; or all of it as there:"),
            line("", "state!=ended and key~order-*"),
            line("Esc", "take the filter away; leave a panel"),
            line("s S, r", "sort by the next or former column; reverse"),
            line("p, Space", "pause, so that nothing moves; again to go on"),
            line("Ctrl-L", "draw the screen anew"),
            line("q, Ctrl-C", "quit; q in a panel leaves only that"),
            StyledLine(),
            line("lateness", "how long after their date timers fired; commit: what the store takes;"),
            line("", "answer: from a command's receipt to its answer. Of the last minute,"),
            line("", "where anything happened then, else since the start. In ms."),
            line("lag", "events that a subscriber has yet to take, as it reports itself"),
        ]
    }()
}
