extension StreamReplica {
    /// A chunk of the pull that this replica asked for last.
    package mutating func received(_ chunk: BulkChunk) -> [ReplicaEffect] {
        switch state {
        case .snapshotting: snapshotChunk(chunk)
        case .repairing: replayChunk(chunk)
        case .joining, .following, .paused: []
        }
    }

    /// The pull brought nothing for too long.
    package mutating func pullTimedOut() -> [ReplicaEffect] {
        retry()
    }

    // MARK: Asking

    mutating func requestSnapshot(reason: SyncedState.Reason, jumps: Bool = false) -> [ReplicaEffect] {
        state = .snapshotting
        need = reason
        snapshot.rows = []
        snapshot.proof = nil
        snapshot.jumps = snapshot.jumps || jumps
        forgetDigests()
        return [.snapshot(app: app, prefix: prefix, attempt: attempt)]
    }

    mutating func requestReplay() -> [ReplicaEffect] {
        state = .repairing
        forgetDigests()
        return [.replay(app: app, from: seq, attempt: attempt)]
    }

    private mutating func retry() -> [ReplicaEffect] {
        attempt += 1
        switch state {
        case .snapshotting: return requestSnapshot(reason: need ?? .inconsistent)
        case .repairing: return requestReplay()
        case .joining, .following, .paused: return []
        }
    }

    /// What is refused for good is not asked for again.
    private mutating func refused(_ error: ServiceError) -> [ReplicaEffect] {
        error.isForGood ? [.fail(.refused(error))] : retry()
    }

    // MARK: Snapshots

    private mutating func snapshotChunk(_ chunk: BulkChunk) -> [ReplicaEffect] {
        if case .failed(let error) = chunk.end { return refused(error) }
        if let chunkEpoch = chunk.epoch, let epoch, chunkEpoch != epoch { return rejoin(keeping: nil) }
        if let fromSeq = chunk.fromSeq { snapshot.fromSeq = fromSeq }
        for row in chunk.rows {
            guard let entity = Entity(topic: row.topic, row: row.bytes) else { return retry() }
            snapshot.rows.append(entity)
        }
        guard case .complete(let end, let count, let digest) = chunk.end else { return [.credit(app: app)] }
        return finishSnapshot(at: end, proof: .init(entities: count, digest: digest), epoch: chunk.epoch)
    }

    private mutating func finishSnapshot(
        at end: UInt64, proof: SnapshotProgress.Proof, epoch chunkEpoch: String?
    ) -> [ReplicaEffect] {
        epoch = epoch ?? chunkEpoch
        entities = EntityTable()
        for row in snapshot.rows { entities[row.topic] = row }
        snapshot.rows = []
        snapshot.fuzzyUntil = max(end, snapshot.fromSeq)
        snapshot.proof = proof

        var missed: ClosedRange<UInt64>?
        if snapshot.jumps || prefix != nil, snapshot.fromSeq > seq {
            // The numbers of a filtered stream say nothing about what was missed.
            if prefix == nil { missed = (seq + 1)...snapshot.fromSeq }
            seq = snapshot.fromSeq
        }
        snapshot.jumps = false
        // `head` does not rise to the end: the events up to there are still under way by the subscription, which is
        // another connection than this. They are missing only if the next event, watermark or join shows a gap.
        head = max(head, seq)
        checkedSeq = nil
        isCheckDue = prefix != nil
        state = stateAfterPull
        let synced = ReplicaEffect.deliver(.synced(syncedState(reason: need ?? .inconsistent, missed: missed)))
        guard !isPaused else { return [synced] + park() }
        return [synced] + proveAndDrain()
    }

    /// `prove` may ask for another snapshot.
    private mutating func proveAndDrain() -> [ReplicaEffect] {
        let effects = prove()
        guard state == .following else { return effects }
        let isBehind = snapshot.skips && head > seq
        snapshot.skips = false
        return effects + (isBehind ? requestReplay() : drain())
    }

    // MARK: Replays

    private mutating func replayChunk(_ chunk: BulkChunk) -> [ReplicaEffect] {
        // Also a refusal: what was asked for before the answer to a join may be beyond the end of a new history.
        if let chunkEpoch = chunk.epoch, let epoch, chunkEpoch != epoch { return rejoin(keeping: nil) }
        if case .failed(let error) = chunk.end { return replayFailed(error) }
        var effects: [ReplicaEffect] = []
        for row in chunk.rows {
            guard let event = StreamEvent(topic: row.topic, bytes: row.bytes) else { return effects + retry() }
            guard event.seq > seq else { continue }
            guard event.seq == seq + 1 else { return effects + eventsLost(next: event.seq) }
            effects += take(event)
            guard state == .repairing else { return effects }
        }
        guard case .complete(let end, _, _) = chunk.end else { return effects + [.credit(app: app)] }
        // The service has all up to the end; where it sent less, it does not have it any more.
        if end > seq { return effects + eventsLost(next: end + 1) }
        attempt = 0
        head = seq
        state = stateAfterPull
        return effects + proveAndDrain()
    }

    private mutating func replayFailed(_ error: ServiceError) -> [ReplicaEffect] {
        guard error.code == .tooOld else { return refused(error) }
        return eventsLost(next: error.detail["oldest"]?.sequenceNumber ?? waiting.first?.seq ?? head + 1)
    }

    /// Events up to `next` cannot be had any more.
    private mutating func eventsLost(next: UInt64) -> [ReplicaEffect] {
        attempt = 0
        if keepsEntities { return requestSnapshot(reason: .eventsLost, jumps: true) }
        guard next > seq + 1 else { return retry() }
        let missed = (seq + 1)...(next - 1)
        seq = next - 1
        head = max(head, seq)
        return [.deliver(.synced(syncedState(reason: .eventsLost, missed: missed)))] + requestReplay()
    }
}
