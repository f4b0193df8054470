import Glibc
import IsletFilter
import Synchronization

/// One line on standard error that says how far something long has come; only where a person looks, and gone at the
/// end.
final class ProgressLine: Sendable {
    /// Before this nobody waits for long.
    private static let delay = Duration.seconds(1)
    private static let interval = Duration.milliseconds(500)

    private static var isSeen: Bool { isatty(STDERR_FILENO) == 1 && environment("TERM") != "dumb" }

    /// Does something, and says again and again what `text` says, with the time that has passed.
    static func during<Result: Sendable>(
        _ text: @escaping @Sendable () -> String, _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard isSeen else { return try await body() }
        let begun = ContinuousClock.now
        let line = ProgressLine()
        let ticker = Task.detached {
            var next = begun + delay
            while (try? await Task.sleep(until: next, clock: .continuous)) != nil {
                line.show("\(text()) … \(TimeText.span(Span(begun.duration(to: .now)).milliseconds))")
                next = .now + interval
            }
        }
        defer {
            ticker.cancel()
            line.end()
        }
        return try await body()
    }

    private enum State {
        case empty, shown, ended
    }

    private let state = Mutex(State.empty)

    private func show(_ text: String) {
        state.withLock { state in
            guard state != .ended else { return }
            state = .shown
            Console.prompt("\r\u{1B}[K\(text)")
        }
    }

    private func end() {
        state.withLock { state in
            if state == .shown { Console.prompt("\r\u{1B}[K") }
            state = .ended
        }
    }
}
