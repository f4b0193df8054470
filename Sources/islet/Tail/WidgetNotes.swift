import IsletClient

/// What the events of widgets and taps say beside the transition and what comes next.
enum WidgetNotes {
    /// The notes of an event, which is of any family.
    ///
    /// - Parameter count: how many entries the timeline has, where that is known.
    static func notes(_ event: StreamEvent, entries count: Int64?) -> [String] {
        var notes: [String] = []
        if let family = event.patch["family"]?.string { notes.append(family) }
        if let exempt = event.object["exempt"]?.string { notes.append("not charged: \(exempt)") }
        if event.name == "widget.timeline", let count {
            notes.append("\(count) \(count == 1 ? "entry" : "entries")")
        }
        if event.name == "widget.entry", let index = event.patch["entryIndex"]?.integer {
            notes.append("entry \(index + 1)" + (count.map { " of \($0)" } ?? ""))
        }
        notes += event.object["rules"]?.elements?.compactMap(\.string).map(rule) ?? []
        if let held = event.patch["held"]?.object, let until = held["until"]?.integer {
            let span = TimeText.distance(to: until, now: event.at)
            notes.append("held until \(TimeText.clock(until)), \(span), \(WidgetText.reason(held))")
        }
        if event.name == "widget.rotated" || event.patch["isOnTop"]?.bool == true {
            notes.append(event.patch["isOnTop"]?.bool == true ? "on top of the stack" : "no longer on top")
        }
        if event.patch["needsLogin"]?.bool == true { notes.append("asks for a login") }
        if let interaction = event.object["interaction"]?.object { notes += self.interaction(interaction) }
        return notes
    }

    /// What the event's next deadline adds, where the notes have not told it.
    static func tellsNext(_ event: StreamEvent) -> Bool {
        event.patch["held"]?.object != nil && event.patch["next"]?.object?["cause"]?.string == "held"
    }

    /// Such as `opens pizza://order/7`, `link tomorrow`, `action checkIn {"seat":"12A"}`.
    private static func interaction(_ interaction: RawObject) -> [String] {
        var parts: [String] = []
        if let link = interaction["link"]?.string { parts.append("link \(link)") }
        if let action = interaction["action"]?.string {
            parts.append("action \(action)" + (interaction["parameters"].map { " \($0)" } ?? ""))
        }
        if let url = interaction["url"]?.string { parts.append("opens \(url)") }
        return parts
    }

    /// What the service did to entries.
    private static func rule(_ name: String) -> String {
        switch name {
        case "pastEntriesDropped": "past entries dropped"
        case "entriesCoalesced": "entries coalesced"
        case let other: other
        }
    }
}
