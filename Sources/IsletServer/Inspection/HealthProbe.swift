import Synchronization

/// One question about health on its way to a partition, for all who want to know it meanwhile: a partition that does not
/// answer is not asked again and again.
final class HealthProbe: Sendable {
    /// At most this many wait.
    private static let maximumWaiters = 1_024
    /// What a partition that does not answer is said to be.
    static let silence = ServiceHealth.notReady("the service does not answer")

    /// Somebody who waits, and gets one answer.
    final class Waiter: Sendable {
        private let continuation: Mutex<CheckedContinuation<ServiceHealth, Never>?>

        init(_ continuation: CheckedContinuation<ServiceHealth, Never>) { self.continuation = Mutex(continuation) }

        /// Answers, unless an answer was given before.
        func give(_ health: ServiceHealth) {
            let waiting = continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }
            waiting?.resume(returning: health)
        }
    }

    enum Addition {
        /// The question is on its way already.
        case asked
        /// The caller has to ask it.
        case toBeAsked
        case tooMany
    }

    private let waiters = Mutex<[Waiter]>([])

    func add(_ waiter: Waiter) -> Addition {
        waiters.withLock { waiters in
            guard waiters.count < Self.maximumWaiters else { return .tooMany }
            waiters.append(waiter)
            return waiters.count == 1 ? .toBeAsked : .asked
        }
    }

    func answer(_ health: ServiceHealth) {
        let waiting = waiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiting { waiter.give(health) }
    }
}
