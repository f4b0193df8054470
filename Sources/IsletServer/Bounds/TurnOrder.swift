/// Who comes first in a turn: new commands, unless they left others nothing of the last one.
///
/// What a turn may do (its time, what it looks at, the room to write) is there for all three, and each may use it up:
///
///     commands ──▶ resting ──▶ ingest ──▶ commands
///
/// Whoever was left nothing comes first in the next turn, in this order, and stays so until there was something for it:
/// so none is kept waiting for good by the others.
package struct TurnOrder {
    package enum Party {
        /// New commands.
        case commands
        /// Messages that go on in later turns.
        case resting
        /// Commands of plain publishers.
        case ingest
    }

    /// Who comes first in this turn.
    package private(set) var first = Party.commands
    /// Who was left nothing so far.
    private var isLeftOut = (resting: false, ingest: false)
    /// Who had its part of this turn.
    private var isServed = (resting: false, ingest: false)

    package init() {}

    /// Messages wait to go on, and may or may not do so now.
    package mutating func resting(mayGoOn: Bool) {
        if mayGoOn { isServed.resting = true } else { isLeftOut.resting = true }
    }

    /// Commands of plain publishers may or may not be taken now, by what the turn has done.
    package mutating func ingest(mayBeTaken: Bool) {
        if mayBeTaken { isServed.ingest = true } else { isLeftOut.ingest = true }
    }

    /// The turn is over.
    package mutating func end() {
        let resting = isLeftOut.resting && !isServed.resting
        let ingest = isLeftOut.ingest && !isServed.ingest
        first =
            switch first {
            case .commands, .resting: resting ? .resting : ingest ? .ingest : .commands
            case .ingest: ingest ? .ingest : .commands
            }
        isLeftOut = (false, false)
        isServed = (false, false)
    }
}
