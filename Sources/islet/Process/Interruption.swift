import Glibc
import IsletClient
import Synchronization
import UnixSignals

/// What a signal leaves behind: who stops a command while a change has no answer is told that nobody knows its outcome.
///
/// The process then ends at once, as by the signal itself, so that a shell sees what it always sees (130 after Ctrl-C).
/// What listens to signals on its own, and tells more, says so; a second one then ends it nevertheless.
enum Interruption {
    private struct State {
        var isListening = false
        var connections: [IsletConnection] = []
        /// How many listen on their own now.
        var listeners = 0
        /// How many signals they were left to handle.
        var left = 0
    }

    private static let state = Mutex(State())

    /// From now on a signal tells of the unanswered changes of a connection too.
    static func watch(_ connection: IsletConnection) async {
        let isFirst = state.withLock { state in
            state.connections.append(connection)
            defer { state.isListening = true }
            return !state.isListening
        }
        guard isFirst else { return }
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        Task.detached { for await signal in signals { await take(signal) } }
    }

    /// A connection has done what it was for.
    static func unwatch(_ connection: IsletConnection) {
        state.withLock { $0.connections.removeAll { $0 === connection } }
    }

    /// Does something that listens to SIGINT and SIGTERM on its own.
    static func leaving<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        state.withLock { state in
            state.listeners += 1
            state.left = 0
        }
        defer { state.withLock { $0.listeners -= 1 } }
        return try await body()
    }

    /// Such as `; activity.update was sent, outcome unknown`; empty where nothing is open.
    static func unanswered() async -> String {
        var sent: [String] = []
        var unsent: [String] = []
        for connection in state.withLock(\.connections) {
            let changes = await connection.unansweredChanges()
            sent += changes.sent
            unsent += changes.unsent
        }
        var text = ""
        if let first = sent.first {
            text += "; \(named(first, sent.count)) sent, outcome unknown: look at it before you repeat it"
        }
        if let first = unsent.first { text += "; \(named(first, unsent.count)) not sent" }
        return text
    }

    private static func named(_ op: String, _ count: Int) -> String {
        count == 1 ? "\(op) was" : "\(op) and \(count - 1) more were"
    }

    private static func take(_ signal: UnixSignal) async {
        let isLeft = state.withLock { state in
            guard state.listeners > 0, signal != .sighup else { return false }
            state.left += 1
            return state.left == 1
        }
        guard !isLeft else { return }
        let text = await unanswered()
        if !text.isEmpty { Console.message("stopped\(text)") }
        die(of: signal.rawValue)
    }

    /// Ends the process as the signal does that nobody handles.
    private static func die(of number: Int32) -> Never {
        signal(number, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
        // Where the system does not let it: what a shell says of it.
        _exit(128 + number)
    }
}
