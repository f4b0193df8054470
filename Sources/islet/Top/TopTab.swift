import IsletClient

/// What a top lists.
///
/// Without a raw value, which help would show instead of its name.
package enum TopTab: CaseIterable, Sendable {
    case problems, activities, controls, widgets, providers, subscribers

    /// Its place from the left, from 0.
    var place: Int {
        switch self {
        case .problems: 0
        case .activities: 1
        case .controls: 2
        case .widgets: 3
        case .providers: 4
        case .subscribers: 5
        }
    }

    var title: String {
        switch self {
        case .problems: "Problems"
        case .activities: "Activities"
        case .controls: "Controls"
        case .widgets: "Widgets"
        case .providers: "Providers"
        case .subscribers: "Subscribers"
        }
    }

    /// The family on the wire; nil for what is no entity.
    var family: String? {
        switch self {
        case .activities: "activity"
        case .controls: "control"
        case .widgets: "widget"
        case .problems, .providers, .subscribers: nil
        }
    }

    /// The op that lists what is no entity; nil for entities.
    var listOp: String? {
        switch self {
        case .activities, .controls, .widgets: nil
        case .problems: "problem.list"
        case .providers: "provider.list"
        case .subscribers: "subscriber.list"
        }
    }

    /// The member of the answer that has the rows.
    var member: String {
        switch self {
        case .problems: "problems"
        case .activities: Activities.plural
        case .controls: Controls.plural
        case .widgets: Widgets.plural
        case .providers: "providers"
        case .subscribers: "subscribers"
        }
    }

    /// Where an entity's kind stands in it, and in a filter: `type` or `kind`.
    var kindMember: String { self == .activities ? "type" : "kind" }

    /// How many there are, by the service's figures; nil where they do not say it.
    func count(in figures: TopFigures) -> Int64? {
        switch self {
        case .problems: nil
        // Dismissed ones are still readable, but listed no more.
        case .activities: figures.activities.total.subtractingClamped(figures.activities["dismissed"] ?? 0)
        case .controls: figures.controls.total
        case .widgets: figures.widgets.total
        case .providers: figures.providers
        case .subscribers: figures.subscribers
        }
    }

    /// The states that a filter may ask the service for.
    var states: Set<String> {
        switch self {
        case .activities: ["pending", "active", "stale", "ended", "dismissed"]
        case .controls: ["loading", "preview", "shown", "reloading", "acting", "authenticating", "disabled"]
        case .widgets: ["loading", "placeholder", "shown", "reloading", "acting"]
        case .problems, .providers, .subscribers: []
        }
    }

    /// What is called by a row.
    func name(_ row: RawObject) -> String {
        switch self {
        case .problems: ProblemsText.name(row)
        case .activities:
            row["key"]?.string ?? EntityText.shortID(row["id"]?.string ?? "?")
        case .controls, .widgets: PlacedText.name(row)
        case .providers: EntityText.shortID(row["id"]?.string ?? "?")
        case .subscribers: EntityText.shortID(row["nonce"]?.string ?? "?")
        }
    }

    /// What tells a row from all others.
    func identity(_ row: RawObject) -> String {
        switch self {
        case .problems:
            ["what", "family", "app", "kind", "id", "text"].map { row[$0]?.string ?? "" }.joined(separator: "\n")
        case .activities, .controls, .widgets, .providers: row["id"]?.string ?? row.description
        case .subscribers: row["nonce"]?.string ?? row.description
        }
    }

    /// The tab of what a row is about: a problem's is that of its entity, where it has one.
    func subject(of row: RawObject) -> TopTab {
        switch self {
        case .activities, .controls, .widgets, .providers, .subscribers: self
        case .problems:
            row["id"] == nil ? self : TopTab.allCases.first { $0.family != nil && $0.family == row["family"]?.string } ?? self
        }
    }
}
