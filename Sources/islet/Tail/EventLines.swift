package import IsletClient

/// Events as lines for people: time, what, the transition, its cause, and what comes next.
package struct EventLines {
    private let style: Style
    /// How many times as fast as real time the service's time runs: what it is late by is told in real time.
    private let speed: Double
    /// Where the content is cut.
    private let contentWidth = 60
    private var date = ""
    private var nameWidth = 0
    /// How many entries the timeline of each widget has: events say it where it changes.
    private var entryCounts: [String: Int64] = [:]

    /// Names longer than this do not push the columns of the other lines aside.
    private static let nameWidthMax = 48
    /// Beyond this all counts are forgotten.
    private static let countsMax = 65_536

    /// Lines of nothing yet.
    package init(style: Style, speed: Double) {
        self.style = style
        self.speed = speed
    }

    /// The line of an event, after one with the date where that is another than before.
    ///
    /// - Parameters:
    ///   - name: what the person calls the entity.
    ///   - next: its next deadline, where the event does not carry one.
    ///   - entries: how many entries a widget's timeline has, where the event does not say it.
    package mutating func lines(
        _ event: StreamEvent, name: String, next known: Deadline? = nil, entries: Int64? = nil
    ) -> [String] {
        var lines: [String] = []
        if TimeText.date(event.at) != date {
            date = TimeText.date(event.at)
            lines.append(style.dim("\(TimeText.dateWithWeekday(event.at)) UTC"))
        }
        let name = name.printable
        nameWidth = max(nameWidth, min(name.count, Self.nameWidthMax))
        if let id = event.id, let count = event.patch["entries"].map(\.integer) ?? entries {
            if entryCounts.count >= Self.countsMax { entryCounts = [:] }
            entryCounts[id] = count
        }

        let content = content(event).map { "  " + style.dim($0.printable.shortened(to: contentWidth)) }
        lines.append(
            style.dim(TimeText.clock(event.at)) + "  " + name.padded(to: nameWidth) + "  " + transition(event) + "  "
                + cause(event).printable.padded(to: 15) + "  " + notes(event, known).joined(separator: ", ")
                + (content ?? ""))
        return lines
    }

    /// `active → stale`, coloured and of one width.
    private func transition(_ event: StreamEvent) -> String {
        guard event.object["notification"] == nil else { return "signal".padded(to: Self.transitionWidth) }
        let to = (event.object["to"]?.string ?? event.name).printable
        let from = event.object["from"]?.string?.printable
        let shownTo = style.of(state: to, to)
        let plain = from.map { $0 == to ? to : "\($0) → \(to)" } ?? "→ \(to)"
        let shown = from.map { $0 == to ? shownTo : "\(style.of(state: $0, $0)) → \(shownTo)" } ?? "→ \(shownTo)"
        return shown + String(repeating: " ", count: max(0, Self.transitionWidth - plain.count))
    }

    /// The cause; a command is told by what it did, and a person's by what a person does with it.
    private func cause(_ event: StreamEvent) -> String {
        let verb = event.name.split(separator: ".").last.map(String.init) ?? event.name
        if let notification = event.object["notification"]?.object { return notification["name"]?.string ?? verb }
        switch event.cause {
        case _ where verb == "tapped": return "tap"
        case "command": return verb
        case "push": return "\(verb) (push)"
        case "person" where Self.tapVerbs.contains(verb): return "tap"
        case let cause: return cause ?? ""
        }
    }

    /// What a person brings about by tapping.
    private static let tapVerbs: Set = ["acting", "authenticating"]

    /// What a control shows from now on, what is to be said of a widget, what failed, what comes next, and how late it
    /// was.
    private func notes(_ event: StreamEvent, _ known: Deadline?) -> [String] {
        var notes: [String] = []
        if let value = event.patch["value"], !value.isNull {
            let isPreview = event.patch["valueSource"]?.string == "preview"
            let isShared = event.patch["group"] != nil
            let text = isShared ? value.description.printable.shortened(to: 40) : ControlText.text(value)
            notes.append(text + (isPreview ? " (preview)" : ""))
        }
        let notification = event.object["notification"]?.object
        if let by = (notification ?? event.patch)["by"]?.string { notes.append("by \(by.printable)") }
        if event.patch["isRedacted"]?.bool == true { notes.append("hidden") }
        notes += WidgetNotes.notes(event, entries: event.id.flatMap { entryCounts[$0] }).map(\.printable)
        if let failure = PlacedText.failure(event.patch) { notes.append(style.wrong(failure)) }
        if let next = event.patch["next"] == nil ? known : event.patch["next"].flatMap(Deadline.init), !event.isLast,
            !WidgetNotes.tellsNext(event)
        {
            notes.append(TimeText.deadline(next.cause, at: next.at, now: event.at))
        }
        if let late = event.lateBy.map({ Int64(exactly: (Double($0) / speed).rounded(.down)) ?? .max }), late >= 1_000 {
            notes.append("late by \(TimeText.span(late))")
        }
        if let revision = event.revision { notes.append("rev \(revision)") }
        return notes
    }

    /// An activity's content; the configuration of what is placed, a control's status, a widget's entry.
    private func content(_ event: StreamEvent) -> String? {
        let parts = [
            event.patch["contentState"]?.description,
            event.patch["configuration"].flatMap { $0.isNull ? nil : $0.description },
            event.patch["status"]?.string.map { "“\($0)”" }, event.patch["entry"]?.object?["content"]?.description,
        ]
        let text = parts.compactMap(\.self).joined(separator: "  ")
        return text.isEmpty ? nil : text
    }

    /// `pending → dismissed`, `acting → reloading`.
    private static let transitionWidth = 19
}
