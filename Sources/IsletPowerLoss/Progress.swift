import IsletJournal
import Synchronization

/// What one run of a journal has said so far, and a way to wait for more. One task waits at a time.
final class Progress: Sendable {
    struct Said: Sendable {
        /// Everything up to this batch is committed.
        var committed: UInt64 = 0
        var swept = 0
        var full = 0
        var room = 0
        /// The journal's last words.
        var failure: String?
        var warnings: [String] = []
        var reads: [JournalReadResult] = []
        /// Something that must not be.
        var wrong: String?
    }

    private struct State {
        var said: Said
        var waiter: (isMet: @Sendable (Said) -> Bool, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State(said: Said()))

    var said: Said { state.withLock { $0.said } }

    /// The journal begins behind that batch.
    func begin(after number: UInt64) { change { $0.committed = number } }

    func report(_ notice: JournalNotice) {
        change { said in
            switch notice {
            case .committed(let through, _):
                if said.failure?.contains("commit of batch \(through) failed") == true {
                    said.wrong = "batch \(through) was committed after all"
                }
                if through != said.committed + 1 { said.wrong = "batch \(through) was committed after \(said.committed)" }
                said.committed = through
            case .swept: said.swept += 1
            case .isFull: said.full += 1
            case .hasRoom: said.room += 1
            case .read(let result): said.reads.append(result)
            case .backedUp, .segmentIsDelayed: break
            }
        }
    }

    func failed(_ reason: String) { change { $0.failure = reason } }

    func warned(_ line: String) { change { $0.warnings.append(line) } }

    /// Returns when enough was said, or the journal has failed.
    func wait(_ isMet: @escaping @Sendable (Said) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMetAlready = state.withLock { state in
                if state.said.failure != nil || isMet(state.said) { return true }
                state.waiter = (isMet, continuation)
                return false
            }
            if isMetAlready { continuation.resume() }
        }
    }

    private func change(_ body: (inout Said) -> Void) {
        let met = state.withLock { state -> CheckedContinuation<Void, Never>? in
            body(&state.said)
            guard let waiter = state.waiter, state.said.failure != nil || waiter.isMet(state.said) else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        met?.resume()
    }
}
