import IsletClient

/// Events as lines for people: time, what, the transition, its cause, and what comes next.
struct EventLines {
    private let style: Style
    /// Where the content is cut.
    private let contentWidth = 60
    private var date = ""
    private var nameWidth = 0

    /// Names longer than this do not push the columns of the other lines aside.
    private static let nameWidthMax = 48

    init(style: Style) {
        self.style = style
    }

    /// The line of an event, after one with the date where that is another than before.
    ///
    /// - Parameters:
    ///   - name: what the person calls the activity.
    ///   - next: its next deadline, where the event does not carry one.
    mutating func lines(_ event: StreamEvent, name: String, next known: Deadline? = nil) -> [String] {
        var lines: [String] = []
        if TimeText.date(event.at) != date {
            date = TimeText.date(event.at)
            lines.append(style.dim("\(TimeText.dateWithWeekday(event.at)) UTC"))
        }
        nameWidth = max(nameWidth, min(name.count, Self.nameWidthMax))

        var notes: [String] = []
        if let next = event.patch["next"] == nil ? known : event.patch["next"].flatMap(Deadline.init),
            event.to?.isListed != false
        {
            notes.append(TimeText.deadline(next.cause, at: next.at, now: event.at))
        }
        if let late = event.lateBy, late >= 1_000 { notes.append("late by \(TimeText.span(late))") }
        if let revision = event.revision { notes.append("rev \(revision)") }
        let content = event.patch["contentState"].map { "  " + style.dim($0.description.shortened(to: contentWidth)) }
        lines.append(
            style.dim(TimeText.clock(event.at)) + "  " + name.padded(to: nameWidth) + "  " + transition(event) + "  "
                + cause(event).padded(to: 15) + "  " + notes.joined(separator: ", ") + (content ?? ""))
        return lines
    }

    /// `active → stale`, coloured and of one width.
    private func transition(_ event: StreamEvent) -> String {
        let to = event.object["to"]?.string ?? event.name
        let from = event.object["from"]?.string
        let shownTo = style.of(event.to, to)
        let plain = from.map { $0 == to ? to : "\($0) → \(to)" } ?? "→ \(to)"
        let shown = from.map { $0 == to ? shownTo : "\(style.of(event.from, $0)) → \(shownTo)" } ?? "→ \(shownTo)"
        return shown + String(repeating: " ", count: max(0, Self.transitionWidth - plain.count))
    }

    /// The cause; a command is told by what it did.
    private func cause(_ event: StreamEvent) -> String {
        guard event.cause == "command" || event.cause == "push" else { return event.cause ?? "" }
        let verb = event.name.split(separator: ".").last.map(String.init) ?? event.name
        return event.cause == "push" ? "\(verb) (push)" : verb
    }

    /// `pending → dismissed`.
    private static let transitionWidth = 19
}
