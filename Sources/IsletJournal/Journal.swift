/// Where committed batches go: the step between applying commands and answering them.
///
/// The owner fills a ``JournalBatch``, appends it, and sends the batch's answers and events only once the journal says
/// that it is committed. So an answer with `ok:true` never promises more than ``guarantee`` says, and a subscriber never
/// sees what a crash could take back.
///
/// Batches are numbered densely from 1 and commit in that order. At most ``JournalBatch/maximumInFlight`` are appended
/// and not yet committed, which bounds memory and lets the next batch fill while one is written. A journal is used from
/// one thread, the bus thread, and reports from wherever it commits. A commit that fails ends the process, so there is
/// no failure to report; only a full disk is waited out.
package protocol Journal: AnyObject {
    /// What a committed batch survives.
    var guarantee: JournalGuarantee { get }

    /// Takes a batch, and keeps what it needs of it.
    ///
    /// After ``JournalReceipt/pending`` the journal reports the number of the batch through the ``JournalReport`` that
    /// it was made with. Traps on a number out of order and on more than ``JournalBatch/maximumInFlight`` batches: both
    /// are the owner's bugs.
    func append(_ batch: JournalBatch) -> JournalReceipt

    /// Takes a piece of the snapshot, to be written when there is time, after the pieces before it.
    ///
    /// Only when every batch whose effects it shows is committed: else a crash could leave a snapshot that is ahead of
    /// the journal. One piece at a time: the next after ``JournalNotice/swept``.
    func sweep(_ chunk: StateChunk)

    /// Reads stored events on another thread; the answer comes as ``JournalNotice/read(_:)``. At most
    /// ``JournalRead/maximumInFlight`` at a time.
    func read(_ request: JournalRead)

    /// Copies everything that is committed into one new file, online; the answer comes as ``JournalNotice/backedUp(_:)``.
    /// One at a time.
    func backUp(_ request: BackupRequest)

    /// Domain time has come so far, in milliseconds since 1970: what is kept for a time may be over. Now and then is enough.
    func timePassed(to time: Int64)

    /// Commits what was appended, writes what was swept, reports it, notes that this was a clean stop, and releases
    /// files and threads. Nothing may be asked of it after this. Reads that wait then are not answered.
    func close() async
}

/// Tells the owner what became of what it asked for.
///
/// Called on a thread of the journal's choice; it must not block. The owner's closure hands the notice to its own thread.
package typealias JournalReport = @Sendable (JournalNotice) -> Void

/// What a journal tells its owner.
package enum JournalNotice: Sendable {
    /// All batches up to and including this number are committed. `microseconds`: how long the last of them took from
    /// ``Journal/append(_:)`` on, what it waited behind others or for room on the disk included.
    case committed(through: UInt64, microseconds: Int)
    /// The piece of the snapshot that was handed over last is written; the next may come.
    case swept
    /// There is too little room on the disk for another batch: what was appended waits. The owner refuses changes until
    /// ``hasRoom``. `free`: the bytes that are free.
    case isFull(free: Int)
    /// There is room again, and what had waited is being committed.
    case hasRoom
    /// The next segment could not be made, or could be made after all. Until it can, the present one grows.
    case segmentIsDelayed(Bool)
    case read(JournalReadResult)
    case backedUp(BackupResult)
}

/// What became of an appended batch.
package enum JournalReceipt: Equatable, Sendable {
    /// It is committed already; there will be no report.
    case committed
    /// A report will say when it is committed.
    case pending
}

/// What a committed batch survives, with the contract's word for it, which `service.info` and the log use.
package enum JournalGuarantee: String, Sendable, CaseIterable {
    /// Nothing: it is gone with the process (`store=memory`).
    case none = "memory"
    /// `kill -9`, but not loss of power (`sync=normal`).
    case processCrash = "normal"
    /// Loss of power as well (`sync=full`).
    case powerLoss = "full"
}

/// An online copy into one file.
package struct BackupRequest: Sendable {
    package var id: UInt64
    /// An absolute path where nothing is yet.
    package var path: String

    package init(id: UInt64, path: String) {
        self.id = id
        self.path = path
    }
}

/// What became of a backup.
package struct BackupResult: Sendable {
    package var id: UInt64
    /// Bytes of the file, or why there is none.
    package var outcome: Result<Int, BackupFailure>

    package init(id: UInt64, outcome: Result<Int, BackupFailure>) {
        self.id = id
        self.outcome = outcome
    }
}

/// Why there is no backup. The service goes on.
package struct BackupFailure: Error, Equatable, Sendable {
    package var reason: String

    package init(reason: String) {
        self.reason = reason
    }
}
