/// What is in a data folder, in figures.
package struct JournalStatistics: Sendable, Equatable {
    package struct Segment: Sendable, Equatable {
        package var name: String
        package var bytes: Int
        package var batches: Int
        package var events: Int
        package var apps: Int
        /// 0 where it is empty.
        package var firstBatch: UInt64
        package var lastBatch: UInt64
        /// Domain times in milliseconds since 1970.
        package var firstAt: Int64
        package var lastAt: Int64
    }

    package var epoch: String
    package var segments: [Segment]
    /// The snapshot.
    package var stateBytes: Int
    package var entities: Int
    package var facts: Int
    package var holdsThrough: UInt64
    /// The last batch that is not kept any more; 0: all are.
    package var trimmedThrough: UInt64
    /// The last batch that was acknowledged.
    package var acknowledged: UInt64
    package var wasClosed: Bool

    package var bytes: Int { segments.reduce(stateBytes) { $0 + $1.bytes } }
    package var events: Int { segments.reduce(0) { $0 + $1.events } }
}

extension Store {
    /// Counts what is in a folder, also while a service uses it, but then in another process.
    package static func statistics(directory: String) throws(StoreError) -> JournalStatistics {
        let names = FolderNames(directory: directory)
        let contents = try existingContents(names)
        do throws(SQLiteError) {
            let state = try Database(path: names.state, mode: .readOnly)
            let known = try KnownState(meta: Meta(state))
            var statistics = JournalStatistics(
                epoch: known.epoch, segments: [], stateBytes: FolderNames.bytes(of: names.state),
                entities: Int(try state.integer("SELECT count(*) FROM entity") ?? 0),
                facts: Int(try state.integer("SELECT count(*) FROM fact") ?? 0), holdsThrough: known.holdsThrough,
                trimmedThrough: known.trimmedThrough, acknowledged: 0, wasClosed: known.isClosed)
            for number in contents.segments {
                let reader: SegmentReader
                do throws(SQLiteError) {
                    reader = try SegmentReader(path: names.segment(number), number: number)
                } catch .cannotOpen {
                    // It was trimmed just now.
                    continue
                }
                statistics.segments.append(try segment(reader))
            }
            statistics.acknowledged = (try? contents.mark(names))?.lastBatch ?? 0
            return statistics
        } catch {
            throw StoreError(error, file: directory)
        }
    }

    private static func segment(_ reader: SegmentReader) throws(SQLiteError) -> JournalStatistics.Segment {
        let info = try reader.info(firstBatch: 1)
        let counts = try reader.counts()
        return JournalStatistics.Segment(
            name: FolderNames.segmentName(reader.number), bytes: info.bytes, batches: counts.batches,
            events: counts.events, apps: counts.apps, firstBatch: info.isEmpty ? 0 : info.firstBatch,
            lastBatch: info.isEmpty ? 0 : info.lastBatch, firstAt: info.firstAt, lastAt: info.lastAt)
    }

    /// The files of a folder that must be one.
    static func existingContents(_ names: FolderNames) throws(StoreError) -> FolderContents {
        switch FileSystem.kind(of: names.directory) {
        case .directory: break
        case .other: throw .notADirectory(names.directory)
        case nil: throw .missing(file: names.directory, reason: "there is no such folder")
        }
        let contents = try FolderContents(names)
        guard !contents.isEmpty || contents.hasMark else {
            throw .missing(file: names.directory, reason: "there is no journal in it")
        }
        return contents
    }
}
