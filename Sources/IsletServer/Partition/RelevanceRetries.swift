import IsletCore

/// Kinds whose relevance could not be had, and when each is asked for again: as timelines are, later with each failure.
struct RelevanceRetries {
    /// By kind, in milliseconds of the domain's clock.
    private var due = IndexedHeap()
    /// How often in a row it could not be had.
    private var failures: [DeclaredKindID: Int] = [:]

    /// When the next one is asked for.
    var next: Instant? { due.first.map { Instant($0.key) } }

    /// A kind's relevance could not be had.
    mutating func failed(_ kind: DeclaredKindID, at now: Instant, _ rules: RuleSet) {
        let before = failures[kind] ?? 0
        failures[kind] = before + 1
        // A kind has no id of its own by which its share of the spread could be told.
        let span = Engine.backoff(
            EntityID(high: 0, low: UInt64(kind)), failures: before, first: rules.widgetRetryFirst,
            longest: rules.widgetRetryLongest)
        due.set(kind, to: (now + span).milliseconds)
    }

    /// It is asked for now, whatever the reason; how often it failed is still known.
    mutating func asked(_ kind: DeclaredKindID) { due.remove(kind) }

    /// It was answered, or there is nobody to ask, or what failed was about a declaration that holds no more.
    mutating func forget(_ kind: DeclaredKindID) {
        due.remove(kind)
        failures[kind] = nil
    }

    /// Takes one that is to be asked for by now.
    mutating func takeDue(at now: Instant) -> DeclaredKindID? {
        guard let (kind, key) = due.first, key <= now.milliseconds else { return nil }
        due.remove(kind)
        return kind
    }
}
