/// A run of sequence numbers of an app.
struct SeqRange: Equatable, Sendable {
    var first: UInt64
    var last: UInt64
}

/// What is known of a segment's content.
struct SegmentInfo: Equatable, Sendable {
    var number: Int
    /// Its batches; empty while `lastBatch` is before `firstBatch`.
    var firstBatch: UInt64
    var lastBatch: UInt64
    /// Domain times of its first and last batch in milliseconds since 1970.
    var firstAt: Int64 = 0
    var lastAt: Int64 = 0
    /// The events of each app. `last` is right once the segment is sealed.
    var apps: [[UInt8]: SeqRange] = [:]
    /// Bytes of its files when they were last looked at.
    var bytes = 0

    var isEmpty: Bool { lastBatch < firstBatch }
}

/// What a segment says of itself, from its making on.
struct SegmentIdentity: Equatable, Sendable {
    /// The folder's content that it belongs to.
    var store: String
    var epoch: String
    var sync: SyncMode
    var number: Int

    init(store: String, epoch: String, sync: SyncMode, number: Int) {
        self.store = store
        self.epoch = epoch
        self.sync = sync
        self.number = number
    }

    /// Reads it from the file alone, where it always stands, and checks that the file is what its name says.
    init(path: String, number: Int) throws(StoreError) {
        try Schema.checkHeader(of: path)
        do throws(SQLiteError) {
            let database = try Database(path: path, mode: .immutable)
            let meta = try Meta(database)
            guard let store = meta[Schema.Key.store], let epoch = meta[Schema.Key.epoch],
                let sync = meta[Schema.Key.sync].flatMap(SyncMode.init(rawValue:)),
                let found = meta[Schema.Key.segment].flatMap({ Int($0) })
            else { throw .corrupt("its table meta is not complete") }
            self.init(store: store, epoch: epoch, sync: sync, number: found)
        } catch {
            throw StoreError(error, file: path)
        }
        guard self.number == number else {
            throw .otherStore(file: path, expected: "segment \(number)", found: "segment \(self.number)")
        }
    }
}
