import Synchronization

/// What waits between the bus thread and one reader of a stream.
///
/// It takes what it is given; `push` tells the bus thread to pause the replica, so that it grows beyond the limit by
/// no more than one message's effects.
package final class DeliveryQueue: Sendable {
    private struct State {
        var deliveries: [Delivery] = []
        var start = 0
        var reader: CheckedContinuation<Result<Delivery?, IsletError>, Never>?
        /// Which of the calls of `next()` the reader is in, and the latest of all.
        var readingCall: UInt64 = 0
        var lastCall: UInt64 = 0
        /// How it ended; told after what was delivered before.
        var ending: Result<Delivery?, IsletError>?
        var isPaused = false
        var isAbandoned = false

        var count: Int { deliveries.count - start }

        mutating func pop() -> Delivery? {
            guard start < deliveries.count else { return nil }
            let delivery = deliveries[start]
            start += 1
            if start == deliveries.count || start >= 1_024 {
                deliveries.removeFirst(start)
                start = 0
            }
            return delivery
        }
    }

    /// What the bus thread has to know.
    struct Status: Sendable, Hashable {
        /// The reader has caught up after a pause.
        var wantsMore: Bool
        var isAbandoned: Bool
    }

    private let state = Mutex(State())
    private let limit: Int
    /// Wakes the bus thread up.
    private let wake: @Sendable () -> Void

    /// An empty queue.
    ///
    /// - Parameters:
    ///   - limit: how many deliveries may wait.
    ///   - wake: wakes the bus thread up.
    package init(limit: Int, wake: @escaping @Sendable () -> Void) {
        self.limit = max(limit, 1)
        self.wake = wake
    }

    // MARK: The bus thread's side

    /// Adds a delivery; true where the reader is behind.
    package func push(_ delivery: Delivery) -> Bool {
        let (reader, isFull) = state.withLock {
            state -> (CheckedContinuation<Result<Delivery?, IsletError>, Never>?, Bool) in
            guard state.ending == nil else { return (nil, false) }
            guard let reader = state.reader.take() else {
                state.deliveries.append(delivery)
                return (nil, state.count >= limit)
            }
            return (reader, false)
        }
        reader?.resume(returning: .success(delivery))
        return isFull
    }

    /// The stream is over: normally (nil) or with an error.
    func finish(_ error: IsletError?) {
        let ending: Result<Delivery?, IsletError> = error.map { .failure($0) } ?? .success(nil)
        let reader = state.withLock { state in
            if state.ending == nil { state.ending = ending }
            return state.reader.take()
        }
        reader?.resume(returning: ending)
    }

    func status() -> Status {
        state.withLock { state in
            Status(wantsMore: state.isPaused && state.count <= limit / 2, isAbandoned: state.isAbandoned)
        }
    }

    /// Notes whether the replica is paused, so that the bus thread is woken up when it need not be any more.
    package func setPaused(_ isPaused: Bool) {
        let wantsMore = state.withLock { state in
            state.isPaused = isPaused
            return isPaused && state.count <= limit / 2
        }
        // It may have been read while it was not known to be paused, and nobody was told.
        if wantsMore { wake() }
    }

    // MARK: The reader's side

    /// The next delivery; nil at the end, and when the task is cancelled, however much waits: for a reader that takes less
    /// than comes something always does. One task at a time may wait.
    package func next() async throws(IsletError) -> Delivery? {
        let call = state.withLock { state in
            state.lastCall += 1
            return state.lastCall
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> (Result<Delivery?, IsletError>, wakes: Bool)? in
                    if Task.isCancelled { return (.success(nil), false) }
                    if let delivery = state.pop() {
                        return (.success(delivery), state.isPaused && state.count == limit / 2)
                    }
                    if let ending = state.ending { return (ending, false) }
                    guard state.reader == nil else {
                        return (.failure(.invalid("a stream is read by one task at a time")), false)
                    }
                    state.reader = continuation
                    state.readingCall = call
                    return nil
                }
                guard let (result, wakes) = now else { return }
                if wakes { wake() }
                continuation.resume(returning: result)
            }
        } onCancel: {
            // Another task's wait is not this one's to end.
            state.withLock { $0.readingCall == call ? $0.reader.take() : nil }?.resume(returning: .success(nil))
        }
        return try result.get()
    }

    /// Nobody will read it any more.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
        wake()
    }
}
