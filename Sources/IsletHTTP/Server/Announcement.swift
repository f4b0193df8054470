import Synchronization

/// Something that is told once, and may be waited for.
final class Announcement<Value: Sendable>: Sendable {
    private struct State {
        var told: Result<Value, any Error>?
        var waiting: [CheckedContinuation<Result<Value, any Error>, Never>] = []
    }

    private let state = Mutex(State())

    /// Tells it; only the first time counts.
    func tell(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            if state.told == nil { state.told = result }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }

    /// What is told, as soon as it is; cancellation does not end the wait.
    var result: Result<Value, any Error> {
        get async {
            await withCheckedContinuation { continuation in
                let told = state.withLock { state in
                    if state.told == nil { state.waiting.append(continuation) }
                    return state.told
                }
                if let told { continuation.resume(returning: told) }
            }
        }
    }
}
