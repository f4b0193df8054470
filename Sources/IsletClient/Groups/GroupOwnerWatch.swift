import Synchronization

/// Asks now and then whose a group is, for as long as somebody holds it: the owner's stream has its changes, and nothing there
/// tells that another app has made a group of the name since.
final class GroupOwnerWatch: Sendable {
    private let hasChanged: Answer
    private let asking: Task<Void, Never>

    private final class Answer: Sendable {
        let isAnother = Atomic(false)
    }

    /// - Parameters:
    ///   - owner: whose it was last.
    ///   - changed: called once, when it is another's.
    init(
        _ store: AppGroupStore, _ owner: String, every interval: Duration, changed: @escaping @Sendable () -> Void
    ) {
        let answer = Answer()
        hasChanged = answer
        // Detached: it is not to keep the session of the task that reads.
        asking = Task.detached {
            while !Task.isCancelled {
                try? await Task.sleep(for: interval)
                guard !Task.isCancelled else { return }
                // Without a group there may be one again, and without an answer somebody else sees to the connection.
                guard let present = try? await store.info().owner, present != owner else { continue }
                answer.isAnother.store(true, ordering: .releasing)
                return changed()
            }
        }
    }

    deinit { asking.cancel() }

    /// Whether it is another's.
    var isAnother: Bool { hasChanged.isAnother.load(ordering: .acquiring) }
}
