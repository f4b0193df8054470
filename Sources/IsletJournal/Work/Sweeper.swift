/// Everything that has time, on a thread of its own: the snapshot, backups, making segments ahead, trimming them.
///
/// `@unchecked Sendable`: what is not behind the monitor is used by its thread alone.
final class Sweeper: @unchecked Sendable {
    private struct Queue {
        var chunk: StateChunk?
        var backup: BackupRequest?
        /// Domain time, where it has passed since segments were last trimmed.
        var time: Int64?
        /// Segments that are full, with their connections; one at most, or two while a segment is being made.
        var sealed: [(info: SegmentInfo, writer: SegmentWriter)] = []
        /// The segment that is to be made ahead.
        var wanted: SegmentIdentity?
        /// The segment that is ready.
        var next: SegmentWriter?
        var isClosing = false
        var saysGoodbye = false
    }

    private enum Job {
        case makeSegment(SegmentIdentity)
        /// With its connection, which is closed on this thread, once another one keeps the log's index.
        case recordSegment(SegmentInfo, SegmentWriter)
        case sweep
        case backUp(BackupRequest)
        case trim(now: Int64)
        case end
    }

    private let queue: Monitor<Queue>
    private let names: FolderNames
    private let options: StoreOptions
    private let segments: SegmentDirectory
    private let state: StateDatabase
    private let fate: JournalFate
    private let report: JournalReport
    private let room: RoomWatch
    private let retention: Retention
    /// nil: each commit is synced before it is reported.
    private var lastCommits: LastCommits?
    private var current: StateChunk?
    /// When the segment ahead is tried again that could not be made; nil: it is made as soon as it is wanted.
    private var nextAttempt: ContinuousClock.Instant?
    /// Why it could not be made, as it was told last.
    private var obstacle: String?
    /// The last batch that the durable snapshot holds everything of.
    private var holdsThrough: UInt64
    /// The first batch with an answer that a retry may still ask for, as the durable snapshot says.
    private var answersFrom: UInt64
    /// Those before it were removed.
    private var answersRemovedBefore: UInt64 = 0
    private var lockWarning: LockWarning
    /// Domain time, as far as it is known here.
    private var now: Int64
    /// Of the newest full segments: as long as one has a connection, SQLite keeps the index of its log. Without it, the first
    /// who asks for an event reads all 64 MiB, from the disk if need be.
    private var full: [SegmentReader] = []
    /// Each has three files, and the 128 KiB of its index.
    private static let maximumFull = min(8, FileSystem.maximumOpen / 48)
    /// Called after a segment was trimmed.
    private let onTrim: @Sendable () -> Void

    init(
        store: Store, written: SegmentIdentity, fate: JournalFate, room: RoomWatch,
        onTrim: @escaping @Sendable () -> Void, report: @escaping JournalReport
    ) {
        names = store.names
        options = store.options
        segments = store.segments
        state = store.state
        retention = Retention(store.options)
        holdsThrough = store.summary.snapshotHoldsThrough
        answersFrom = store.answersFrom
        if store.options.sync == .normal {
            lastCommits = LastCommits(
                names: store.names, segments: store.segments, syncedThrough: store.summary.lastBatch)
        }
        now = store.summary.clock
        lockWarning = LockWarning(store.options)
        self.fate = fate
        self.room = room
        self.onTrim = onTrim
        self.report = report
        var first = Queue()
        first.wanted = Self.follower(of: written)
        queue = Monitor(first)
        fate.onFailure { [queue] in queue.change { $0.isClosing = true } }
    }

    // MARK: Any thread

    func sweep(_ chunk: StateChunk) {
        queue.change { queue in
            precondition(queue.chunk == nil, "a piece of the snapshot before the last one was swept")
            queue.chunk = chunk
        }
    }

    func backUp(_ request: BackupRequest) {
        queue.change { queue in
            precondition(queue.backup == nil, "a backup before the last one was done")
            queue.backup = request
        }
    }

    /// Domain time has come so far: what is kept for a time may be over.
    func timePassed(to time: Int64) {
        queue.change { $0.time = time }
    }

    /// The segment that was made ahead, if it is ready; the one after it is made then.
    func takeNextSegment() -> SegmentWriter? {
        queue.change { queue in
            guard let next = queue.next.take() else { return nil }
            queue.wanted = Self.follower(of: next.identity)
            return next
        }
    }

    /// A segment is full; its connection writes no more.
    func sealed(_ info: SegmentInfo, _ writer: SegmentWriter) {
        queue.change { $0.sealed.append((info, writer)) }
    }

    /// Asks the thread to do what waits, to note that this is a clean stop if it is one, and to end.
    func close(saysGoodbye: Bool) {
        queue.change { queue in
            queue.isClosing = true
            queue.saysGoodbye = saysGoodbye
        }
    }

    // MARK: The thread

    func run() {
        // The process before may have left a log that was larger than there is room for.
        giveBackLog()
        while !fate.hasFailed {
            switch takeJob() {
            case .makeSegment(let identity): makeSegment(identity)
            case .recordSegment(let info, let writer):
                // It may be trimmed as soon as it is full, which is before it is told here.
                guard let first = segments.first, first <= info.number else { continue }
                withExtendedLifetime(writer) { keep(info.number) }
                CachedLog.keepNothing(of: FolderNames.log(of: names.segment(info.number - 1)))
                if write("the list of segments", { () throws(SQLiteError) in try state.record(info) }) { trim() }
            case .sweep: sweepCurrent()
            case .backUp(let request): backUpNow(request)
            case .trim(let time):
                now = max(now, time)
                trim()
            case .end: return sayGoodbye()
            }
        }
    }

    private func takeJob() -> Job {
        while true {
            // A segment that cannot be made keeps nothing else waiting.
            let pause = nextAttempt.map { max(0, Int((ContinuousClock.now.duration(to: $0) / .milliseconds(1)).rounded(.up))) }
            let mayMake = pause.map { $0 == 0 } ?? true
            let job =
                mayMake
                ? queue.wait { self.takeJob(&$0, mayMake: true) }
                : queue.wait(milliseconds: pause ?? 0) { self.takeJob(&$0, mayMake: false) }
            if let job { return job }
        }
    }

    private func takeJob(_ queue: inout Queue, mayMake: Bool) -> Job? {
        if mayMake, !queue.isClosing, let identity = queue.wanted.take() { return .makeSegment(identity) }
        if !queue.sealed.isEmpty {
            let sealed = queue.sealed.removeFirst()
            return .recordSegment(sealed.info, sealed.writer)
        }
        if let chunk = queue.chunk.take() {
            current = chunk
            return .sweep
        }
        if let backup = queue.backup.take() { return .backUp(backup) }
        if let time = queue.time.take() { return .trim(now: time) }
        return queue.isClosing ? .end : nil
    }

    private func keep(_ number: Int) {
        // Where it cannot be opened, those who read it take longer.
        guard let reader = try? SegmentReader(path: names.segment(number), number: number),
            (try? reader.indexLog()) != nil
        else { return }
        full.append(reader)
        if full.count > Self.maximumFull { full.removeFirst() }
    }

    /// The bytes that an empty segment takes, and a little more.
    private static let segmentRoom = 256 << 10

    private func makeSegment(_ identity: SegmentIdentity) {
        do throws(StoreError) {
            guard hasRoomForSegment else { return makeLater(identity, "there is no room on the disk") }
            let writer = try SegmentWriter.make(identity, names: names, roomEnd: options.roomEnd)
            nextAttempt = nil
            if obstacle.take() != nil {
                options.onWarning("segment \(identity.number) could be made now")
                report(.segmentIsDelayed(false))
            }
            queue.change { $0.next = writer }
        } catch {
            switch error {
            case .database(let reason) where reason.isLack: makeLater(identity, reason.description)
            // Whatever keeps the file from being made: nothing is lost meanwhile.
            case .database(.cannotOpen(let reason)): makeLater(identity, reason)
            default:
                // A file that has no room to be made fails in other words than one that has no room to grow.
                if !hasRoomForSegment { return makeLater(identity, error.description) }
                fate.fail("segment \(identity.number) cannot be made: \(error)")
            }
        }
    }

    private var hasRoomForSegment: Bool {
        (options.freeBytes(names.directory) ?? .max) >= max(options.minimumFree, Self.segmentRoom)
    }

    /// The one before it grows meanwhile.
    private func makeLater(_ identity: SegmentIdentity, _ reason: String) {
        if obstacle == nil {
            options.onWarning(
                "segment \(identity.number) cannot be made yet, and the one before it grows: \(reason)")
            report(.segmentIsDelayed(true))
        }
        obstacle = reason
        nextAttempt = .now + .milliseconds(options.fullRetry)
        queue.change { $0.wanted = identity }
    }

    private func sweepCurrent() {
        // A snapshot must not outlive the batches that it shows: where the power fails, the answers to what it holds would be
        // gone, and retries be executed a second time. No part of it is written before them, since what was not synced may
        // be on the disk all the same.
        let isWritten =
            write("the journal to the disk") { () throws(SQLiteError) in try lastCommits?.sync() }
            && write("the snapshot") { () throws(SQLiteError) in
                if let current { try state.write(current) }
            }
        let ended = current?.holdsThrough
        now = max(now, current?.at ?? 0)
        // It is on the disk, whatever the checkpoint waits for; what may be trimmed by it may be what makes room for that.
        if isWritten, let ended {
            holdsThrough = ended
            answersFrom = current?.answersFrom ?? 0
        }
        current = nil
        guard isWritten, write("a checkpoint", { () throws(SQLiteError) in try state.checkpointIfNeeded() }) else {
            return
        }
        if ended != nil { trim() }
        report(.swept)
    }

    /// Writes something, however long the disk is full; false: it was not written, and the thread is to end. Meanwhile
    /// trimming goes on, which may be what makes room.
    private func write(_ what: String, _ body: () throws(SQLiteError) -> Void) -> Bool {
        while !fate.hasFailed {
            let free = options.freeBytes(names.directory) ?? .max
            do throws(SQLiteError) {
                if free >= options.minimumFree / 2 {
                    try body()
                    room.has(.sweeper)
                    lockWarning.isFree()
                    return true
                }
                room.lacks(.sweeper, free: free)
            } catch {
                guard mayTryAgain(what, error) else { return false }
                switch error {
                case .full(let cause): room.lacks(.sweeper, free: free, cause: cause)
                case .busy:
                    // Trimming would wait for the same lock.
                    guard waitForRoom() else { return false }
                    continue
                case .noDescriptor, .corrupt, .notADatabase, .cannotOpen, .io, .other: break
                }
            }
            giveBackLog()
            trim()
            guard waitForRoom() else { return false }
        }
        return false
    }

    /// Whether what could not be written can be tried again; else everything ends here.
    private func mayTryAgain(_ what: String, _ error: SQLiteError) -> Bool {
        if case .busy(let reason) = error { lockWarning.isHeld(reason) }
        if !error.isLack { fate.fail("writing \(what) failed, which is never tried again: \(error)") }
        return error.isLack
    }

    /// What failed for want of room keeps room in the log.
    private func giveBackLog() {
        do throws(SQLiteError) {
            try state.giveBackLog()
        } catch .busy {
            // It is not waited for: whoever reads it keeps it.
        } catch {
            _ = mayTryAgain("a checkpoint", error)
        }
    }

    /// Waits a moment; false: the thread is to end. Backups are made meanwhile, as they may be for another disk.
    private func waitForRoom() -> Bool {
        let next = queue.wait(milliseconds: options.fullRetry) { queue -> Job? in
            if queue.isClosing { return .end }
            return queue.backup.take().map { .backUp($0) }
        }
        switch next {
        case .backUp(let request): backUpNow(request)
        case .end: return false
        case .makeSegment, .recordSegment, .sweep, .trim, nil: break
        }
        return true
    }

    /// Trims what may go. That makes room, so it does not wait for any: where the disk is too full for the note of it,
    /// it is tried again as time passes.
    private func trim() {
        queue.change { if let time = $0.time.take() { now = max(now, time) } }
        forgetAnswers()
        while !fate.hasFailed {
            let known = segments.segments
            now = max(now, known.last?.lastAt ?? 0)
            guard let first = known.first,
                retention.allowsTrimming(known, holdsThrough: holdsThrough, now: now, lacksRoom: room.isLacking)
            else { return }
            do throws(SQLiteError) {
                // What the last one left in the log, behind which its files have made room.
                try state.checkpointIfNeeded()
                try state.recordTrimming(of: first, at: names.segment(first.number), answersFrom: answersFrom)
            } catch {
                if mayTryAgain("what is trimmed", error) { giveBackLog() }
                return
            }
            segments.trimFirst()
            full.removeAll { $0.number <= first.number }
            onTrim()
            do throws(SystemError) {
                try FolderNames.removeDatabase(names.segment(first.number))
            } catch {
                // The next start tries again.
                options.onWarning("a trimmed segment stays: \(error)")
            }
        }
    }

    /// Removes the answers that nobody can ask for any more. That makes room as trimming does, and is tried again like it; a
    /// stop does not wait for all of them.
    private func forgetAnswers() {
        var isSecondAttempt = false
        while answersRemovedBefore < answersFrom, !fate.hasFailed {
            do throws(SQLiteError) {
                if try !state.removeAnswers(before: answersFrom) { answersRemovedBefore = answersFrom }
                if queue.look({ $0.isClosing }) { return }
            } catch {
                guard mayTryAgain("what is forgotten", error), !isSecondAttempt else { return }
                isSecondAttempt = true
                giveBackLog()
            }
        }
    }

    private func backUpNow(_ request: BackupRequest) {
        // A stop does not wait until everything is copied.
        let isOver = { [queue] in queue.look { $0.isClosing } }
        let backup = Backup(
            names: names, state: state, segments: segments, isOver: isOver)
        let outcome: Result<Int, BackupFailure>
        do throws(StoreError) {
            outcome = .success(try backup.write(to: request.path))
        } catch {
            outcome = .failure(BackupFailure(reason: error.description))
        }
        report(.backedUp(BackupResult(id: request.id, outcome: outcome)))
    }

    private func sayGoodbye() {
        guard queue.look({ $0.saysGoodbye }) else { return }
        _ = write("the goodbye") { () throws(SQLiteError) in
            try state.durably { () throws(SQLiteError) in
                try Meta.set(Schema.Key.isClosed, to: UInt64(1), in: state.database)
            }
        }
    }

    private static func follower(of identity: SegmentIdentity) -> SegmentIdentity {
        var next = identity
        next.number += 1
        return next
    }
}
