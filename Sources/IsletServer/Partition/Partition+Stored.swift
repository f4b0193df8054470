import IsletCore
import IsletJournal
import IsletProtocol

/// Reads from the journal's files: asked for here, done on another thread, and come back as a notice.
extension Partition {
    /// Who waits for stored events.
    enum StoredReader {
        case pull(BulkPull)
        case past(StoredPast, of: Peer)
    }

    /// How many reads at a time are for pulls, and how many for histories: neither keeps the other waiting.
    static let readsForPulls = JournalRead.maximumInFlight / 2
    static let readsForPasts = JournalRead.maximumInFlight - readsForPulls
    /// How many histories of one peer are read at a time: while one of them is taken to its answer, the next is read.
    static let readsForPastsOfPeer = 2

    /// Whether a history of a peer may be read now.
    func mayReadPast(of peer: Peer) -> Bool {
        var (inAll, ofPeer) = (0, 0)
        for reader in storedReaders.values {
            guard case .past(_, let reading) = reader else { continue }
            inAll += 1
            if reading == peer { ofPeer += 1 }
        }
        return inAll < Self.readsForPasts && ofPeer < Self.readsForPastsOfPeer
    }

    private var mayReadForPull: Bool {
        storedReaders.values.count { if case .pull = $0 { true } else { false } } < Self.readsForPulls
    }

    /// Asks for stored events; nil where too many are asked for already, and then the next turn asks again.
    func readStored(
        app: [UInt8], _ kind: JournalRead.Kind, maximumRows: Int, maximumBytes: Int, for reader: StoredReader
    ) -> UInt64? {
        switch reader {
        case .pull: guard mayReadForPull else { return nil }
        case .past(_, let peer): guard mayReadPast(of: peer) else { return nil }
        }
        nextRead += 1
        storedReaders[nextRead] = reader
        journal.read(
            JournalRead(
                id: nextRead, app: app, kind: kind, maximumRows: maximumRows, maximumBytes: maximumBytes))
        return nextRead
    }

    /// Stored events are there. Who has gone meanwhile does not get them.
    func take(_ result: JournalReadResult) {
        switch storedReaders.removeValue(forKey: result.id) {
        case nil: break
        case .pull(let pull):
            pull.read = nil
            pull.stored = result.outcome
        case .past(let past, _):
            past.read = nil
            switch result.outcome {
            case .events(let events): past.events = events
            case .tooOld: past.events = []
            case .notNow: past.events = nil
            }
        }
    }
}
