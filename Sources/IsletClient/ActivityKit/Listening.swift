import Synchronization

extension ActivityStore {
    /// Listens until the task is cancelled.
    ///
    /// - Parameters:
    ///   - id: whose changes alone are told; nil: those of all.
    ///   - whenListening: called once, when nothing can be missed any more.
    func follow(
        _ id: String? = nil, _ listener: @escaping Listener, whenListening: () async -> Void = {}
    ) async {
        guard let listening = try? await listen(to: id, listener) else { return listener(.ended) }
        await whenListening()
        await untilCancelled()
        stop(listening)
    }

    private func untilCancelled() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self, bufferingPolicy: .bufferingNewest(1))
        // A stream without elements ends when its task is cancelled, and with the listener's own end.
        for await _ in stream {}
        continuation.finish()
    }
}

/// The last of a row of values.
final class Latest<Value: Hashable & Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    var hasValue: Bool { value.withLock { $0 != nil } }

    /// Remembers a value; false where it is the same as before.
    func isNew(_ next: Value) -> Bool {
        value.withLock { value in
            defer { value = next }
            return value != next
        }
    }
}

/// Ids that were told already.
final class KnownIDs: Sendable {
    private let ids = Mutex<Set<String>>([])

    /// False where it was known.
    func insert(_ id: String) -> Bool {
        ids.withLock { $0.insert(id).inserted }
    }

    func remove(_ id: String) {
        ids.withLock { _ = $0.remove(id) }
    }
}
