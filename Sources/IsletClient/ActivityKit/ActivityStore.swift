import Synchronization

/// The copy of one app's listed activities, kept by a stream, and who wants to hear of changes.
///
/// The stream begins with the first question, and goes on until the connection is closed.
final class ActivityStore: Sendable {
    /// What a listener is told.
    enum Change: Sendable {
        /// The entity as it is now: at the beginning, after an event, and after continuity was lost.
        case entity(Entity)
        /// It is not there any more, without an event that said so.
        case gone(id: String)
        /// Nothing more will be told.
        case ended
    }

    private struct State {
        var isSynced = false
        /// The stream's end, after which nothing changes any more.
        var ending: Result<Void, IsletError>?
        var entities: [String: Entity] = [:]
        var listeners: [Int: @Sendable (Change) -> Void] = [:]
        var lastListener = 0
        var waiters: [Int: CheckedContinuation<Result<Void, IsletError>, Never>] = [:]
        var lastWaiter = 0
        var hasBegun = false

        func tell(_ change: Change) {
            for listener in listeners.values { listener(change) }
        }
    }

    private let app: String
    private let connection: IsletConnection
    private let state = Mutex(State())

    init(app: String, connection: IsletConnection) {
        self.app = app
        self.connection = connection
    }

    /// Calls `listener` with each entity that is there, and then with each change, in order, until `stop`.
    func listen(_ listener: @escaping @Sendable (Change) -> Void) async throws(IsletError) -> Int {
        try await synced()
        // It is called under the lock, so that no change can come between the present and what follows it.
        return state.withLock { state in
            for entity in state.entities.values { listener(.entity(entity)) }
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
    }

    func stop(listener: Int) {
        state.withLock { $0.listeners[listener] = nil }
    }

    // MARK: The stream

    /// Returns once the app's activities are known.
    private func synced() async throws(IsletError) {
        begin()
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Result<Void, IsletError>? = state.withLock { state in
                    if Task.isCancelled { return .failure(.cancelled) }
                    if let ending = state.ending { return ending }
                    if state.isSynced { return .success(()) }
                    state.waiters[waiter] = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: .failure(.cancelled))
        }
        try result.get()
    }

    private func begin() {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard isFirst else { return }
        // It ends with the connection, which ends the stream. Detached: a session that it inherited with the values of
        // its task would never end.
        Task.detached { [app, connection] in
            do throws(IsletError) {
                let stream = try await connection.entities(app + "/")
                for try await delivery in stream { self.apply(delivery) }
                self.end(.failure(.closed))
            } catch {
                self.end(.failure(error))
            }
        }
    }

    private func apply(_ delivery: Delivery) {
        let waiters = state.withLock { state -> [CheckedContinuation<Result<Void, IsletError>, Never>] in
            switch delivery {
            case .synced(let synced):
                let old = state.entities
                state.entities = [:]
                for entity in synced.entities where isActivity(entity.topic) { state.entities[entity.id] = entity }
                for id in old.keys where state.entities[id] == nil { state.tell(.gone(id: id)) }
                for (id, entity) in state.entities where old[id] != entity { state.tell(.entity(entity)) }
                state.isSynced = true
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            case .event(let event, let context):
                guard context.isNews, let entity = context.entity, isActivity(event.topic) else { return [] }
                state.entities[entity.id] = event.leavesListed ? entity : nil
                state.tell(.entity(entity))
                return []
            case .joined, .closing:
                return []
            }
        }
        for waiter in waiters { waiter.resume(returning: .success(())) }
    }

    private func isActivity(_ topic: String) -> Bool {
        topic.dropFirst(app.utf8.count).hasPrefix("/activity/")
    }

    private func end(_ ending: Result<Void, IsletError>) {
        let waiters = state.withLock { state in
            state.ending = ending
            state.tell(.ended)
            state.listeners = [:]
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: ending) }
    }
}
