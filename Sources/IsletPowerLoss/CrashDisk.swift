import CPowerLoss

/// A folder on a disk that forgets what was not synced; see `power_loss.h`.
///
/// `@unchecked Sendable`: every call takes the disk's own mutex. It is detached in `deinit`, when nobody has a file of it.
package final class CrashDisk: @unchecked Sendable {
    /// What became of what was not synced.
    package struct Losses: Sendable, Equatable {
        /// Writes that nobody had synced.
        package var unsynced = 0
        /// Of those: gone, all of it.
        package var lost = 0
        /// Of those: there in part.
        package var torn = 0
        /// Files that were made, renamed or removed, and it is not so.
        package var names = 0

        package init(unsynced: Int = 0, lost: Int = 0, torn: Int = 0, names: Int = 0) {
            (self.unsynced, self.lost, self.torn, self.names) = (unsynced, lost, torn, names)
        }
    }

    /// A call that fails.
    package enum Fault: CaseIterable, Sendable {
        /// A file cannot grow, be made or renamed: no room, inode or quota is left.
        case noSpace
        /// A file cannot be opened: the process, or the system, has too many.
        case noDescriptor
        case writeError
        /// What was to be synced is there in part, or not at all.
        case syncError

        /// It is waited for until there is enough again, and nothing ends.
        var isLack: Bool {
            switch self {
            case .noSpace, .noDescriptor: true
            case .writeError, .syncError: false
            }
        }
    }

    package let path: String
    private let disk: OpaquePointer
    /// Held for the disk, which knows only its address. Changes while nobody else uses the disk.
    private var watcher: Watcher?

    /// Begins with what is in the folder, all of it durable.
    package init(path: String, seed: UInt64) {
        self.path = path
        disk = pl_attach(path, seed)
    }

    deinit { pl_detach(disk) }

    /// Nothing happens any more from the n-th change or sync on, counted from now.
    package func stop(at count: Int) { pl_stop_at(disk, UInt64(max(0, count))) }

    package var isStopped: Bool { pl_is_stopped(disk) }

    /// Changes and syncs so far.
    package var calls: Int { Int(clamping: pl_count(disk)) }

    /// Calls `each` before each change or sync that happens, on its thread, where ``survive(into:)`` shows the folder of
    /// a machine whose power fails then. While nobody else uses the disk; nil: no more.
    package func watch(_ each: (@Sendable (_ isSync: Bool) -> Void)?) {
        pl_watch(disk, nil, nil)
        watcher = each.map(Watcher.init)
        guard let watcher else { return }
        pl_watch(
            disk, { context, isSync in
                // The disk's owner holds the watcher as long as the disk knows it.
                if let context { Unmanaged<Watcher>.fromOpaque(context).takeUnretainedValue().each(isSync) }
            }, Unmanaged.passUnretained(watcher).toOpaque())
    }

    /// Another process goes on with what was written, synced or not.
    package func restart() { pl_restart(disk) }

    /// Writes what survives loss of power into an empty folder.
    package func survive(into target: String) throws(LifeFailure) -> Losses {
        var losses = pl_losses()
        let code = pl_survive(disk, target, &losses)
        guard code == 0 else { throw LifeFailure("what survived cannot be written to \(target): error \(code)") }
        return Losses(
            unsynced: Int(losses.unsynced), lost: Int(losses.lost), torn: Int(losses.torn), names: Int(losses.names_lost))
    }

    /// Lets some calls fail, from the n-th change or sync on.
    package func fail(_ fault: Fault, at count: Int, times: Int) {
        let kind =
            switch fault {
            case .noSpace: PL_NO_SPACE
            case .noDescriptor: PL_NO_DESCRIPTOR
            case .writeError: PL_WRITE_ERROR
            case .syncError: PL_SYNC_ERROR
            }
        pl_fail(disk, kind, UInt64(count), UInt64(times))
    }

    /// No more calls fail.
    package func endFault() { pl_fail(disk, PL_NO_FAULT, 0, 0) }

    /// Calls that failed so.
    package var failures: Int { Int(clamping: pl_failures(disk)) }

    /// Syncs only claim to have happened.
    package func ignoreSyncs() { pl_ignore_syncs(disk, true) }

    /// Each sync takes so long.
    package func delaySyncs(microseconds: Int) { pl_delay_syncs(disk, UInt32(clamping: microseconds)) }
}

/// What a run found that must not be.
package struct LifeFailure: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

private final class Watcher: Sendable {
    let each: @Sendable (Bool) -> Void

    init(_ each: @escaping @Sendable (Bool) -> Void) {
        self.each = each
    }
}
