import IsletClient

/// What keys do.
extension TopModel {
    mutating func press(_ key: Key) -> [Effect] {
        if draft != nil { return type(key) }
        if key == .control("l") { return [.repaint] }
        if panel != nil { return pressInPanel(key) }
        outcome = nil
        if let action = asked {
            asked = nil
            guard key == .character("y") else { return [] }
            outcome = "\(action.name): …"
            return [.change(action)]
        }
        switch key {
        case .character("q"), .character("Q"): return [.quit]
        case .character("?"), .character("h"): show(.help)
        case .character("/"): draft = filter.text.isEmpty ? "" : filter.text + " "
        case .character("p"), .character(" "): isPaused.toggle()
        case .character("s"), .character(">"): changeSort(by: 1)
        case .character("S"), .character("<"): changeSort(by: -1)
        case .character("r"):
            sorts[tab, default: TopSort(column: tab.standardSort)].isReversed.toggle()
            arrange()
        case .character("e"): open(.explanation)
        case .enter: open(.details)
        case .character("E"): ask(.end)
        case .character("D"): ask(.dismiss)
        case .character("R"): ask(.reload)
        case .character("t"): return tail(isAll: false)
        case .character("T"): return tail(isAll: true)
        case .escape: setFilter("")
        case .tab, .right: move(toTab: tab.place + 1)
        case .backTab, .left: move(toTab: tab.place - 1)
        case .character(let digit) where ("1"..."6").contains(digit): move(toTab: (digit.wholeNumberValue ?? 1) - 1)
        case .up, .character("k"): select(selectedIndex - 1)
        case .down, .character("j"): select(selectedIndex + 1)
        case .pageUp: select(selectedIndex - TopScreen.bodyHeight(size))
        case .pageDown: select(selectedIndex + TopScreen.bodyHeight(size))
        case .home, .character("g"): select(0)
        case .end, .character("G"): select(rows.count - 1)
        case .character, .control, .backspace, .delete: break
        }
        return []
    }

    // MARK: Changes

    private mutating func ask(_ verb: TopAction.Verb) {
        guard mayWrite else {
            outcome = "nothing is changed from here: start it with --write"
            return
        }
        guard let row = selectedRow else { return }
        asked = TopAction(verb, row, in: tab)
        if asked == nil { outcome = "\(tab.name(row.object)) is nothing to \(verb.words.present)" }
    }

    // MARK: The table

    private mutating func move(toTab number: Int) {
        let count = TopTab.allCases.count
        let next = TopTab.allCases[(number + count) % count]
        guard next != tab else { return }
        tab = next
        (selected, selectedIndex, top) = (nil, 0, 0)
        arrange()
    }

    private mutating func changeSort(by step: Int) {
        let titles = tab.columns.filter { $0.title != "KINDS" }.map(\.title)
        let index = titles.firstIndex(of: sort.column) ?? 0
        sorts[tab] = TopSort(column: titles[(index + step + titles.count) % titles.count])
        top = 0
        arrange()
    }

    private mutating func setFilter(_ text: String) {
        filter = TopFilter(text)
        (selected, selectedIndex, top) = (nil, 0, 0)
        arrange()
    }

    /// A key while a filter is typed, which takes effect with each.
    private mutating func type(_ key: Key) -> [Effect] {
        guard var text = draft else { return [] }
        complaint = nil
        switch key {
        case .enter:
            let words = text.split(separator: " ").joined(separator: " ")
            complaint = TopFilter(words).problem
            guard complaint == nil else { return [] }
            draft = nil
            setFilter(words)
            return []
        case .escape:
            draft = nil
            arrange()
            return []
        case .backspace where text.isEmpty:
            draft = nil
            setFilter("")
            return []
        case .backspace: text.removeLast()
        case .control("u"): text = ""
        case .control("w"):
            while text.last == " " { text.removeLast() }
            while let last = text.last, last != " " { text.removeLast() }
        case .character(let character) where text.count < TopFilter.lengthMax: text.append(character)
        case .up: select(selectedIndex - 1)
        case .down: select(selectedIndex + 1)
        case .character, .control, .delete, .tab, .backTab, .left, .right, .pageUp, .pageDown, .home, .end: break
        }
        draft = text
        top = 0
        arrange()
        return []
    }

    // MARK: Panels

    private mutating func show(_ panel: Panel) {
        self.panel = panel
        panelTop = 0
    }

    private mutating func open(_ aspect: TopSubject.Aspect) {
        guard let row = selectedRow else { return }
        let about = tab.subject(of: row.object)
        guard aspect == .details || about.family != nil else { return }
        let identity = about == tab ? row.identity : about.identity(row.object)
        let subject = TopSubject(
            aspect: aspect, tab: about, app: row.object["app"]?.string ?? "", identity: identity,
            kind: row.object[tab.kindMember]?.string, name: tab.name(row.object))
        // What is no entity has said everything about itself.
        let lines = about.family == nil ? EntityText.memberLines(row.object, now: reading?.figures.now ?? 0) : nil
        show(.subject(subject, lines: lines))
    }

    private mutating func tail(isAll: Bool) -> [Effect] {
        if isAll {
            show(.tail(title: app.map { "everything of \($0)" } ?? "everything", lines: nil))
            panelTop = nil
            return [.follow(prefix: app.map { $0 + "/" } ?? "")]
        }
        guard let row = selectedRow, let family = tab.subject(of: row.object).family,
            let app = row.object["app"]?.string, let kind = row.object[tab.kindMember]?.string, let id = row.object["id"]?.string
        else { return [] }
        show(.tail(title: tab.name(row.object), lines: nil))
        panelTop = nil
        return [.follow(prefix: "\(app)/\(family)/\(kind)/\(id)")]
    }

    private mutating func pressInPanel(_ key: Key) -> [Effect] {
        let count = TopScreen.panelLines(self).count
        let height = TopScreen.panelHeight(size)
        let last = max(0, count - height)
        let isTail = if case .tail = panel { true } else { false }
        func scrolled(to line: Int) -> Int? { isTail && line >= last ? nil : max(0, min(line, last)) }
        let top = panelTop ?? last
        switch key {
        case .escape, .character("q"), .left, .backspace, .enter: return close()
        case .up, .character("k"): panelTop = scrolled(to: top - 1)
        case .down, .character("j"): panelTop = scrolled(to: top + 1)
        case .pageUp: panelTop = scrolled(to: top - height)
        case .pageDown, .character(" "): panelTop = scrolled(to: top + height)
        case .home, .character("g"): panelTop = scrolled(to: 0)
        case .end, .character("G"): panelTop = scrolled(to: last)
        case .character("p"): isPaused.toggle()
        case .character("?") where panel != .help:
            let effects = close()
            show(.help)
            return effects
        case .character("e"), .character("d"), .character("t"):
            // Of what the panel shows: its row may have gone from the table, as one that is no problem any more.
            guard case .subject(var subject, _) = panel, let family = subject.tab.family else { break }
            if key == .character("t") {
                guard let kind = subject.kind else { break }
                show(.tail(title: subject.name, lines: nil))
                panelTop = nil
                return [.follow(prefix: "\(subject.app)/\(family)/\(kind)/\(subject.identity)")]
            }
            subject.aspect = key == .character("e") ? .explanation : .details
            show(.subject(subject, lines: nil))
        case .character, .control, .delete, .tab, .backTab, .right: break
        }
        return []
    }

    private mutating func close() -> [Effect] {
        let isTail = if case .tail = panel { true } else { false }
        panel = nil
        return isTail ? [.unfollow] : []
    }
}
