/// The durable journal: three threads over a ``Store``'s files.
///
/// - The committer writes batches into segments, one transaction each, and reports it.
/// - The sweeper writes the snapshot, makes the next segment ahead, trims old ones, and copies everything for a backup.
/// - The reader answers from the segments, on connections of its own that never write.
package final class SQLiteJournal: Journal {
    package let guarantee: JournalGuarantee

    private let lock: FolderLock
    private let committer: Committer
    private let sweeper: Sweeper
    private let reader: ReadWorker
    private let threads: (committer: WorkerThread, sweeper: WorkerThread, reader: WorkerThread)
    private var lastAppended: UInt64
    private var isClosed = false

    /// - Parameter writer: The store's, which is closed as soon as its segment is full.
    init(store: Store, writer: SegmentWriter, report: @escaping JournalReport) throws(SystemError) {
        guarantee = store.options.sync.guarantee
        lock = store.lock
        lastAppended = store.summary.lastBatch
        let fate = JournalFate(onFailure: store.options.onFailure)
        let reader = ReadWorker(store: store, fate: fate, report: report)
        let room = RoomWatch(store.options, report: report)
        let sweeper = Sweeper(
            store: store, written: writer.identity, fate: fate, room: room, onTrim: reader.segmentWasTrimmed, report: report)
        let committer = Committer(
            store: store, writer: writer, sweeper: sweeper, fate: fate, room: room, report: report)
        (self.sweeper, self.committer, self.reader) = (sweeper, committer, reader)
        // The folder is ours until the last thread that writes is gone.
        let lock = lock
        do throws(SystemError) {
            threads = (
                try WorkerThread(name: "islet-commit") { withExtendedLifetime(lock) { committer.run() } },
                try WorkerThread(name: "islet-sweep") { withExtendedLifetime(lock) { sweeper.run() } },
                try WorkerThread(name: "islet-read") { reader.run() }
            )
        } catch {
            Self.abandon(committer, sweeper, reader)
            throw error
        }
    }

    deinit {
        if !isClosed { Self.abandon(committer, sweeper, reader) }
    }

    /// Ends the threads without a goodbye, as if the process had been killed: what is committed stays.
    private static func abandon(_ committer: Committer, _ sweeper: Sweeper, _ reader: ReadWorker) {
        committer.close()
        sweeper.close(saysGoodbye: false)
        reader.close()
    }

    package func append(_ batch: JournalBatch) -> JournalReceipt {
        precondition(!isClosed, "appended after close")
        precondition(batch.number == lastAppended + 1, "batch \(batch.number) after \(lastAppended)")
        lastAppended = batch.number
        committer.append(batch)
        return .pending
    }

    package func sweep(_ chunk: StateChunk) {
        precondition(!isClosed, "swept after close")
        sweeper.sweep(chunk)
    }

    package func read(_ request: JournalRead) {
        precondition(!isClosed, "read after close")
        reader.read(request)
    }

    package func backUp(_ request: BackupRequest) {
        precondition(!isClosed, "backed up after close")
        sweeper.backUp(request)
    }

    package func timePassed(to time: Int64) {
        precondition(!isClosed, "time passed after close")
        sweeper.timePassed(to: time)
    }

    /// Nobody gets what is read any more: what waits to be read is not answered.
    package func stopReading() { reader.close() }

    package func close() async {
        isClosed = true
        stopReading()
        committer.close()
        await threads.committer.ended()
        await threads.reader.ended()
        sweeper.close(saysGoodbye: committer.isSynced)
        await threads.sweeper.ended()
        lock.release()
    }
}
