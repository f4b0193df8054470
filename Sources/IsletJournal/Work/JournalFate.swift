import Synchronization

/// Whether a journal still lives: the first failure of any of its threads ends all of them.
final class JournalFate: Sendable {
    private struct State {
        var hasFailed = false
        var listeners: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let onFailure: @Sendable (String) -> Void

    init(onFailure: @escaping @Sendable (String) -> Void) {
        self.onFailure = onFailure
    }

    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    /// Calls `wake` when something failed.
    func onFailure(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(wake) }
    }

    /// Something failed that must not be tried again. The process ends here, but in tests.
    func fail(_ reason: String) {
        let listeners: [@Sendable () -> Void]? = state.withLock { state in
            if state.hasFailed { return nil }
            state.hasFailed = true
            return state.listeners
        }
        guard let listeners else { return }
        onFailure(reason)
        for listener in listeners { listener() }
    }
}
