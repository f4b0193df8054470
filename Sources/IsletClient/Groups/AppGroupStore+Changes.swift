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
    /// No event tells that a group was removed, which only one without keys can be: where another app has made one of its name
    /// since, what there is in that follows within half a minute. It ends with the connection.
    public func changes() -> AppGroupChanges { changes(askingOwnerEvery: .seconds(30)) }

    /// The same, with another pause between the questions whose group it is.
    package func changes(askingOwnerEvery interval: Duration) -> AppGroupChanges {
        AppGroupChanges(store: self, interval: interval)
    }
}

/// The changes of a group.
public struct AppGroupChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = AppGroupChange
    /// Why it ended early.
    public typealias Failure = IsletError

    let store: AppGroupStore
    let interval: Duration

    /// A reader of its own, which begins with what there is then.
    public func makeAsyncIterator() -> Iterator { Iterator(store: store, interval: interval) }

    /// Reads the changes one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private let store: AppGroupStore
        private let interval: Duration
        private var deliveries: DeliveryStream.Iterator?
        private var owner: GroupOwnerWatch?

        init(store: AppGroupStore, interval: Duration) {
            self.store = store
            self.interval = interval
        }

        /// The next change; nil once the connection is closed or the task is cancelled.
        public mutating func next() async throws(IsletError) -> AppGroupChange? {
            try await next(isolation: #isolation)
        }

        /// As `next()`.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(IsletError) -> AppGroupChange? {
            while true {
                do throws(IsletError) {
                    if deliveries == nil { try await follow() }
                } catch {
                    if error == .cancelled { return nil }
                    throw error
                }
                while let delivery = try await deliveries?.next(isolation: actor) {
                    if let change = AppGroupChange(delivery) { return change }
                }
                guard owner?.isAnother == true else { return nil }
                (deliveries, owner) = (nil, nil)
            }
        }

        private mutating func follow() async throws(IsletError) {
            let owner = try await store.info().owner
            let connection = try await store.current().connection
            let stream = try await connection.entities("\(owner)/group/\(store.suiteName)/")
            self.owner = GroupOwnerWatch(store, owner, every: interval) { stream.finish() }
            deliveries = stream.makeAsyncIterator()
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
