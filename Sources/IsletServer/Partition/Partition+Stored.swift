import IsletCore
import IsletJournal
import IsletProtocol

/// Reads from the journal's files: asked for here, done on another thread, and come back as a notice.
extension Partition {
    /// Who waits for stored events.
    enum StoredReader {
        case pull(BulkPull)
        case past(StoredPast)
    }

    /// Asks for stored events; nil where too many are asked for already, and then the next turn asks again.
    func readStored(
        app: [UInt8], _ kind: JournalRead.Kind, maximumRows: Int, maximumBytes: Int, for reader: StoredReader
    ) -> UInt64? {
        guard storedReaders.count < JournalRead.maximumInFlight else { return nil }
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
        case .past(let past):
            past.read = nil
            switch result.outcome {
            case .events(let events): past.events = events
            case .tooOld: past.events = []
            case .notNow: past.events = nil
            }
        }
    }
}
