extension Activity {
    /// The states: the present one first, then each change, until it is dismissed.
    ///
    /// Somebody who reads slowly may miss states in between, but never the last. It ends early with the connection.
    public var activityStateUpdates: AsyncStream<ActivityState> {
        follow { members in members["state"]?.string.flatMap(ActivityState.init(rawValue:)) }
    }

    /// The contents: the present one first, then each change, until it is dismissed.
    ///
    /// Somebody who reads slowly may miss contents in between, but never the last. It ends early with the connection. Of one
    /// that is dismissed there is none any more.
    public var contentUpdates: AsyncStream<ActivityContent<ContentState>> {
        follow { members in ActivityContent(members) }
    }

    /// The activities of this type: those that are there first, then each that is started, by whomever.
    ///
    /// It ends with the connection, and where more than 65 536 of them wait for the reader: a new one begins with those that
    /// are there then.
    public static var activityUpdates: AsyncStream<Activity<Attributes>> {
        AsyncStream(bufferingPolicy: .bufferingOldest(activityBuffer)) { continuation in
            let session = try? Islet.current()
            let task = Task {
                guard let session, let store = try? await session.opened().store else { return continuation.finish() }
                let known = KnownIDs()
                await store.follow { change in
                    switch change {
                    case .entity(let id, let entity):
                        guard entity.state?.isListed == true else { return known.remove(id) }
                        guard known.insert(id), let activity = Activity(entity.members, session: session) else {
                            return
                        }
                        if case .dropped = continuation.yield(activity) { continuation.finish() }
                    case .gone(let id): known.remove(id)
                    case .ended: continuation.finish()
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private static var activityBuffer: Int { 65_536 }
    private static var changeBuffer: Int { 64 }

    /// Values of this activity as they change, equal ones in a row once.
    private func follow<Value: Hashable & Sendable>(
        _ value: @escaping @Sendable (RawObject) -> Value?
    ) -> AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.changeBuffer)) { continuation in
            let task = Task { [id, session] in
                let last = Latest<Value>()
                let tell: @Sendable (RawObject) -> Void = { members in
                    if let value = value(members), last.isNew(value) { continuation.yield(value) }
                    if members["state"]?.string == ActivityState.dismissed.rawValue { continuation.finish() }
                }
                guard let store = try? await session.opened().store else { return continuation.finish() }
                await store.follow(id) { change in
                    switch change {
                    case .entity(_, let entity): tell(entity.members)
                    case .gone: tell(["state": .string(ActivityState.dismissed.rawValue)])
                    case .ended: continuation.finish()
                    }
                } whenListening: {
                    // Not listed: dismissed before somebody listened, or so new that its event is still under way.
                    guard !last.hasValue else { return }
                    do throws(IsletError) {
                        let members = try await self.read()
                        if members["state"]?.string == ActivityState.dismissed.rawValue { tell(members) }
                    } catch {
                        // Forgotten: it was dismissed long ago.
                        guard error.code == .notFound else { return continuation.finish() }
                        tell(["state": .string(ActivityState.dismissed.rawValue)])
                    }
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
