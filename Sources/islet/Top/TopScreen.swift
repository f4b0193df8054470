import IsletClient

/// What a top shows: a function of the model and the size of the screen.
package enum TopScreen {
    /// The lines of the whole screen, at most as many as it has rows.
    package static func lines(_ model: TopModel) -> [StyledLine] {
        let size = model.size
        var lines = header(model)
        if model.panel != nil {
            let all = panelLines(model)
            let height = panelHeight(size)
            let top = min(model.panelTop ?? .max, max(0, all.count - height))
            lines.append(panelTitle(model))
            lines += all.dropFirst(top).prefix(height)
            lines = filled(lines, to: size.rows - 1)
            lines.append(panelFooter(model, top: top, height: height, count: all.count))
        } else {
            lines.append(tabs(model))
            lines += table(model)
            lines = filled(lines, to: size.rows - 2)
            lines.append(status(model))
            lines.append(footer(model))
        }
        return lines.suffix(max(0, size.rows)).map { $0.fitted(to: size.columns) }
    }

    /// How many rows of the table there is room for.
    static func bodyHeight(_ size: ScreenSize) -> Int { max(0, size.rows - headerHeight(size) - 4) }

    /// How many lines of a panel there is room for.
    static func panelHeight(_ size: ScreenSize) -> Int { max(0, size.rows - headerHeight(size) - 2) }

    /// Small screens have fewer figures.
    static func headerHeight(_ size: ScreenSize) -> Int {
        switch size.rows {
        case 18...: 6
        case 13...17: 3
        case 8...12: 1
        case _: 0
        }
    }

    private static func filled(_ lines: [StyledLine], to height: Int) -> [StyledLine] {
        let height = max(0, height)
        return Array(lines.prefix(height)) + Array(repeating: StyledLine(), count: max(0, height - lines.count))
    }

    // MARK: The table

    /// `1 Problems 3  2 Activities 12 031  3 Controls 40 …`, the present one reversed.
    private static func tabs(_ model: TopModel) -> StyledLine {
        let whole = tabs(model, isNarrow: false)
        return whole.columns <= model.size.columns ? whole : tabs(model, isNarrow: true)
    }

    /// - Parameter isNarrow: whether there is room for the number of the present one alone.
    private static func tabs(_ model: TopModel, isNarrow: Bool) -> StyledLine {
        var line = StyledLine()
        for tab in TopTab.allCases {
            let isPresent = tab == model.tab
            let count = isNarrow && !isPresent ? "" : count(of: tab, model).map { " " + TopText.count($0) } ?? ""
            if !line.runs.isEmpty, !isNarrow { line.add(" ") }
            let title = isNarrow && tab == .subscribers ? "Subs" : tab.title
            let ink = isPresent ? Ink(isBold: true, isReverse: true) : Ink.plain
            line.add(" \(tab.place + 1) \(title)\(count) ", ink)
        }
        return line
    }

    /// How many there are; of problems only where they are what was asked for.
    private static func count(of tab: TopTab, _ model: TopModel) -> Int64? {
        guard let reading = model.reading else { return nil }
        return tab.count(in: reading.figures) ?? (reading.request.tab == tab ? reading.total : nil)
    }

    /// The head and the rows that are seen.
    static func table(_ model: TopModel, hasSelection: Bool = true) -> [StyledLine] {
        let width = model.size.columns
        let height = bodyHeight(model.size)
        guard !model.rows.isEmpty else { return [StyledLine()] + emptiness(model).map { StyledLine("  " + $0, .dim) } }
        let columns = model.tab.columns
        let layout = TopLayout(columns, rows: model.rows, width: width)
        var lines = [head(columns, layout, model.sort)]
        for (index, row) in model.rows.enumerated().dropFirst(model.top).prefix(height) {
            let line = line(row, columns, layout)
            lines.append(hasSelection && index == model.selectedIndex ? line.reversed(width: width) : line)
        }
        return lines
    }

    private static func head(_ columns: [TopColumn], _ layout: TopLayout, _ sort: TopSort) -> StyledLine {
        var line = StyledLine()
        for (place, index) in layout.columns.enumerated() {
            let column = columns[index]
            let isSorted = column.title == sort.column
            let arrow = column.isDescending != sort.isReversed ? "▼" : "▲"
            if place > 0 { line.add(String(repeating: " ", count: TopLayout.gap)) }
            let title = isSorted && column.title.count < layout.widths[place] ? column.title + arrow : column.title
            line.addCell(
                title, width: layout.widths[place], isRight: column.isRight, isSorted ? Ink(isBold: true) : .dim)
        }
        return line
    }

    private static func line(_ row: TopRow, _ columns: [TopColumn], _ layout: TopLayout) -> StyledLine {
        var line = StyledLine()
        for (place, index) in layout.columns.enumerated() {
            if place > 0 { line.add(String(repeating: " ", count: TopLayout.gap)) }
            line.addCell(
                row.cells[index], width: layout.widths[place], isRight: columns[index].isRight,
                ink(of: columns[index], row))
        }
        return line
    }

    private static func ink(of column: TopColumn, _ row: TopRow) -> Ink {
        switch column.title {
        case "SEVERITY" where row.object["severity"]?.string == "critical": .wrong
        case "SEVERITY" where row.object["severity"]?.string == "warning": .warning
        case "STATE" where row.object["isLagging"]?.bool == true: .warning
        case "STATE" where row.state == "live": .good
        case "STATE" where ["open", "halfOpen", "draining"].contains(row.state): .warning
        case "STATE": .state(row.state)
        case "NEXT" where PlacedText.failure(row.object) != nil: Ink(colour: 31)
        case "FAILED" where (row.object["failures"]?.integer ?? 0) > 0: .warning
        case _: .plain
        }
    }

    /// Why there are no rows.
    private static func emptiness(_ model: TopModel) -> [String] {
        if case .connecting(let since) = model.link {
            let islet = Invocation.name
            return [
                "waiting for \(model.endpoint) … \(TimeText.span((model.now - since) / 1_000 * 1_000))", "",
                "Is it running? Start one:", "  \(islet) serve", "  \(islet) dev      with a demo",
            ]
        }
        guard let reading = model.reading, reading.request.tab == model.tab else { return ["…"] }
        if let note = reading.note { return [note] }
        let what = model.tab.title.lowercased()
        if reading.unaskedApps > 0 {
            let fitting = model.draft != nil || !model.filter.isEmpty ? " that fit the filter" : ""
            return ["the \(TopText.count(Int64(reading.apps))) apps that were asked have no \(what)\(fitting)"]
        }
        if model.draft != nil || !model.filter.isEmpty {
            guard isCut(model) else { return ["no \(what) fit the filter; Esc takes it away"] }
            return [
                "none of the \(TopText.count(Int64(reading.rows.count))) \(what) that were looked through fit; "
                    + "Esc takes the filter away",
            ] + furtherLooks(model.tab)
        }
        return [model.tab == .problems ? "nothing fails, waits too long, is stale or lags" : "there are no \(what) now"]
    }

    /// How more rows are looked through than those that were asked for.
    private static func furtherLooks(_ tab: TopTab) -> [String] {
        switch tab {
        case .activities, .controls, .widgets: ["all are looked through for state=, type=, device= and key="]
        case .problems: ["app= asks for those of one app; `\(Invocation.name) problems --filter` looks through more"]
        case .providers, .subscribers: []
        }
    }

    // MARK: The two lines at the bottom

    private static func status(_ model: TopModel) -> StyledLine {
        if let draft = model.draft {
            var line = StyledLine("/", .key)
            line.add(draft)
            line.add(" ", Ink(isReverse: true))
            if let complaint = model.complaint {
                line.add("  \(complaint)", .wrong)
            } else {
                line.add("  state=stale  key=order-  device=…  or any text", .dim)
            }
            return line
        }
        if let action = model.asked { return StyledLine(action.question, .warning) }
        if let outcome = model.outcome { return StyledLine(outcome, .bold) }
        if case .away(_, let why) = model.link {
            return StyledLine("\(why); trying again. What stands here is old. (\(model.endpoint))", .wrong)
        }
        var parts = [shown(model)].compactMap(\.self)
        // What was not asked for may well come before.
        let isNext = model.sort.column == "NEXT" && !model.sort.isReversed && model.reading?.hasSoonest == true
        let among = isCut(model) && !isNext ? " among these" : ""
        parts.append("by \(model.sort.column.lowercased())\(model.sort.isReversed ? ", reversed" : "")\(among)")
        if !model.filter.isEmpty { parts.append("filter \(model.filter.text)") }
        if let unasked = unasked(model) { parts.append(unasked) }
        if let reading = model.reading, reading.request.tab == model.tab, let note = reading.note, !model.rows.isEmpty {
            parts.append(note)
        }
        return StyledLine(parts.joined(separator: " · "), .dim)
    }

    /// Whether there are more rows than were asked for.
    private static func isCut(_ model: TopModel) -> Bool {
        guard let reading = model.reading, let total = reading.total else { return false }
        return total > Int64(reading.rows.count)
    }

    /// `showing 200 of 12 031`.
    static func shown(_ model: TopModel) -> String? {
        guard let reading = model.reading, reading.request.tab == model.tab else { return nil }
        let count = model.rows.count
        let total = max(reading.total ?? Int64(reading.rows.count), Int64(reading.rows.count))
        let about = reading.isExact ? "" : "about "
        let isCut = total > Int64(reading.rows.count)
        if count < reading.rows.count, isCut {
            let through = TopText.count(Int64(reading.rows.count))
            return "showing \(count) found among \(through) of \(about)\(TopText.count(total))"
        }
        return "showing \(TopText.count(Int64(count))) of \(about)\(TopText.count(total))"
    }

    /// How many rows are shown, and what was not looked at: all that a screen without its last lines says of that.
    static func told(_ model: TopModel) -> String? {
        let parts = [shown(model), unasked(model)].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " · ")
    }

    /// What was not looked at, where that is so.
    private static func unasked(_ model: TopModel) -> String? {
        guard let reading = model.reading, reading.request.tab == model.tab, reading.unaskedApps > 0 else { return nil }
        return "\(TopText.count(Int64(reading.unaskedApps))) more apps not asked: name one with app=…"
    }

    private static func footer(_ model: TopModel) -> StyledLine {
        if model.draft != nil {
            return legend(["Enter": "keep", "Esc": "as it was", "Ctrl-U": "clear", "Ctrl-W": "delete a word"])
        }
        if model.asked != nil { return legend(["y": "yes", "any other key": "no"]) }
        let pause = model.isPaused ? "go on" : "pause"
        return model.mayWrite
            ? legend([
                "q": "quit", "?": "help", "/": "filter", "Enter": "details", "e": "explain", "t": "tail", "E": "end",
                "D": "dismiss", "R": "reload",
            ])
            : legend([
                "q": "quit", "/": "filter", "s": "sort", "Enter": "details", "e": "explain", "t": "tail", "p": pause,
                "?": "help",
            ])
    }

    static func legend(_ keys: KeyValuePairs<String, String>) -> StyledLine {
        var line = StyledLine()
        for (key, text) in keys {
            if !line.runs.isEmpty { line.add("  ") }
            line.add(key, Ink(colour: Ink.key.colour, isBold: true))
            line.add(" " + text, .dim)
        }
        return line
    }
}
