import IsletCore
import IsletProtocol

/// Before the commands that were received together are executed.
extension Partition {
    /// Fetches what they will touch into the processor's caches: it waits for all of them together and not for each.
    package func lookAhead() {
        guard engine.isWorthFetching else { return }
        lookahead.removeAll()
        var place = 0
        inbound.forEachFrame { frame in
            if !lookahead.isFull, let id = EntityID(guessedFrom: frame, near: &place) { lookahead.add(id) }
        }
        // One alone would wait as long as without.
        if lookahead.count > 1 { engine.fetch(&lookahead) }
    }
}
