import IsletJournal
import Synchronization

/// Collects what a journal reports, and waits for it.
final class Notices: Sendable {
    private struct Waiter: Sendable {
        var isMet: @Sendable ([JournalNotice]) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var notices: [JournalNotice] = []
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    var report: JournalReport {
        { [self] notice in
            let met = state.withLock { state in
                state.notices.append(notice)
                let notices = state.notices
                let met = state.waiters.filter { $0.isMet(notices) }
                state.waiters.removeAll { $0.isMet(notices) }
                return met
            }
            for waiter in met { waiter.continuation.resume() }
        }
    }

    var all: [JournalNotice] { state.withLock { $0.notices } }

    /// Returns when what was reported so far is enough.
    func wait(_ isMet: @escaping @Sendable ([JournalNotice]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let already = state.withLock { state in
                if isMet(state.notices) { return true }
                state.waiters.append(Waiter(isMet: isMet, continuation: continuation))
                return false
            }
            if already { continuation.resume() }
        }
    }

    /// Waits until a batch is committed.
    func committed(_ number: UInt64) async {
        await wait { notices in
            notices.contains { if case .committed(let through, _) = $0 { through >= number } else { false } }
        }
    }

    /// Waits until so many pieces of the snapshot are written.
    func swept(_ count: Int) async {
        await wait { notices in
            notices.count { if case .swept = $0 { true } else { false } } >= count
        }
    }

    /// Waits for the answer to a read.
    func read(_ id: UInt64) async -> JournalReadResult.Outcome? {
        let result: @Sendable ([JournalNotice]) -> JournalReadResult.Outcome? = { notices in
            for case .read(let result) in notices where result.id == id { return result.outcome }
            return nil
        }
        await wait { result($0) != nil }
        return result(all)
    }

    /// Waits for a backup.
    func backup(_ id: UInt64) async -> Result<Int, BackupFailure>? {
        let result: @Sendable ([JournalNotice]) -> Result<Int, BackupFailure>? = { notices in
            for case .backedUp(let result) in notices where result.id == id { return result.outcome }
            return nil
        }
        await wait { result($0) != nil }
        return result(all)
    }
}
