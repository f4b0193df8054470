/// The segments of a folder as they are found, without changing anything.
struct SegmentSurvey {
    /// Those with batches, in order; each begins where the one before it ends.
    private(set) var filled: [SegmentInfo] = []
    /// Who the last one of them is; nil: there are none.
    private(set) var last: SegmentIdentity?
    /// Segments that were opened ahead and have no batch yet.
    private(set) var empty: [Int] = []
    /// Segments that were trimmed already but for their files.
    private(set) var leftOver: [Int] = []
    /// Those of ``filled`` that are not in the state's table.
    private(set) var unrecorded: Set<Int> = []
    /// The log that has something behind its last commit, and the byte where that begins.
    private(set) var rest: (log: String, validEnd: Int)?
    /// The log of them that ends within a transaction, and where: wrong if later segments have batches.
    private var torn: (log: String, badOffset: Int)?

    /// - Parameter known: nil where the state's file is missing.
    init(_ numbers: [Int], names: FolderNames, known: KnownState?) throws(StoreError) {
        let firstSegment = known?.firstSegment ?? 1
        leftOver = numbers.filter { $0 < firstSegment }
        var expectedNumber = firstSegment
        for number in numbers where number >= firstSegment {
            guard number == expectedNumber else {
                throw .missing(file: names.segment(expectedNumber), reason: "and later segments are there")
            }
            expectedNumber += 1
            try examine(number, path: names.segment(number), known: known)
        }
        if let missing = known?.segments.first(where: { $0.number >= expectedNumber }) {
            throw .missing(file: names.segment(missing.number), reason: "it has batches from \(missing.firstBatch) on")
        }
    }

    private mutating func examine(_ number: Int, path: String, known: KnownState?) throws(StoreError) {
        let identity = try SegmentIdentity(path: path, number: number)
        let store = known?.store ?? last?.store ?? identity.store
        guard identity.store == store else { throw .otherStore(file: path, expected: store, found: identity.store) }
        let expected = (filled.last?.lastBatch ?? known?.trimmedThrough ?? 0) + 1

        if var info = known?.segments.first(where: { $0.number == number }) {
            info.bytes = FolderNames.bytes(of: path)
            try add(info, identity, path: path, expected: expected)
            return
        }
        let scan = try Self.scan(path, identity)
        let info: SegmentInfo
        do throws(SQLiteError) {
            info = try SegmentReader(path: path, number: number).info(firstBatch: expected)
        } catch {
            throw StoreError(error, file: path)
        }
        guard !info.isEmpty else {
            empty.append(number)
            return
        }
        unrecorded.insert(number)
        try add(info, identity, path: path, expected: expected)
        let log = FolderNames.log(of: path)
        if scan.hasRest { rest = (log, scan.frames > 0 ? scan.validEnd : 0) }
        if scan.verdict == .torn { torn = (log, scan.badOffset) }
    }

    private mutating func add(
        _ info: SegmentInfo, _ identity: SegmentIdentity, path: String, expected: UInt64
    ) throws(StoreError) {
        if let torn { throw .damagedLog(file: torn.log, offset: torn.badOffset, reason: LogScan.tornBeforeOthers) }
        guard info.firstBatch == expected, empty.isEmpty else {
            throw .batchesMissing(file: path, expected: expected, found: info.firstBatch)
        }
        filled.append(info)
        last = identity
    }

    static func scan(_ path: String, _ identity: SegmentIdentity) throws(StoreError) -> LogScan {
        let log = FolderNames.log(of: path)
        let scan: LogScan
        do throws(SystemError) {
            scan = try LogScan.scan(log, oneUnsynced: identity.sync == .full)
        } catch {
            throw StoreError(error)
        }
        if case .damaged(let reason) = scan.verdict {
            throw .damagedLog(file: log, offset: scan.badOffset, reason: reason)
        }
        return scan
    }
}
