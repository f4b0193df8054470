import Logging
import Synchronization

/// Says every second what a stop waits for, from the moment on in which it was asked for.
final class StopTeller: Sendable {
    private struct State {
        var reason: @Sendable () -> String
        var telling: Task<Void, Never>?
        var hasEnded = false
    }

    private let state: Mutex<State>
    private let logger: Logger

    /// - Parameter reason: what it waits for, at first.
    init(_ logger: Logger, waitingFor reason: @escaping @Sendable () -> String) {
        self.logger = logger
        state = Mutex(State(reason: reason))
    }

    /// It waits for something else from now on.
    func waits(for reason: @escaping @Sendable () -> String) {
        state.withLock { $0.reason = reason }
    }

    /// A stop was asked for; a second time does nothing.
    func begin() {
        state.withLock { state in
            guard !state.hasEnded, state.telling == nil else { return }
            state.telling = Task { await self.tell() }
        }
    }

    /// Nothing is waited for any more.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.telling?.cancel()
        }
    }

    private func tell() async {
        var seconds = 0
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            seconds += 1
            let reason = state.withLock { $0.reason }
            logger.notice("stopping for \(seconds) s: waiting for \(reason())")
        }
    }
}
