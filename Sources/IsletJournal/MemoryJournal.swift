/// The journal of `store=memory`: it keeps nothing, so every batch is committed as soon as it is appended.
///
/// The pipeline around it is the same as around a durable one; only the wait is missing.
package final class MemoryJournal: Journal {
    private var lastNumber: UInt64
    private var isClosed = false

    /// - Parameter lastNumber: The number of the batch before the first one, 0 for a new stream of batches.
    package init(lastNumber: UInt64 = 0) {
        self.lastNumber = lastNumber
    }

    package var guarantee: JournalGuarantee { .none }

    package func append(_ batch: JournalBatch) -> JournalReceipt {
        precondition(!isClosed, "appended after close")
        precondition(batch.number == lastNumber + 1, "batch \(batch.number) after \(lastNumber)")
        lastNumber = batch.number
        return .committed
    }

    /// Nothing is kept, so there is nothing to write; the next piece may never come.
    package func sweep(_ chunk: StateChunk) {}

    package func read(_ request: JournalRead) {
        preconditionFailure("a journal in memory has no events to read")
    }

    package func timePassed(to time: Int64) {}

    package func backUp(_ request: BackupRequest) {
        preconditionFailure("a journal in memory has nothing to copy")
    }

    package func close() async {
        isClosed = true
    }
}
