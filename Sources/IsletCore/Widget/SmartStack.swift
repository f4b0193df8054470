/// What decided the place of a widget in its device's Smart Stack (apple-semantics 5).
package enum StackRule: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// The relevance of its entry, among those of its own timeline.
    case entryRelevance
    /// The relevance that its provider gave to its kind: the place in that list.
    case widgetRelevance
    /// When it was placed.
    case placement
}

/// One row of a Smart Stack.
package struct StackRow: Equatable, Sendable {
    package var id: EntityID
    package var kind: DeclaredKindID
    package var rule: StackRule
    /// For `entryRelevance`: 1 is the highest of its timeline.
    package var score: Float?
    /// When what decided ends by itself; nil: with something else.
    package var until: Instant?
}

/// The order of the widgets on one device.
struct SmartStack {
    /// Only the widgets that were placed first take part.
    static let maximum = 64

    /// What decides the place of one widget.
    struct Candidate: Equatable, Sendable {
        var slot: Slot
        var id: EntityID
        var kind: DeclaredKindID
        var addedAt: Instant
        var ordinal: UInt64
        /// Of its entry, in effect now; 0: none.
        var score: Float = 0
        var scoreUntil = Instant.never
        /// The place in the list of its kind's relevance, in effect now.
        var place: Int?
        var placeUntil = Instant.never
        /// When any of these changes by itself.
        var changesAt = Instant.never

        var rule: StackRule { score > 0 ? .entryRelevance : place != nil ? .widgetRelevance : .placement }

        var row: StackRow {
            let rule = rule
            let until: Instant =
                switch rule {
                case .entryRelevance: scoreUntil
                case .widgetRelevance: placeUntil
                case .placement: .never
                }
            return StackRow(
                id: id, kind: kind, rule: rule, score: rule == .entryRelevance ? score : nil,
                until: until.isSet ? until : nil)
        }

        /// Whether it comes before another one.
        func isBefore(_ other: Candidate) -> Bool {
            let (rule, otherRule) = (rule, other.rule)
            if rule != otherRule { return rule.rawValue < otherRule.rawValue }
            switch rule {
            case .entryRelevance: if score != other.score { return score > other.score }
            case .widgetRelevance: if place != other.place { return (place ?? 0) < (other.place ?? 0) }
            case .placement: break
            }
            return (addedAt, ordinal, id) < (other.addedAt, other.ordinal, other.id)
        }
    }

    static func order(_ candidates: [Candidate]) -> [Candidate] { candidates.sorted { $0.isBefore($1) } }
}

/// A stack of which many widgets change at once.
struct UnsettledStack: Sendable {
    var device: DeviceID
    /// Whether any of them may have changed its order.
    var isMoved = false
    /// The earliest date that made one of them, where one did.
    var due = Instant.never
}

extension WidgetRelevance {
    func isInEffect(at now: Instant) -> Bool { from.map { $0 <= now } ?? true && to.map { now < $0 } ?? true }
}
