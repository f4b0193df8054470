/// What the state's file says of the folder, as it stood when it was opened.
struct KnownState {
    var store: String
    var epoch: String
    /// The epoch of the last segment with batches when that one began: the same, or the one before it.
    var journalEpoch: String
    /// How the last owner committed, in which run of the machine, and whether it said goodbye.
    var sync: SyncMode
    var bootID: String
    var isClosed: Bool
    var holdsThrough: UInt64
    /// Whether its rows may show what the journal has lost, as no round of the snapshot ended since.
    var isAhead = false
    /// The first batch with an answer that a retry may still ask for.
    var answersFrom: UInt64 = 0
    var clock: Int64
    var trimmedThrough: UInt64
    /// The first segment that is not trimmed.
    var firstSegment: Int
    /// Those that were full.
    var segments: [SegmentInfo] = []
    var trimmed: [[UInt8]: UInt64] = [:]

    /// The state of a folder without anything.
    init(store: String, epoch: String, sync: SyncMode, bootID: String) {
        (self.store, self.epoch, self.sync, self.bootID) = (store, epoch, sync, bootID)
        journalEpoch = epoch
        (isClosed, holdsThrough, clock, trimmedThrough, firstSegment) = (false, 0, 0, 0, 1)
    }

    init(_ state: StateDatabase) throws(SQLiteError) {
        try self.init(meta: state.meta())
        (segments, trimmed) = try state.segments()
    }

    init(meta: Meta) throws(SQLiteError) {
        guard let store = meta[Schema.Key.store], let epoch = meta[Schema.Key.epoch],
            let sync = meta[Schema.Key.sync].flatMap(SyncMode.init(rawValue:)),
            let bootID = meta[Schema.Key.bootID], let isClosed = meta[Schema.Key.isClosed],
            let holdsThrough = meta[Schema.Key.holdsThrough].flatMap({ UInt64($0) }),
            let clock = meta[Schema.Key.clock].flatMap({ Int64($0) }),
            let trimmedThrough = meta[Schema.Key.trimmedThrough].flatMap({ UInt64($0) }),
            let firstSegment = meta[Schema.Key.firstSegment].flatMap({ Int($0) })
        else { throw .corrupt("its table meta is not complete") }
        (self.store, self.epoch, self.sync, self.bootID) = (store, epoch, sync, bootID)
        journalEpoch = meta[Schema.Key.journalEpoch] ?? epoch
        (self.isClosed, self.holdsThrough, self.clock) = (isClosed == "1", holdsThrough, clock)
        isAhead = meta[Schema.Key.isAhead] == "1"
        answersFrom = meta[Schema.Key.answersFrom].flatMap { UInt64($0) } ?? 0
        (self.trimmedThrough, self.firstSegment) = (trimmedThrough, firstSegment)
    }

    /// As the file's table of single values.
    var meta: [String: String] {
        [
            Schema.Key.store: store, Schema.Key.epoch: epoch, Schema.Key.journalEpoch: journalEpoch, Schema.Key.sync: sync.rawValue,
            Schema.Key.bootID: bootID, Schema.Key.isClosed: isClosed ? "1" : "0",
            Schema.Key.holdsThrough: String(holdsThrough), Schema.Key.clock: String(clock),
            Schema.Key.trimmedThrough: String(trimmedThrough), Schema.Key.firstSegment: String(firstSegment),
            Schema.Key.isAhead: isAhead ? "1" : "0", Schema.Key.answersFrom: String(answersFrom),
        ]
    }

    /// Whether commits may be gone in a run of the machine: what was not synced went with the run before, unless a
    /// goodbye synced it.
    func mayHaveLostCommits(in bootID: String) -> Bool { sync == .normal && !isClosed && self.bootID != bootID }
}
