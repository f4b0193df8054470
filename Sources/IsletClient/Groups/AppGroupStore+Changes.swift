/// What happens in a group.
public enum AppGroupChange: Sendable, Hashable {
    /// All that there is: at the beginning, and wherever changes were missed, signals among them.
    case synced([AppGroupItem])
    /// A key was set.
    case set(AppGroupItem)
    /// A key was removed.
    case removed(key: String, revision: UInt64)
    /// Something without data was told, by an app.
    case notified(name: String, by: String?)
}

extension AppGroupStore {
    /// What there is, then each change, in their order, through restarts of the service and lost connections.
    ///
    /// It ends with the connection.
    public func changes() -> AppGroupChanges { AppGroupChanges(store: self) }
}

/// The changes of a group.
public struct AppGroupChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = AppGroupChange
    /// Why it ended early.
    public typealias Failure = IsletError

    let store: AppGroupStore

    /// A reader of its own, which begins with what there is then.
    public func makeAsyncIterator() -> Iterator { Iterator(store: store) }

    /// Reads the changes one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private let store: AppGroupStore
        private var deliveries: DeliveryStream.Iterator?

        init(store: AppGroupStore) {
            self.store = store
        }

        /// The next change; nil once the connection is closed or the task is cancelled.
        public mutating func next() async throws(IsletError) -> AppGroupChange? {
            try await next(isolation: #isolation)
        }

        /// As `next()`.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(IsletError) -> AppGroupChange? {
            do throws(IsletError) {
                if deliveries == nil {
                    let owner = try await store.info().owner
                    let connection = try await store.current().connection
                    deliveries = try await connection.entities("\(owner)/group/\(store.suiteName)/").makeAsyncIterator()
                }
            } catch {
                if error == .cancelled { return nil }
                throw error
            }
            while let delivery = try await deliveries?.next(isolation: actor) {
                if let change = AppGroupChange(delivery) { return change }
            }
            return nil
        }
    }
}

extension AppGroupChange {
    /// What a delivery of the owner's stream says of the group; nil where that is nothing new.
    init?(_ delivery: Delivery) {
        switch delivery {
        case .synced(let state):
            let items = state.entities.compactMap { AppGroupItem($0.members) }
            self = .synced(items.sorted { $0.key < $1.key })
        case .event(let event, let context):
            guard context.isNews else { return nil }
            if let notification = event.object["notification"]?.object {
                guard let name = notification["name"]?.string else { return nil }
                self = .notified(name: name, by: notification["by"]?.string)
                return
            }
            guard let entity = context.entity else { return nil }
            guard event.leavesListed else {
                self = .removed(key: entity.id, revision: entity.revision)
                return
            }
            guard let item = AppGroupItem(entity.members) else { return nil }
            self = .set(item)
        case .joined, .closing: return nil
        }
    }
}
