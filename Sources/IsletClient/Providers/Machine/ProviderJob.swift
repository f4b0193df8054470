import Synchronization

/// A call on its way through its handler: it can be cancelled before its task is made, and after.
final class ProviderJob: Sendable {
    private enum State {
        case waiting
        case running(Task<Void, Never>)
        case cancelled
    }

    let call: ProviderCall
    private let state = Mutex(State.waiting)

    init(_ call: ProviderCall) {
        self.call = call
    }

    /// Takes the task in that runs the handler.
    func run(in task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .running(task)
            return false
        }
        if isCancelled { task.cancel() }
    }

    /// Cancels the handler.
    func cancel() {
        let task = state.withLock { state -> Task<Void, Never>? in
            defer { state = .cancelled }
            guard case .running(let task) = state else { return nil }
            return task
        }
        task?.cancel()
    }

    /// Whether nobody waits for it any more.
    var isCancelled: Bool {
        state.withLock { state in
            if case .cancelled = state { true } else { false }
        }
    }
}
