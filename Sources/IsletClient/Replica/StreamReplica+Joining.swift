extension StreamReplica {
    /// A join is asked for.
    package mutating func joinAsked() {
        askedSeq = seq
    }

    /// The connection of the subscriptions was lost, or is a new one. A join is asked for after that.
    package mutating func reconnected() {
        isReconnected = true
        doubt()
    }

    /// What comes next by the subscription may not be what follows. A join is asked for after that.
    mutating func doubt() {
        guard prefix != nil else { return }
        isDoubted = true
        forgetDigests()
        if state == .following { state = .joining }
    }

    /// Where a pull leads that has ended.
    var stateAfterPull: State { isDoubted ? .joining : .following }

    /// The service has said where the stream stands, at a moment when the subscriptions were active; nil: it has no
    /// events.
    ///
    /// Comes at the beginning, and again after every new connection.
    package mutating func joined(_ position: StreamPosition?) -> [ReplicaEffect] {
        // An answer that was under way while the app had its first events is no new history.
        if position == nil, isSynced, seq > 0, askedSeq == 0 { return [.join] }
        let wasDoubted = isDoubted
        isDoubted = false
        let mayHaveLostPull = isReconnected
        isReconnected = false
        checkedSeq = nil
        isCheckDue = prefix != nil
        waiting.keep(epoch: position?.epoch)
        if state == .snapshotting, !mayHaveLostPull, position?.epoch == epoch {
            // While much goes on it would never end if each answer began it anew: a replay brings what was dropped.
            head = max(head, position?.seq ?? 0)
            snapshot.skips = snapshot.skips || wasDoubted
            return []
        }
        guard isSynced, continues(position) else {
            return begin(at: position, reason: isSynced ? .epochChanged : .joined)
        }
        if let position {
            epoch = position.epoch
            // It may be behind what a replay has brought since the join was asked for.
            head = max(head, position.seq)
        } else if epoch != nil {
            // An event that was not taken in has named a history which is over, and nothing of it was.
            epoch = nil
            snapshot = SnapshotProgress()
        }
        return goOn(afterGap: wasDoubted && head > seq)
    }

    /// Does what is to be done next where the position is known.
    ///
    /// - Parameter afterGap: whether what waits may not be what follows.
    private mutating func goOn(afterGap: Bool = false) -> [ReplicaEffect] {
        guard !isPaused else { return park() }
        if let need { return tellAnew(need) }
        // The pull's connection may have gone with the other one: ask again rather than wait for its time limit.
        if state == .repairing || afterGap { return requestReplay() }
        state = .following
        return drain()
    }

    /// The reader has room again.
    package mutating func resumed() -> [ReplicaEffect] {
        isPaused = false
        guard state == .paused else { return [] }
        isCheckDue = prefix != nil
        guard let need else { return requestReplay() }
        let effects = tellAnew(need)
        return state == .following ? effects + requestReplay() : effects
    }

    /// The reader is behind: it gets nothing more until it has caught up.
    package mutating func pause() -> [ReplicaEffect] {
        isPaused = true
        switch state {
        case .following, .repairing: return park()
        // They deliver nothing, or one message at their end.
        case .paused, .joining, .snapshotting: return []
        }
    }

    /// Waits for the reader. Nothing is kept: a replay, or a snapshot where one is needed, brings it again.
    mutating func park() -> [ReplicaEffect] {
        let isPulling = state == .repairing || state == .snapshotting
        state = .paused
        waiting.removeAll()
        forgetDigests()
        return isPulling ? [.cancelPull(app: app)] : []
    }

    /// Whether a position follows from what was taken in. Nothing does from a snapshot whose events are still under way,
    /// before which the number is 0.
    private func continues(_ position: StreamPosition?) -> Bool {
        guard let position else { return seq == 0 && entities.count == 0 }
        return epoch == nil || position.epoch == epoch
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
        need = reason
        forgetDigests()
        return goOn()
    }

    /// Tells the reader everything: what a snapshot brings, where there is something to be had.
    private mutating func tellAnew(_ reason: SyncedState.Reason) -> [ReplicaEffect] {
        if keepsEntities, epoch != nil { return requestSnapshot(reason: reason) }
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
        forgetDigests()
        if waiting.first?.position.epoch != event?.position.epoch { waiting.removeAll() }
        if let event { waiting.append(event) }
        if !isAsked { effects.append(.join) }
        return effects
    }

    /// Tells the reader everything.
    mutating func syncedState(reason: SyncedState.Reason, missed: ClosedRange<UInt64>?) -> SyncedState {
        isSynced = true
        need = nil
        return SyncedState(
            app: app, position: position, reason: reason, entities: Array(entities.byTopic.values), missed: missed)
    }
}
