import Glibc
import IsletClient
import Synchronization
import UnixSignals

/// Something whose changes may have no answer when the command is stopped.
protocol ChangeSender: AnyObject, Sendable {
    func unansweredChanges() async -> UnansweredChanges
}

extension IsletConnection: ChangeSender {}
extension RawConnection: ChangeSender {}

/// What a signal leaves behind: who stops a command while a change has no answer is told that nobody knows its outcome.
///
/// The process then ends at once, as by the signal itself, so that a shell sees what it always sees (130 after Ctrl-C).
/// What listens to signals on its own, and tells more, says so; a second one then ends it nevertheless.
enum Interruption {
    private struct State {
        var isListening = false
        var connections: [any ChangeSender] = []
        /// Who listens on its own now; nil where it was told already, or nobody does.
        var listener: AsyncStream<Void>.Continuation?
        /// The signals that whoever started the process wants to be ignored, as `nohup` does and a shell's `&`.
        var ignored: Set<Int32> = []
    }

    private static let state = Mutex(State())

    /// From now on a signal tells of the unanswered changes of a connection too.
    static func watch(_ connection: some ChangeSender) async {
        state.withLock { $0.connections.append(connection) }
        await listen()
    }

    /// All signals come by one way, so that none is handled twice.
    private static func listen() async {
        let isFirst = state.withLock { state in
            defer { state.isListening = true }
            return !state.isListening
        }
        guard isFirst else { return }
        let trapped: [UnixSignal] = [.sigint, .sigterm, .sighup]
        let ignored = Set(trapped.map(\.rawValue).filter(isIgnored))
        state.withLock { $0.ignored = ignored }
        let signals = await UnixSignalsSequence(trapping: trapped)
        Task.detached { for await signal in signals { await take(signal) } }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // Addresses of functions are not compared otherwise.
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// A connection has done what it was for.
    static func unwatch(_ connection: some ChangeSender) {
        state.withLock { $0.connections.removeAll { $0 === connection } }
    }

    /// Does something that is told of SIGINT and SIGTERM, once: a second signal ends the process.
    static func telling<Result>(_ body: (AsyncStream<Void>) async throws -> Result) async rethrows -> Result {
        await listen()
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        state.withLock { $0.listener = continuation }
        defer {
            state.withLock { $0.listener = nil }
            continuation.finish()
        }
        return try await body(signals)
    }

    /// Such as `; activity.update was sent, outcome unknown`; empty where nothing is open.
    static func unanswered() async -> String {
        var changes = UnansweredChanges()
        for connection in state.withLock(\.connections) { changes.add(await connection.unansweredChanges()) }
        let text = changes.description
        return text.isEmpty ? "" : "; \(text)"
    }

    private static func take(_ signal: UnixSignal) async {
        guard !state.withLock({ $0.ignored.contains(signal.rawValue) }) else { return }
        let listener = state.withLock { state -> AsyncStream<Void>.Continuation? in
            guard signal != .sighup else { return nil }
            defer { state.listener = nil }
            return state.listener
        }
        if let listener {
            listener.yield()
            return
        }
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
