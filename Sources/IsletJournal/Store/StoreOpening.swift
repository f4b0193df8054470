/// Opens a data folder: looks at everything first, and changes something only when all of it is in order.
struct StoreOpening {
    struct Result {
        var summary: RecoverySummary
        var state: StateDatabase
        var segments: [SegmentInfo]
        var trimmed: [[UInt8]: UInt64]
        var answersFrom: UInt64
        var mark: MarkFile
        var writer: SegmentWriter
    }

    let names: FolderNames
    let options: StoreOptions

    func open() throws(StoreError) -> Result {
        let contents = try FolderContents(names)
        guard !contents.isHalfMade || options.takesWhatIsThere else {
            throw .halfMade(directory: names.directory)
        }
        let mark = try contents.mark(names)
        if contents.isEmpty {
            guard let mark, mark.lastBatch > 0 else { return try create() }
            throw .commitsLost(directory: names.directory, last: 0, acknowledged: mark.lastBatch)
        }
        guard let mark else { throw .missing(file: names.mark, reason: "it says how far the journal had come") }
        return try resume(contents, mark)
    }

    /// Makes everything. The mark comes first, so that a folder with anything in it has one.
    private func create() throws(StoreError) -> Result {
        try removeUnfinished()
        let epoch = options.makeEpoch()
        let mark = try openMark(lastBatch: 0)
        let known = KnownState(store: epoch, epoch: epoch, sync: options.sync, bootID: options.bootID)
        try StateDatabase.create(path: names.state, meta: known.meta)
        var summary = RecoverySummary()
        summary.isNew = true
        summary.epoch = epoch
        let identity = SegmentIdentity(store: epoch, epoch: epoch, sync: options.sync, number: 1)
        return Result(
            summary: summary, state: try openState(),
            segments: [SegmentInfo(number: 1, firstBatch: 1, lastBatch: 0)], trimmed: [:], answersFrom: 0,
            mark: mark, writer: try makeWriter(identity))
    }

    private func resume(_ contents: FolderContents, _ mark: Mark) throws(StoreError) -> Result {
        guard contents.hasState || contents.segments.first == 1 else { throw missingState() }
        let state = contents.hasState ? try openState() : nil
        var known: KnownState?
        if let state { known = try read(state) }
        let survey = try SegmentSurvey(contents.segments, names: names, known: known)
        let (resumed, summary) = try judge(known, survey, mark)

        // Everything is in order. The state's file changes last: until then the next start finds the same again.
        try removeUnfinished()
        try clear(survey)
        let current = if let state { state } else { try replaceState(survey, mark) }
        var segments = survey.filled
        let writer = try openWriter(survey, resumed, &segments, lastBatch: summary.lastBatch)
        let markFile = try openMark(lastBatch: summary.lastBatch)
        let full = segments.dropLast().filter { survey.unrecorded.contains($0.number) }
        try settle(resumed, current, full: full)
        return Result(
            summary: summary, state: current, segments: segments, trimmed: resumed.trimmed,
            answersFrom: resumed.answersFrom, mark: markFile, writer: writer)
    }

    /// Decides whether what is there is all that was acknowledged, and with which epoch it goes on.
    private func judge(
        _ known: KnownState?, _ survey: SegmentSurvey, _ mark: Mark
    ) throws(StoreError) -> (KnownState, RecoverySummary) {
        var summary = RecoverySummary()
        summary.wasClosed = known?.isClosed ?? false
        var resumed = if let known { known } else { try rebuiltState(survey, mark) }
        summary.lastBatch = survey.filled.last?.lastBatch ?? resumed.trimmedThrough
        let acknowledged = max(mark.lastBatch, resumed.holdsThrough)
        let mayHaveLost = options.takesWhatIsThere || resumed.mayHaveLostCommits(in: options.bootID)
        guard summary.lastBatch >= acknowledged || mayHaveLost else {
            throw .commitsLost(directory: names.directory, last: summary.lastBatch, acknowledged: acknowledged)
        }
        if summary.lastBatch < acknowledged { summary.lostBatches = summary.lastBatch + 1...acknowledged }
        let firstKept = survey.filled.first?.firstBatch ?? summary.lastBatch + 1
        guard firstKept <= resumed.holdsThrough + 1 else {
            throw .damaged(
                file: names.state,
                reason: "it holds everything up to batch \(resumed.holdsThrough), and the segments "
                    + "begin with batch \(firstKept)")
        }
        if let last = survey.last {
            // An epoch may have begun and have no batch yet.
            guard last.epoch == resumed.epoch || last.epoch == resumed.journalEpoch else {
                throw .otherStore(file: names.segment(last.number), expected: resumed.epoch, found: last.epoch)
            }
            resumed.journalEpoch = last.epoch
        }
        summary.clock = max(resumed.clock, survey.filled.last?.lastAt ?? 0)
        summary.mayHaveLostCommits = mayHaveLost
        if mayHaveLost { resumed.epoch = options.makeEpoch() }
        // Not only this start: whoever comes after a kill finds the same snapshot, and the journal that it is ahead of.
        resumed.isAhead = resumed.isAhead || mayHaveLost
        summary.snapshotMayBeAhead = resumed.isAhead
        // A snapshot that is ahead of the journal holds what is left of it, and more.
        resumed.holdsThrough = min(resumed.holdsThrough, summary.lastBatch)
        resumed.answersFrom = min(resumed.answersFrom, summary.lastBatch + 1)
        (resumed.sync, resumed.bootID, resumed.isClosed) = (options.sync, options.bootID, false)
        summary.epoch = resumed.epoch
        summary.snapshotHoldsThrough = resumed.holdsThrough
        summary.keptAfter = firstKept - 1
        return (resumed, summary)
    }

    /// The state of a folder whose state file is missing: it can be made again while no batch is trimmed.
    private func rebuiltState(_ survey: SegmentSurvey, _ mark: Mark) throws(StoreError) -> KnownState {
        guard let last = survey.last, survey.filled.first?.firstBatch == 1 else {
            throw missingState()
        }
        return KnownState(store: last.store, epoch: last.epoch, sync: mark.sync, bootID: mark.bootID)
    }

    private func missingState() -> StoreError {
        .missing(file: names.state, reason: "the journal does not begin with the first batch, so nothing replaces it")
    }

    // MARK: Changes

    private func removeUnfinished() throws(StoreError) {
        let contents = try FolderContents(names)
        do throws(SystemError) {
            for path in contents.unfinished + contents.orphans { try FileSystem.remove(path) }
        } catch {
            throw StoreError(error)
        }
    }

    /// Removes what is left over, and cuts off what never was committed: frames behind the end would be taken for
    /// damage once others have been written over their beginning. So is room, as nobody may go on in that segment.
    private func clear(_ survey: SegmentSurvey) throws(StoreError) {
        do throws(SystemError) {
            // A process that was killed may have written to the state what it did not sync, such as that a segment is
            // trimmed. It was read, so it is going to be acted upon: it must not go any more.
            let log = FolderNames.log(of: names.state)
            if FileSystem.exists(log) { try FileSystem.sync(log) }
            for number in survey.leftOver { try FolderNames.removeDatabase(names.segment(number)) }
            // The last one first, and for good: one that is missing before another would be taken for a loss.
            for number in survey.empty.reversed() {
                try FolderNames.removeDatabase(names.segment(number))
                try FileSystem.sync(names.directory)
            }
            if let rest = survey.rest { try FileSystem.truncate(rest.log, to: rest.validEnd) }
            // A process that was killed may have written a commit that it did not sync. It is there, so it is going to
            // be told, and the mark will say so: it must not go any more.
            if let last = survey.last, FileSystem.exists(FolderNames.log(of: names.segment(last.number))) {
                try FileSystem.sync(FolderNames.log(of: names.segment(last.number)))
            }
            try FileSystem.sync(names.directory)
        } catch {
            throw StoreError(error)
        }
    }

    /// Goes on with the last segment, or begins one if that was written for another epoch or in another way, or is full:
    /// what the state's file says of a full segment holds for ever.
    private func openWriter(
        _ survey: SegmentSurvey, _ resumed: KnownState, _ segments: inout [SegmentInfo], lastBatch: UInt64
    ) throws(StoreError) -> SegmentWriter {
        if let last = survey.last, last.epoch == resumed.epoch, last.sync == resumed.sync,
            survey.unrecorded.contains(last.number)
        {
            do throws(SQLiteError) {
                return try SegmentWriter(
                    path: names.segment(last.number), identity: last, roomEnd: options.roomEnd)
            } catch {
                throw StoreError(error, file: names.segment(last.number))
            }
        }
        let number = survey.last.map { $0.number + 1 } ?? resumed.firstSegment
        segments.append(SegmentInfo(number: number, firstBatch: lastBatch + 1, lastBatch: lastBatch))
        return try makeWriter(
            SegmentIdentity(store: resumed.store, epoch: resumed.epoch, sync: resumed.sync, number: number))
    }

    private func makeWriter(_ identity: SegmentIdentity) throws(StoreError) -> SegmentWriter {
        try SegmentWriter.make(identity, names: names, roomEnd: options.roomEnd)
    }

    /// Makes the state of a folder whose state file is missing, as it was: the mark is about to say that it goes on, and
    /// whoever comes after a kill must still find in which run of the machine it was left.
    private func replaceState(_ survey: SegmentSurvey, _ mark: Mark) throws(StoreError) -> StateDatabase {
        try StateDatabase.create(path: names.state, meta: try rebuiltState(survey, mark).meta)
        return try openState()
    }

    /// Writes down how the folder goes on, and which segments are full.
    private func settle(
        _ resumed: KnownState, _ state: StateDatabase, full: [SegmentInfo]
    ) throws(StoreError) {
        do throws(SQLiteError) {
            for segment in full { try state.record(segment) }
            try state.durably { () throws(SQLiteError) in
                for (key, value) in resumed.meta { try Meta.set(key, to: value, in: state.database) }
            }
        } catch {
            throw StoreError(error, file: names.state)
        }
    }

    private func openMark(lastBatch: UInt64) throws(StoreError) -> MarkFile {
        do throws(SystemError) {
            let mark = try MarkFile(
                path: names.mark, mark: Mark(lastBatch: lastBatch, sync: options.sync, bootID: options.bootID))
            try FileSystem.sync(names.directory)
            return mark
        } catch {
            throw StoreError(error)
        }
    }

    private func openState() throws(StoreError) -> StateDatabase {
        try Schema.checkHeader(of: names.state)
        do throws(SQLiteError) {
            return try StateDatabase(path: names.state)
        } catch {
            throw StoreError(error, file: names.state)
        }
    }

    private func read(_ state: StateDatabase) throws(StoreError) -> KnownState {
        do throws(SQLiteError) { return try KnownState(state) } catch { throw StoreError(error, file: names.state) }
    }
}
