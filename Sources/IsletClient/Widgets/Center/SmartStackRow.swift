public import FoundationEssentials

/// One place in the Smart Stack of a device.
public struct SmartStackRow: Sendable, Hashable, Identifiable {
    /// The widget.
    public let id: String
    /// The app that it is of.
    public let app: String
    /// The kind that it is of.
    public let kind: String
    /// What decided its place; nil where a later service has a rule that this library does not know.
    public let rule: Rule?
    /// For `entryRelevance`: 1 is the highest of its own timeline.
    public let score: Double?
    /// When what decided ends by itself; nil: with something else.
    public let until: Date?

    /// What decides a place, the stronger first.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// The relevance of its entry, among those of its own timeline.
        case entryRelevance
        /// The place in the list of its kind's relevance.
        case widgetRelevance
        /// When it was placed.
        case placement
    }

    /// Reads an answer's; nil where it names no widget.
    init?(_ members: RawObject) {
        guard let id = members["id"]?.string, let app = members["app"]?.string, let kind = members["kind"]?.string
        else { return nil }
        (self.id, self.app, self.kind) = (id, app, kind)
        rule = members["rule"]?.string.flatMap(Rule.init(rawValue:))
        score = members["score"]?.double
        until = members["until"]?.integer.map(Date.init(milliseconds:))
    }
}
