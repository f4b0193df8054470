import Synchronization

/// The copy of one app's listed activities, kept by a stream, and who wants to hear of changes.
///
/// The stream begins with the first question. Where it ends, all who listen are told, and the next question begins another.
/// It keeps the loop behind a connection and not the connection, which ends with its last user and ends the stream.
final class ActivityStore: Sendable {
    /// What a listener is told.
    enum Change: Sendable {
        /// The entity of that id as it is now: at the beginning, after an event, and after continuity was lost.
        case entity(id: String, Entity)
        /// It is not there any more, without an event that said so.
        case gone(id: String)
        /// Nothing more will be told.
        case ended
    }

    typealias Listener = @Sendable (Change) -> Void

    /// Who listens, and to what.
    struct Listening: Sendable {
        fileprivate let number: Int
        /// nil: to all activities.
        fileprivate let id: String?
    }

    private struct State {
        var hasBegun = false
        var isSynced = false
        var entities: [String: Entity] = [:]
        var listeners: [Int: Listener] = [:]
        /// Those who listen to one activity alone, by its id: each is told of its own, however many there are.
        var listenersOfOne: [String: [Int: Listener]] = [:]
        var lastListener = 0
        var waiters: [Int: CheckedContinuation<Result<Void, IsletError>, Never>] = [:]
        var lastWaiter = 0

        mutating func add(_ listener: @escaping Listener, to id: String?) -> Listening {
            lastListener += 1
            if let id {
                if let entity = entities[id] { listener(.entity(id: id, entity)) }
                listenersOfOne[id, default: [:]][lastListener] = listener
            } else {
                for (id, entity) in entities { listener(.entity(id: id, entity)) }
                listeners[lastListener] = listener
            }
            return Listening(number: lastListener, id: id)
        }

        mutating func remove(_ listening: Listening) {
            guard let id = listening.id else { return listeners[listening.number] = nil }
            listenersOfOne[id]?[listening.number] = nil
            if listenersOfOne[id]?.isEmpty == true { listenersOfOne[id] = nil }
        }

        func tell(_ id: String, _ change: Change) {
            for listener in listeners.values { listener(change) }
            if let own = listenersOfOne[id] { for listener in own.values { listener(change) } }
        }

        /// Tells all that nothing more comes, and forgets what was known.
        mutating func end() {
            for listener in listeners.values { listener(.ended) }
            for own in listenersOfOne.values { for listener in own.values { listener(.ended) } }
            (listeners, listenersOfOne, entities) = ([:], [:], [:])
            (hasBegun, isSynced) = (false, false)
        }
    }

    private let app: String
    private let loop: ConnectionLoop
    private let state = Mutex(State())

    init(app: String, loop: ConnectionLoop) {
        self.app = app
        self.loop = loop
    }

    /// Calls `listener` with each entity that is there, and then with each change, in order, until `stop`.
    ///
    /// - Parameter id: whose changes alone are told; nil: those of all.
    func listen(to id: String?, _ listener: @escaping Listener) async throws(IsletError) -> Listening {
        while true {
            try await synced()
            // It is called under the lock, so that no change can come between the present and what follows it. The stream
            // may have ended since: then another one begins.
            let listening = state.withLock { state in state.isSynced ? state.add(listener, to: id) : nil }
            if let listening { return listening }
        }
    }

    func stop(_ listening: Listening) {
        state.withLock { $0.remove(listening) }
    }

    // MARK: The stream

    /// Returns once the app's activities are known.
    private func synced() async throws(IsletError) {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var begins = false
                let now: Result<Void, IsletError>? = state.withLock { state in
                    if Task.isCancelled { return .failure(.cancelled) }
                    if state.isSynced { return .success(()) }
                    // Waiting before the stream begins, as it may end at once.
                    state.waiters[waiter] = continuation
                    begins = !exchange(&state.hasBegun, with: true)
                    return nil
                }
                if begins { begin() }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: .failure(.cancelled))
        }
        try result.get()
    }

    private func begin() {
        // Detached: a session that it inherited with the values of its task would never end.
        Task.detached { [app, loop] in
            do throws(IsletError) {
                let queue = try await loop.addReader(prefix: app + "/", keepsEntities: true)
                defer { queue.abandon() }
                while let delivery = try await queue.next() { self.apply(delivery) }
                self.end(.closed)
            } catch {
                self.end(error)
            }
        }
    }

    private func apply(_ delivery: Delivery) {
        let waiters = state.withLock { state -> [CheckedContinuation<Result<Void, IsletError>, Never>] in
            switch delivery {
            case .synced(let synced):
                let old = state.entities
                state.entities = [:]
                for entity in synced.entities {
                    if let id = activityID(entity.topic) { state.entities[id] = entity }
                }
                for id in old.keys where state.entities[id] == nil { state.tell(id, .gone(id: id)) }
                for (id, entity) in state.entities where old[id] != entity { state.tell(id, .entity(id: id, entity)) }
                state.isSynced = true
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            case .event(let event, let context):
                guard context.isNews, let entity = context.entity, let id = activityID(event.topic) else { return [] }
                state.entities[id] = event.leavesListed ? entity : nil
                state.tell(id, .entity(id: id, entity))
                return []
            case .joined, .closing:
                return []
            }
        }
        for waiter in waiters { waiter.resume(returning: .success(())) }
    }

    /// The id in a topic, `<app>/activity/<type>/<id>`; nil where it is of another family.
    private func activityID(_ topic: String) -> String? {
        guard topic.utf8.dropFirst(app.utf8.count).starts(with: "/activity/".utf8) else { return nil }
        return topic.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(topic[topic.utf8.index(after: $0)...]) }
    }

    private func end(_ error: IsletError) {
        let waiters = state.withLock { state in
            state.end()
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: .failure(error)) }
    }
}
