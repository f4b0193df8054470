import CSQLite
import Glibc

/// Commits batches, one after another, on a thread of its own.
///
/// `@unchecked Sendable`: what is not behind the monitor is used by its thread alone.
final class Committer: @unchecked Sendable {
    /// A batch, when it was handed over, in nanoseconds, and on which processor.
    private struct Appended {
        var batch: JournalBatch
        var at: Int
        var processor: Int?
    }

    private struct Queue {
        /// In their order; at most ``JournalBatch/maximumInFlight`` with the one that is being written.
        var waiting: [Appended] = []
        var inFlight = 0
        var isClosing = false
        /// Whether everything that was committed is on the disk. Known at the end.
        var isSynced = false
    }

    private enum Outcome {
        /// - free: the bytes that were before it; nil: nobody knows.
        case committed(free: Int?)
        /// - cause: What failed; nil: nothing was tried.
        case full(free: Int, cause: String?)
        /// Another process has the lock.
        case locked(String)
        case failed
    }

    private let queue = Monitor(Queue())
    private let names: FolderNames
    private let options: StoreOptions
    private let segments: SegmentDirectory
    private let sweeper: Sweeper
    private let fate: JournalFate
    private let report: JournalReport
    private let room: RoomWatch
    private let mark: MarkFile
    private let encoder = RowEncoder()
    private var writer: SegmentWriter
    private var lockWarning: LockWarning
    /// It leaves its processor to whoever appends.
    private var affinity: ThreadAffinity?
    /// The segment to go on in, while this one, which is full, cannot be synced.
    private var next: SegmentWriter?
    private var current: Appended?
    /// The events of each stream in the segment that is written.
    private var ranges: [UInt32: SeqRange] = [:]
    /// Their names, which all segments share: with 100,000 apps in each of 128 they would take 600 MB.
    private var apps: [UInt32: [UInt8]] = [:]
    /// What the segment had when this began, before the streams had numbers.
    private var earlier: [[UInt8]: SeqRange]

    init(
        store: Store, writer: SegmentWriter, sweeper: Sweeper, fate: JournalFate, room: RoomWatch,
        report: @escaping JournalReport
    ) {
        names = store.names
        options = store.options
        segments = store.segments
        mark = store.mark
        self.writer = writer
        lockWarning = LockWarning(store.options)
        earlier = store.segments.segments.last?.apps ?? [:]
        self.sweeper = sweeper
        self.fate = fate
        self.room = room
        self.report = report
        fate.onFailure { [queue] in queue.change { $0.isClosing = true } }
    }

    /// Takes a batch. Any thread.
    func append(_ batch: JournalBatch) {
        let appended = Appended(batch: batch, at: Self.now(), processor: ProcessorSet.present())
        queue.change { queue in
            precondition(queue.inFlight < JournalBatch.maximumInFlight, "too many batches in flight")
            precondition(!queue.isClosing || fate.hasFailed, "appended after close")
            queue.inFlight += 1
            queue.waiting.append(appended)
        }
    }

    /// Asks the thread to commit what waits and to end.
    func close() {
        queue.change { $0.isClosing = true }
    }

    /// Whether everything that was committed is on the disk, so that a goodbye may say so. After the thread has ended.
    var isSynced: Bool { queue.look { $0.isSynced } }

    /// The thread's function.
    func run() {
        affinity = ThreadAffinity()
        while takeNext(), commitCurrent() { rollOverIfNeeded() }
        finish()
    }

    private func takeNext() -> Bool {
        var pause = options.roomCheck
        while true {
            let next = queue.wait(milliseconds: pause) { queue -> Appended?? in
                if !queue.waiting.isEmpty { return .some(queue.waiting.removeFirst()) }
                return queue.isClosing ? .some(nil) : nil
            }
            if let next {
                current = next
                break
            }
            pause = lookForRoom() ? options.roomCheck : options.fullRetry
        }
        affinity?.keepOff(current?.processor)
        return current != nil && !fate.hasFailed
    }

    /// Says whether a commit would find room, before one is tried: who sends a command then is refused at once and does not
    /// wait for the disk.
    private func lookForRoom() -> Bool {
        guard let free = options.freeBytes(names.directory), free < options.minimumFree else {
            room.has(.committer)
            return true
        }
        room.lacks(.committer, free: free)
        return false
    }

    /// Commits one batch, however long the disk is full; false: the thread is to end.
    private func commitCurrent() -> Bool {
        guard let (number, appendedAt) = current.map({ ($0.batch.number, $0.at) }) else { return false }
        while true {
            switch write() {
            case .committed(let free):
                let microseconds = (Self.now() - appendedAt) / 1_000
                // The owner uses its own copy again as soon as it knows; two would be one copy too many.
                current = nil
                queue.change { $0.inFlight -= 1 }
                if let free, free < options.minimumFree {
                    room.lacks(.committer, free: free)
                } else {
                    room.has(.committer)
                }
                report(.committed(through: number, microseconds: microseconds))
                return true
            case .full(let free, let cause):
                room.lacks(.committer, free: free, cause: cause)
                let mustEnd = queue.wait(milliseconds: options.fullRetry) { $0.isClosing ? true : nil } ?? false
                // Nobody was told that it is committed.
                if mustEnd { return false }
            case .locked(let reason):
                // It has waited for the lock already.
                guard queue.look({ $0.isClosing }) else { continue }
                fate.fail("stopped without batch \(number), which another process kept from being written: \(reason)")
                return false
            case .failed: return false
            }
        }
    }

    /// With less room a batch waits that was handed over. It is a quarter less than what keeps others from being made: as long
    /// as one waits, the snapshot cannot go on either, and it takes the snapshot to trim anything. One that was handed over
    /// since then may take as much as the snapshot.
    private func floor(of batch: JournalBatch) -> Int {
        batch.usesReserve ? options.minimumFree / 2 : options.minimumFree - options.minimumFree / 4
    }

    private func write() -> Outcome {
        guard let batch = current?.batch else { return .failed }
        let free = options.freeBytes(names.directory)
        if let free, free < floor(of: batch) { return .full(free: free, cause: nil) }
        do throws(SQLiteError) {
            try writer.write(batch, with: encoder)
            lockWarning.isFree()
        } catch {
            if case .busy(let reason) = error {
                lockWarning.isHeld(reason)
                return .locked(reason)
            }
            if error.isLack { return .full(free: options.freeBytes(names.directory) ?? 0, cause: error.description) }
            fate.fail("the commit of batch \(batch.number) failed, which is never tried again: \(error)")
            return .failed
        }
        do throws(SystemError) {
            try mark.set(lastBatch: batch.number)
        } catch where SQLiteError.lack(error.code) != nil {
            // It is behind then, as it may be, and the next commit writes it again.
        } catch {
            fate.fail("after the commit of batch \(batch.number): \(error)")
            return .failed
        }
        note(batch)
        return .committed(free: free)
    }

    private func note(_ batch: JournalBatch) {
        var newApps: [([UInt8], SeqRange)] = []
        for row in batch.rows {
            if ranges[row.stream] != nil {
                ranges[row.stream]?.last = row.lastSeq
                continue
            }
            let app = apps[row.stream] ?? batch.array(of: row.name)
            let range = SeqRange(first: earlier[app]?.first ?? row.firstSeq, last: row.lastSeq)
            apps[row.stream] = app
            ranges[row.stream] = range
            newApps.append((app, range))
        }
        segments.committed(batch.number, at: batch.at, bytes: writer.bytes, newApps: newApps)
    }

    /// Goes on in the next segment when this one is full and the next is ready. If it is not, because the sweeper is
    /// busy with a backup, this one grows: waiting would stop the service. So it does without room for its last sync.
    private func rollOverIfNeeded() {
        guard writer.bytes >= options.segmentBytes, let next = next ?? sweeper.takeNextSegment() else { return }
        self.next = next
        do throws(SQLiteError) {
            // A later segment must not survive what an earlier one does not.
            if options.sync == .normal { try writer.sync() }
        } catch {
            if error.isLack { return }
            return fate.fail("the sync of a full segment failed, which is never tried again: \(error)")
        }
        var content = earlier
        for (stream, range) in ranges { if let app = apps[stream] { content[app] = range } }
        let full = segments.seal(apps: content, next: next.identity.number)
        ranges.removeAll(keepingCapacity: true)
        earlier.removeAll()
        sweeper.sealed(full, writer)
        writer = next
        self.next = nil
    }

    private func finish() {
        guard !fate.hasFailed else { return }
        do throws(SQLiteError) {
            if options.sync == .normal { try writer.sync() }
        } catch {
            // What is not synced was never promised; but then nobody may say that it is.
            if error.isLack { return }
            return fate.fail("the last sync failed: \(error)")
        }
        writer.giveBackRoom()
        queue.change { $0.isSynced = true }
    }

    private static func now() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

extension JournalBatch {
    /// A copy of some of its bytes.
    func array(of slice: Slice) -> [UInt8] {
        withBytes(of: slice) { span in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
    }
}
