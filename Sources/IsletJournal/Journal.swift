/// Where committed batches go: the step between applying commands and answering them.
///
/// The owner fills a ``JournalBatch``, appends it, and sends the batch's answers and events only once the journal says
/// that it is committed. So an answer with `ok:true` never promises more than ``guarantee`` says, and a subscriber never
/// sees what a crash could take back.
///
/// Batches are numbered densely from 1 and commit in that order. At most ``JournalBatch/maximumInFlight`` are appended and not yet
/// committed, which bounds memory and lets the next batch fill while one is written. A journal is used from one
/// thread, the bus thread, and reports from wherever it commits; a commit that fails ends the process, so there is no
/// failure to report.
package protocol Journal: AnyObject {
    /// What a committed batch survives.
    var guarantee: JournalGuarantee { get }

    /// Takes a batch, and keeps what it needs of it.
    ///
    /// After ``JournalReceipt/pending`` the journal reports the number of the batch through the ``JournalReport`` that
    /// it was made with. Traps on a number out of order and on more than ``JournalBatch/maximumInFlight`` batches: both are the
    /// owner's bugs.
    func append(_ batch: JournalBatch) -> JournalReceipt

    /// Commits what was appended, reports it, and releases files and threads. Nothing may be appended after this.
    func close() async
}

/// Tells the owner that all batches up to and including this number are committed.
///
/// Called on a thread of the journal's choice; it must not block. The owner's closure hands the number to its own thread.
package typealias JournalReport = @Sendable (_ committedThrough: UInt64) -> Void

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
