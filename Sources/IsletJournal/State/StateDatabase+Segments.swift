extension StateDatabase {
    /// The segments that were full, and what was trimmed of each app.
    func segments() throws(SQLiteError) -> (segments: [SegmentInfo], trimmed: [[UInt8]: UInt64]) {
        try Self.segments(of: database)
    }

    /// The same of a connection that only reads.
    ///
    /// - Throws: `corrupt` where what is noted of a segment, or of what was trimmed, is not as it was written.
    static func segments(
        of database: Database
    ) throws(SQLiteError) -> (segments: [SegmentInfo], trimmed: [[UInt8]: UInt64]) {
        let meta = try Meta(database)
        var segments: [SegmentInfo] = []
        let rows = try database.prepare(
            "SELECT number, first_batch, last_batch, first_at, last_at FROM segment ORDER BY number")
        while try rows.step() {
            segments.append(
                SegmentInfo(
                    number: Int(rows.integer(0)), firstBatch: rows.unsigned(1), lastBatch: rows.unsigned(2),
                    firstAt: rows.integer(3), lastAt: rows.integer(4)))
        }
        // One for all segments.
        var names: Set<[UInt8]> = []
        let apps = try database.prepare("SELECT app, first_seq, last_seq FROM segment_app WHERE segment = ?")
        for index in segments.indices {
            apps.bind(Int64(segments[index].number), at: 1)
            while try apps.step() {
                let app = names.insert(apps.array(0)).memberAfterInsert
                segments[index].apps[app] = SeqRange(first: apps.unsigned(1), last: apps.unsigned(2))
            }
            apps.reset()
            let number = segments[index].number
            if let sum = meta[Schema.Key.segmentSum(number)], sum != SumOfRows(of: segments[index]).text {
                throw .corrupt("what is noted of segment \(number) is not as it was written")
            }
        }
        let trimmed = try trimmed(of: database)
        if let sum = meta[Schema.Key.trimmedSum], sum != SumOfRows(of: trimmed).text {
            throw .corrupt("what is noted of trimmed events is not as it was written")
        }
        return (segments, trimmed)
    }

    private static func trimmed(of database: Database) throws(SQLiteError) -> [[UInt8]: UInt64] {
        var trimmed: [[UInt8]: UInt64] = [:]
        let past = try database.prepare("SELECT app, last_seq FROM trimmed")
        while try past.step() { trimmed[past.array(0)] = past.unsigned(1) }
        return trimmed
    }

    /// Notes what a full segment has.
    func record(_ segment: SegmentInfo) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            try database.execute(
                """
                INSERT OR REPLACE INTO segment VALUES(\(segment.number), \(segment.firstBatch), \(segment.lastBatch),
                    \(segment.firstAt), \(segment.lastAt))
                """)
            let insert = try database.prepare("INSERT OR REPLACE INTO segment_app VALUES(?,?,?,?)")
            insert.bind(Int64(segment.number), at: 1)
            for (app, range) in segment.apps {
                insert.bind(range.first, at: 3)
                insert.bind(range.last, at: 4)
                try insert.run(with: app, at: 2)
            }
            try Meta.set(Schema.Key.segmentSum(segment.number), to: SumOfRows(of: segment).text, in: database)
        }
    }

    /// Notes, durably, that a segment goes, before its files do; keeps its answers from that batch on.
    func recordTrimming(of segment: SegmentInfo, at path: String, answersFrom: UInt64) throws(SQLiteError) {
        let reader =
            segment.lastBatch >= answersFrom ? try SegmentReader(path: path, number: segment.number) : nil
        try durably { () throws(SQLiteError) in
            if let reader {
                try KeptAnswers(database).add(try reader.answers(from: answersFrom, through: segment.lastBatch))
            }
            let insert = try database.prepare("INSERT OR REPLACE INTO trimmed VALUES(?,?)")
            for (app, range) in segment.apps {
                insert.bind(range.last, at: 2)
                try insert.run(with: app, at: 1)
            }
            try database.execute(
                """
                DELETE FROM segment WHERE number <= \(segment.number);
                DELETE FROM segment_app WHERE segment <= \(segment.number);
                """)
            try Meta.remove(Schema.Key.segmentSum(segment.number), in: database)
            let sum = SumOfRows(of: try Self.trimmed(of: database))
            try Meta.set(Schema.Key.trimmedSum, to: sum.text, in: database)
            try Meta.set(Schema.Key.trimmedThrough, to: segment.lastBatch, in: database)
            try Meta.set(Schema.Key.firstSegment, to: UInt64(segment.number + 1), in: database)
        }
    }
}

extension Statement {
    /// Binds bytes and runs.
    fileprivate func run(with bytes: [UInt8], at index: Int32) throws(SQLiteError) {
        let result: Result<Void, SQLiteError> = unsafe bytes.withUnsafeBytes { content in
            // They stand still within this closure; afterwards nothing is bound any more.
            unsafe bindBlob(content, at: index)
            defer { bindNull(at: index) }
            return Result { () throws(SQLiteError) in try run() }
        }
        try result.get()
    }
}

/// A sum of rows whose order is not known.
private struct SumOfRows {
    private var value: UInt64 = 0

    init(of segment: SegmentInfo) {
        add(name: [], [segment.number, Int(segment.firstAt), Int(segment.lastAt)].map { UInt64(bitPattern: Int64($0)) })
        add(name: [], [segment.firstBatch, segment.lastBatch])
        for (app, range) in segment.apps { add(name: app, [range.first, range.last]) }
    }

    init(of trimmed: [[UInt8]: UInt64]) {
        for (app, seq) in trimmed { add(name: app, [seq]) }
    }

    private mutating func add(name: [UInt8], _ words: [UInt64]) {
        var sum = RowChecksum()
        // They stand still within this closure.
        unsafe name.withUnsafeBytes { unsafe sum.add($0) }
        for word in words { sum.add(word) }
        value ^= sum.value
    }

    var text: String { String(value, radix: 16) }
}
