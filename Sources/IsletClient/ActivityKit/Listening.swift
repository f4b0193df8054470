import Synchronization

extension ActivityStore {
    /// Listens until the task is cancelled.
    ///
    /// - Parameter whenListening: called once, when nothing can be missed any more.
    func follow(
        _ listener: @escaping @Sendable (Change) -> Void, whenListening: () async -> Void = {}
    ) async {
        guard let number = try? await listen(listener) else { return listener(.ended) }
        await whenListening()
        await untilCancelled()
        stop(listener: number)
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
