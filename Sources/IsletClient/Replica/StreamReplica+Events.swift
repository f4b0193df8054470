extension StreamReplica {
    /// An event has come by the subscription.
    package mutating func received(_ event: StreamEvent) -> [ReplicaEffect] {
        if let epoch, event.position.epoch != epoch {
            return rejoin(keeping: isPaused ? nil : event)
        }
        // An app that had no events at the join has its epoch from its first one.
        if isSynced, epoch == nil { epoch = event.position.epoch }
        switch state {
        case .joining, .snapshotting, .repairing:
            guard !waiting.append(event), prefix != nil else { return [] }
            doubt()
            return [.join]
        case .paused:
            return []
        case .following:
            if follows(event) {
                // Just before this event the replica may be where a digest was taken.
                let effects = compareDigest(before: event.seq)
                guard effects.isEmpty else {
                    waiting.append(event)
                    return effects
                }
                return take(event)
            }
            guard event.seq > seq else { return [] }
            waiting.append(event)
            return requestReplay()
        }
    }

    /// A watermark has come by the subscription.
    package mutating func received(_ watermark: Watermark) -> [ReplicaEffect] {
        if let epoch, watermark.position.epoch != epoch { return rejoin(keeping: nil) }
        guard state == .following else { return [] }
        let mark = watermark.position.seq
        if prefix != nil {
            epoch = watermark.position.epoch
            let effects = compareDigest(before: mark + 1)
            seq = max(seq, mark)
            return effects
        }
        if mark > seq {
            epoch = watermark.position.epoch
            head = max(head, mark)
            return requestReplay()
        }
        guard keepsEntities, mark == seq, mark >= snapshot.fuzzyUntil,
            !entities.agrees(entities: watermark.entities, digest: watermark.digest)
        else { return [] }
        return requestSnapshot(reason: .inconsistent)
    }

    // MARK: Taking events in

    /// Whether nothing is missing between what was taken in and this event, as far as numbers can tell.
    private func follows(_ event: StreamEvent) -> Bool {
        prefix == nil ? event.seq == seq + 1 : event.seq > seq
    }

    /// Takes in what waited, as far as it follows; then makes sure that all that is known to exist is there.
    mutating func drain() -> [ReplicaEffect] {
        var effects: [ReplicaEffect] = []
        while state == .following, let event = waiting.first {
            if let epoch, event.position.epoch != epoch {
                waiting.removeAll()
                return effects + rejoin(keeping: event)
            }
            if event.seq <= seq {
                waiting.removeFirst()
            } else if follows(event) {
                waiting.removeFirst()
                effects += take(event)
            } else {
                return effects + requestReplay()
            }
        }
        if state == .following { effects += catchUp() }
        return effects
    }

    /// Replays what is known to exist and was not taken in.
    mutating func catchUp() -> [ReplicaEffect] {
        head > seq ? requestReplay() : []
    }

    /// Takes the next event in and hands it on.
    mutating func take(_ event: StreamEvent) -> [ReplicaEffect] {
        let effects = takeIn(event)
        if trail != nil {
            let point = here
            trail?.append(point)
        }
        return effects
    }

    private mutating func takeIn(_ event: StreamEvent) -> [ReplicaEffect] {
        epoch = event.position.epoch
        seq = event.seq
        head = max(head, seq)
        guard wants(event.topic) else { return prove() }
        guard keepsEntities, let revision = event.revision else {
            return [.deliver(.event(event, EventContext(entity: nil, isNews: true)))] + prove()
        }

        let held = entities[event.topic]
        let isFuzzy = event.seq <= snapshot.fuzzyUntil
        let isContained =
            event.seq <= snapshot.fromSeq || held.map { revision <= $0.revision } ?? (isFuzzy && !event.isStart)
        if isContained {
            return [.deliver(.event(event, EventContext(entity: held, isNews: false)))] + prove()
        }
        if event.isStart {
            entities[event.topic] = Entity(topic: event.topic, members: event.patch)
        } else if var entity = held, revision == entity.revision + 1 {
            entity.apply(event.patch, revision: revision)
            entities[event.topic] = entity
        } else {
            // A revision is missing although no event is, or an entity that should be here is not.
            return requestSnapshot(reason: .inconsistent)
        }
        let entity = entities[event.topic]
        if !event.leavesListed { entities[event.topic] = nil }
        return [.deliver(.event(event, EventContext(entity: entity, isNews: true)))] + prove()
    }

    /// Where a snapshot has become exact, compares it with what the service says holds there.
    mutating func prove() -> [ReplicaEffect] {
        guard state == .following || state == .repairing, let proof = snapshot.proof, seq >= snapshot.fuzzyUntil
        else { return [] }
        snapshot.proof = nil
        // A position beyond it is another state, with another digest: the next watermark speaks of that one.
        guard prefix == nil, seq == snapshot.fuzzyUntil else {
            attempt = 0
            return []
        }
        guard !entities.agrees(entities: proof.entities, digest: proof.digest) else {
            attempt = 0
            return []
        }
        attempt += 1
        return requestSnapshot(reason: .inconsistent)
    }
}
