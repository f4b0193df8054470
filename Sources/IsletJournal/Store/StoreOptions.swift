/// When a commit is pushed to the disk.
package enum SyncMode: String, Sendable, Equatable, CaseIterable {
    /// Before it is reported (`sync=full`).
    case full
    /// When the system likes (`sync=normal`).
    case normal

    /// What a batch that was committed this way survives.
    package var guarantee: JournalGuarantee {
        switch self {
        case .full: .powerLoss
        case .normal: .processCrash
        }
    }
}

/// How a journal is kept.
package struct StoreOptions: Sendable {
    package var sync = SyncMode.full
    /// About as many bytes are in a segment; the commit that exceeds them is the last one in it.
    package var segmentBytes = 64 << 20
    /// Segments are trimmed when all of them take more than this; it beats everything but the snapshot, and, while
    /// the disk has room, the newest full segment, which stays until the one after it has so many (``Retention``).
    package var retentionBytes = 8 << 30
    /// Events are kept this long in domain time, in milliseconds.
    package var retentionTime: Int64 = 24 * 3_600_000
    /// Retries may ask for answers this long in domain time, in milliseconds: a start reads so many.
    package var answerRetention: Int64 = 600_000
    /// Nothing new is taken while fewer bytes than these are free. A quarter of them is for what was taken already, and half
    /// for the snapshot, without which no segment can be trimmed; trimming itself waits for nothing.
    package var minimumFree = 64 << 20
    /// Whether a segment's log has zeros ahead (``LogRoom``).
    package var logRoom = true
    /// How long to wait before a full disk is tried again, in milliseconds.
    package var fullRetry = 250
    /// How often a journal that has nothing to commit looks whether it could, in milliseconds.
    package var roomCheck = 1_000
    /// The bytes that are free for a folder; nil: it cannot be asked, and only SQLite finds a full disk.
    package var freeBytes: @Sendable (_ directory: String) -> Int? = { FileSystem.freeBytes(at: $0) }
    /// Whether a folder may be in memory, as `tmpfs` is.
    package var allowVolatile = false
    /// Whether what is there is taken as it is, under a new epoch, though it may not be all (`islet journal rebuild`).
    package var takesWhatIsThere = false
    /// The run of the machine: commits that were not synced are lost when it changes.
    package var bootID = FileSystem.bootID
    /// A new name for the epoch of a store's streams: random, at most 36 bytes, none that was used before.
    package var makeEpoch: @Sendable () -> String
    /// What happens when a commit fails: the process ends. Where it returns, as in tests, the journal is dead: it does
    /// and reports nothing any more.
    package var onFailure: @Sendable (_ reason: String) -> Void = { JournalExit.leave($0) }
    /// A line for the log about something that is wrong but stops nothing.
    package var onWarning: @Sendable (_ line: String) -> Void = { JournalExit.warn($0) }

    /// Where room ends, in bytes of a segment, so that a full one has none; 0: there is none. It is of no use without syncs.
    var roomEnd: Int { logRoom && sync == .full ? segmentBytes : 0 }

    package init(makeEpoch: @escaping @Sendable () -> String) {
        self.makeEpoch = makeEpoch
    }
}
