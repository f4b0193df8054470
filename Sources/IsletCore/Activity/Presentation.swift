/// How one device shows its activities (apple-semantics 2.1 and feature rows 26 and 27).
///
/// The highest relevance comes first, and of equals the one that started first. The Lock Screen shows all that are
/// visible; the Dynamic Island only what runs: one alone is compact, of several the first two are the minimal pair.
package struct Presentation: Equatable, Sendable {
    /// How the Dynamic Island shows it.
    package enum DynamicIsland: UInt8, Sendable {
        case compact
        case minimal
    }

    /// What decides the order.
    package struct Candidate: Sendable {
        package var slot: Slot
        package var state: ActivityState
        package var relevanceScore: Double
        package var startedAt: Instant
        /// The order of starting, for those of one instant.
        package var ordinal: UInt64

        package init(slot: Slot, state: ActivityState, relevanceScore: Double, startedAt: Instant, ordinal: UInt64) {
            self.slot = slot
            self.state = state
            self.relevanceScore = relevanceScore
            self.startedAt = startedAt
            self.ordinal = ordinal
        }
    }

    package var slot: Slot
    /// The place on the Lock Screen, from 1; nil for a pending one, which nobody sees yet.
    package var lockScreen: Int?
    package var dynamicIsland: DynamicIsland?

    /// All candidates in the order of presentation, pending ones last.
    package static func order(_ candidates: [Candidate]) -> [Presentation] {
        let sorted = candidates.sorted { left, right in
            if (left.state == .pending) != (right.state == .pending) { return right.state == .pending }
            if left.relevanceScore != right.relevanceScore { return left.relevanceScore > right.relevanceScore }
            return (left.startedAt, left.ordinal) < (right.startedAt, right.ordinal)
        }
        let running = sorted.filter { $0.state == .active || $0.state == .stale }.count
        var shownInIsland = 0
        return sorted.enumerated().map { index, candidate in
            var presentation = Presentation(slot: candidate.slot)
            if candidate.state != .pending { presentation.lockScreen = index + 1 }
            if candidate.state == .active || candidate.state == .stale, shownInIsland < 2 {
                shownInIsland += 1
                presentation.dynamicIsland = running == 1 ? .compact : .minimal
            }
            return presentation
        }
    }

    private init(slot: Slot) {
        self.slot = slot
    }
}
