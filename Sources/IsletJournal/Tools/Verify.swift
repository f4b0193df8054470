extension Store {
    /// Checks every byte of a data folder that can be checked, and changes nothing; also while a service uses it, but
    /// then in another process.
    ///
    /// - Parameters:
    ///   - bootID: This run of the machine; nil: as the system says.
    ///   - onSegment: Called with the number of each segment before it is read.
    /// - Throws: Only if there is no folder to look into, or it cannot be read without writing, and may not be written.
    package static func verify(
        directory: String, bootID: String? = nil, onSegment: (Int) -> Void = { _ in }
    ) throws(StoreError) -> VerifyReport {
        let names = FolderNames(directory: directory)
        // The mark before the segments: a running service moves both on.
        let contents = try existingContents(names)
        var verify = Verify(names: names)
        if contents.isHalfMade { verify.report.add(names.halfMade, .halfMade(directory: directory)) }
        verify.checkMark(contents)
        verify.checkState(contents)
        verify.checkSegments(try FolderContents(names), onSegment)
        verify.checkEnds(bootID: bootID ?? FileSystem.bootID)
        if let unreadable = verify.unreadable { throw unreadable }
        return verify.report
    }
}

/// Goes through the files of a folder and writes down what is wrong.
private struct Verify {
    let names: FolderNames
    var report = VerifyReport()
    /// Why something could not be read that may be sound.
    private(set) var unreadable: StoreError?
    /// The snapshot's file, in which a running service notes what it trims.
    private var state: Database?
    /// What it said last.
    private var known: KnownState?
    /// What the snapshot held before the segments were read.
    private var held: UInt64 = 0
    private var store: String?
    private var lastEpoch: String?
    /// The log that had something behind its last commit when it was read, be it room: wrong if it still has when later
    /// segments have batches.
    private var unfinished: (log: String, sync: SyncMode, isTorn: Bool)?
    /// The last segment with batches: a running service may have written more there before it went on in the next.
    private var former: (reader: SegmentReader, path: String, epoch: String)?
    /// The last row that was read.
    private var lastID = Int64.min
    /// The epoch of the segment that is read.
    private var epoch = ""
    /// The batch before the next one, its time, and each app's last sequence number with its epoch.
    private var last: (batch: UInt64, at: Int64)?
    private var seqs: [[UInt8]: (seq: UInt64, epoch: String)] = [:]
    /// The row before, where more of its app's events of its batch must follow it.
    private var unended: (batch: UInt64, app: [UInt8], path: String)?

    init(names: FolderNames) {
        self.names = names
    }

    mutating func checkMark(_ contents: FolderContents) {
        do throws(StoreError) {
            guard let mark = try contents.mark(names) else {
                return report.add(names.mark, "is missing: it says how far the journal had come")
            }
            report.acknowledged = mark.lastBatch
        } catch {
            report.add(names.mark, error)
        }
    }

    mutating func checkState(_ contents: FolderContents) {
        guard contents.hasState else { return report.add(names.state, "is missing") }
        do throws(StoreError) {
            try Schema.checkHeader(of: names.state)
            do throws(SQLiteError) {
                let state = try Database(path: names.state, mode: .readOnly)
                self.state = state
                if let problem = try SegmentReader.quickCheck(state) { report.add(names.state, problem) }
                known = try KnownState(meta: Meta(state))
                store = known?.store
                held = known?.holdsThrough ?? 0
                // At one moment, since a running service may write between two statements.
                try state.execute("BEGIN")
                _ = try StateDatabase.segments(of: state)
                try state.execute("COMMIT")
                try checkRows(of: state)
            } catch {
                throw StoreError(error, file: names.state)
            }
        } catch {
            add(names.state, error)
        }
    }

    private mutating func add(_ path: String, _ error: StoreError) {
        // SQLite puts the index of a log beside it, also for who only reads.
        if case .database(.cannotOpen) = error, FileSystem.obstacle(toWritingIn: names.directory) != nil {
            unreadable = .database(
                .cannotOpen(
                    "\(path) cannot be read: that takes a file beside it, and \(names.directory) cannot be written. "
                        + "Verify a copy of it"))
        }
        report.add(path, error)
    }

    private mutating func checkRows(of state: Database) throws(SQLiteError) {
        let rows = SnapshotRows(database: state, path: names.state)
        var count = 0
        do {
            try rows.forEachEntity { _ in count += 1 }
            try rows.forEachFact { _, _ in }
            try KeptAnswers(state).forEach { _, _, answers in try PackedRow.forEachNote(answers) { _ in } }
        } catch let error as SQLiteError {
            throw error
        } catch let error as StoreError {
            report.add(names.state, error)
        } catch {
            report.add(names.state, "\(error)")
        }
        report.entities = count
    }

    /// A running service notes that a segment is trimmed before its files go: one that was not by the time that it was read
    /// was there as a whole.
    mutating func checkSegments(_ contents: FolderContents, _ onSegment: (Int) -> Void) {
        readKnownAgain()
        var expected: Int?
        for number in contents.segments where number >= known?.firstSegment ?? 1 {
            let path = names.segment(number)
            if let wanted = [expected, known?.firstSegment].compactMap(\.self).max(), number != wanted {
                report.add(names.segment(wanted), "is missing, and later segments are there")
            }
            if number != expected { beginAnew() }
            expected = number + 1
            let before = report
            onSegment(number)
            do throws(StoreError) {
                try check(number, path)
            } catch {
                if known != nil || FileSystem.exists(path) { add(path, error) }
            }
            readKnownAgain()
            if let known, number < known.firstSegment {
                report = before
                (unended, former, unfinished) = (nil, nil, nil)
                beginAnew()
            }
        }
    }

    private mutating func readKnownAgain() {
        // What is wrong there was told before.
        if let state, let newer = try? KnownState(meta: Meta(state)) { known = newer }
    }

    /// Nothing is known of the batches before the next one.
    private mutating func beginAnew() {
        last = nil
        seqs.removeAll()
    }

    private mutating func check(_ number: Int, _ path: String) throws(StoreError) {
        let identity = try SegmentIdentity(path: path, number: number)
        report.segments += 1
        if let store, store != identity.store { report.add(path, "belongs to \(identity.store) instead of \(store)") }
        store = store ?? identity.store
        let log = FolderNames.log(of: path)
        var present: (log: String, sync: SyncMode, isTorn: Bool)?
        do throws(SystemError) {
            let scan = try LogScan.scan(log, oneUnsynced: identity.sync == .full)
            if scan.hasRest { present = (log, identity.sync, scan.verdict == .torn) }
            if case .damaged(let reason) = scan.verdict {
                report.add(log, offset: scan.badOffset, "\(reason): what follows is lost")
            }
        } catch {
            throw StoreError(error)
        }
        do throws(SQLiteError) {
            let reader = try SegmentReader(path: path, number: number)
            if let problem = try reader.quickCheck() { report.add(path, problem) }
            let rows = try reader.rowsToCheck()
            if try rows.step() {
                finishFormer()
                (epoch, lastEpoch) = (identity.epoch, identity.epoch)
                repeat { check(rows, path) } while try rows.step()
                former = (reader, path, identity.epoch)
            }
            unfinished = present ?? unfinished
            report.endsTorn = unfinished?.isTorn ?? false
        } catch {
            throw StoreError(error, file: path)
        }
    }

    /// Checks of the segments before one with batches what was not there when they were read, or not complete.
    private mutating func finishFormer() {
        if let former {
            epoch = former.epoch
            do throws(SQLiteError) {
                let rows = try former.reader.rowsToCheck(after: lastID)
                while try rows.step() { check(rows, former.path) }
            } catch {
                report.add(former.path, StoreError(error, file: former.path))
            }
        }
        if let unfinished,
            let scan = try? LogScan.scan(unfinished.log, oneUnsynced: unfinished.sync == .full), scan.hasRest
        {
            report.add(unfinished.log, offset: scan.badOffset, LogScan.tornBeforeOthers)
        }
        unfinished = nil
    }

    private mutating func check(_ rows: Statement, _ path: String) {
        let (id, number, at) = (rows.unsigned(0), rows.unsigned(1), rows.integer(5))
        lastID = rows.integer(0)
        if id >> SegmentWriter.rowBits != number { report.add(path, batch: number, "its row has the id of another") }
        let app = rows.isNull(2) ? nil : rows.array(2)
        if let unended, unended.batch != number || unended.app != app { addUnended() }
        unended = app.flatMap { rows.integer(11) == 0 ? (number, $0, path) : nil }
        if number != last?.batch {
            if let last, number != last.batch + 1 {
                report.add(path, batch: number, "it follows batch \(last.batch): batches are missing")
            }
            if let last, at < last.at { report.add(path, batch: number, "it is older than the batch before it") }
            if report.batches == 0 { report.firstBatch = number }
            last = (number, at)
            report.batches += 1
            report.lastBatch = number
        }
        do {
            for column: Int32 in [6, 7] { try rows.withSpan(column) { try PackedRow.forEachNote($0) { _ in } } }
            if let app { try checkEvents(rows, of: app, path, number) }
        } catch {
            report.add(path, batch: number, "\(error)")
        }
    }

    /// Writes down that an app's events of a batch do not end with a row that says how the app was then.
    private mutating func addUnended() {
        guard let unended else { return }
        let name = String(decoding: unended.app, as: UTF8.self)
        report.add(
            unended.path, batch: unended.batch, "\(name) is without its state after the batch: a row of it is missing")
        self.unended = nil
    }

    private mutating func checkEvents(
        _ rows: Statement, of app: [UInt8], _ path: String, _ number: UInt64
    ) throws {
        let range = SeqRange(first: rows.unsigned(3), last: rows.unsigned(4))
        let count = try range.count()
        // A new epoch begins behind what the one before it may have lost, which the snapshot perhaps knew of.
        if let before = seqs[app], range.first <= before.seq || range.first != before.seq + 1 && before.epoch == epoch {
            let name = String(decoding: app, as: UTF8.self)
            report.add(
                path, batch: number, "\(name) goes on with \(range.first) after \(before.seq): events are missing"
            )
        }
        seqs[app] = (range.last, epoch)
        report.events += count
        try rows.withSpans(8, 9) { body, recovery in
            try PackedRow.forEachEvent(body: body, recovery: recovery, count: count) { event in
                guard event.previous < range.first + UInt64(event.index) else {
                    throw PackingError(
                        reason: "an event names a later one as the one before it", offset: event.topic.lowerBound)
                }
                return true
            }
        }
        let elements = rows.integer(10)
        if elements != Int64(count) {
            report.add(
                path, batch: number,
                elements < 0 ? "its body is no JSON" : "its body has \(elements) of \(count) events")
        }
    }

    /// What must hold between the files.
    mutating func checkEnds(bootID: String) {
        addUnended()
        guard let known else { return }
        report.lastBatch = max(report.lastBatch, known.trimmedThrough)
        let acknowledged = max(report.acknowledged, held)
        if report.lastBatch < acknowledged, known.mayHaveLostCommits(in: bootID) {
            report.lostUnsynced = acknowledged - report.lastBatch
        } else if report.lastBatch < acknowledged {
            report.add(
                names.directory, "ends with batch \(report.lastBatch), but batch \(acknowledged) was acknowledged")
        }
        if report.batches > 0, report.firstBatch > known.holdsThrough + 1 {
            report.add(
                names.state,
                "holds everything up to batch \(known.holdsThrough), and the segments begin with batch "
                    + "\(report.firstBatch)")
        }
        if let lastEpoch, lastEpoch != known.epoch, lastEpoch != known.journalEpoch {
            report.add(names.state, "its epoch is \(known.epoch), the last segment's is \(lastEpoch)")
        }
    }
}
