import Glibc

/// An open data folder: what it holds, until the journal is started that goes on with it.
///
/// Used by one thread at a time. The folder is ours as long as this or its journal lives.
package final class Store: RecoverySource {
    package let directory: String
    package internal(set) var summary = RecoverySummary()

    let names: FolderNames
    let options: StoreOptions
    let lock: FolderLock
    let state: StateDatabase
    let segments: SegmentDirectory
    /// The first batch with an answer that a retry may still ask for.
    let answersFrom: UInt64
    let mark: MarkFile
    /// The one that is written now; the journal takes it, since a store lives as long as its process.
    private var writer: SegmentWriter?
    /// While it is read for recovery.
    var ahead: SegmentsAhead?

    init(opened: StoreOpening.Result, names: FolderNames, options: StoreOptions, lock: FolderLock) {
        directory = names.directory
        self.names = names
        self.options = options
        self.lock = lock
        state = opened.state
        segments = SegmentDirectory(segments: opened.segments, trimmed: opened.trimmed)
        answersFrom = opened.answersFrom
        mark = opened.mark
        writer = opened.writer
        summary = opened.summary
    }

    /// Opens a data folder, or makes one where there is none.
    ///
    /// Nothing is changed where it throws, but for the lock's file and a folder that was missing.
    package static func open(directory: String, options: StoreOptions) throws(StoreError) -> Store {
        let names = FolderNames(directory: directory)
        try prepareFolder(names, options)
        let lock = try takeLock(names)
        let opened = try StoreOpening(names: names, options: options).open()
        return Store(opened: opened, names: names, options: options, lock: lock)
    }

    static func prepareFolder(_ names: FolderNames, _ options: StoreOptions) throws(StoreError) {
        switch FileSystem.kind(of: names.directory) {
        case .directory: break
        case .other: throw .notADirectory(names.directory)
        case nil:
            do throws(SystemError) {
                try FileSystem.makeDirectory(names.directory)
                try FileSystem.sync(FileSystem.directory(of: names.directory))
            } catch {
                throw StoreError(error)
            }
        }
        switch FileSystem.obstacle(toWritingIn: names.directory) {
        case nil: break
        case EROFS: throw .readOnly(names.directory)
        case _?: throw .notWritable(names.directory)
        }
        if !options.allowVolatile, let kind = FileSystem.volatileFileSystem(of: names.directory) {
            throw .volatile(directory: names.directory, fileSystem: kind)
        }
    }

    static func takeLock(_ names: FolderNames) throws(StoreError) -> FolderLock {
        do throws(FolderLock.Failure) {
            return try FolderLock(path: names.lock)
        } catch {
            switch error {
            case .held(let pid): throw .locked(directory: names.directory, pid: pid)
            case .system(let error): throw StoreError(error)
            }
        }
    }

    /// Starts the threads that go on with the journal. Once, after recovery; nothing is read from the store after this.
    ///
    /// - Parameters:
    ///   - lastBatch: The last batch that the owner knows of, which must be the store's.
    ///   - report: Called on the journal's threads.
    package func startJournal(
        after lastBatch: UInt64, report: @escaping JournalReport
    ) throws(StoreError) -> SQLiteJournal {
        ahead = nil
        precondition(lastBatch == summary.lastBatch, "batch \(lastBatch) is not the last, \(summary.lastBatch) is")
        guard let writer = writer.take() else { preconditionFailure("a store's journal is started once") }
        do throws(SystemError) {
            return try SQLiteJournal(store: self, writer: writer, report: report)
        } catch {
            throw StoreError(error)
        }
    }

    /// How many segments there are, with the one that is written.
    package var segmentCount: Int { segments.segments.count }

    /// The number of each segment's first batch, also of one that has none yet.
    package var firstBatches: [UInt64] { segments.segments.map(\.firstBatch) }
}
