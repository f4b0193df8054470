extension StreamReplica {
    /// The service has said where the stream stands, at a moment when the subscriptions were active; nil: it has no
    /// events.
    ///
    /// Comes at the beginning, and again after every new connection.
    package mutating func joined(_ position: StreamPosition?) -> [ReplicaEffect] {
        guard isSynced, continues(position) else {
            return begin(at: position, reason: isSynced ? .epochChanged : .joined)
        }
        if let position {
            epoch = position.epoch
            head = max(head, position.seq)
        }
        switch state {
        case .joining:
            state = .following
            return drain()
        case .following: return catchUp()
        // The pull's connection may have gone with the other one: ask again rather than wait for its time limit.
        case .snapshotting: return requestSnapshot(reason: reason)
        case .repairing: return requestReplay()
        case .paused: return []
        }
    }

    /// The reader has room again.
    package mutating func resumed() -> [ReplicaEffect] {
        guard state == .paused else { return [] }
        return requestReplay()
    }

    /// The reader is behind: it gets nothing more until it has caught up.
    package mutating func pause() -> [ReplicaEffect] {
        switch state {
        case .following:
            state = .paused
            return []
        case .repairing:
            state = .paused
            return [.cancelPull(app: app)]
        case .paused, .joining, .snapshotting:
            // The latter two deliver nothing but one message at their end.
            return []
        }
    }

    /// Whether a position follows from what was taken in.
    private func continues(_ position: StreamPosition?) -> Bool {
        guard let position else { return seq == 0 }
        return (epoch == nil || position.epoch == epoch) && position.seq >= seq
    }

    /// Begins at a position, for the first time or after continuity was lost.
    private mutating func begin(at position: StreamPosition?, reason: SyncedState.Reason) -> [ReplicaEffect] {
        if epoch != position?.epoch { snapshot = SnapshotProgress() }
        epoch = position?.epoch
        head = position?.seq ?? 0
        // What is before the join comes by replay, like anything else that was missed.
        seq = isSynced || keepsEntities ? head : min(head, start ?? head)
        waiting.drop(through: seq)
        attempt = 0
        if keepsEntities, position != nil { return requestSnapshot(reason: reason) }
        entities = EntityTable()
        state = .following
        return [.deliver(.synced(syncedState(reason: reason, missed: nil)))] + drain()
    }

    /// What shows that events are of an epoch which this replica has not joined.
    mutating func rejoin(keeping event: StreamEvent?) -> [ReplicaEffect] {
        var effects: [ReplicaEffect] = []
        if state == .snapshotting || state == .repairing { effects.append(.cancelPull(app: app)) }
        let isAsked = state == .joining
        state = .joining
        if waiting.first?.position.epoch != event?.position.epoch { waiting.removeAll() }
        if let event { waiting.append(event) }
        if !isAsked { effects.append(.join) }
        return effects
    }

    /// Tells the reader everything.
    mutating func syncedState(reason: SyncedState.Reason, missed: ClosedRange<UInt64>?) -> SyncedState {
        isSynced = true
        return SyncedState(
            app: app, position: position, reason: reason, entities: Array(entities.byTopic.values), missed: missed)
    }
}
