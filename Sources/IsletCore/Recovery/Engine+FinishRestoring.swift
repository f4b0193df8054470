/// A stream whose entities are not those that it ended with.
package struct UnprovenStream: Equatable, Sendable, CustomStringConvertible {
    package var app: AppID
    package var name: [UInt8]
    /// Where the stream ended, as was written with its last event; nil: nowhere.
    package var written: (seq: UInt64, entities: Int)?
    /// What was taken back.
    package var found: (seq: UInt64, entities: Int)

    package static func == (one: UnprovenStream, other: UnprovenStream) -> Bool {
        one.description == other.description
    }

    package var description: String {
        let name = String(decoding: name, as: UTF8.self)
        guard let written else { return "\(name) has entities without a stream" }
        guard written.seq == found.seq else {
            return "\(name) ends at seq \(written.seq), an entity of it at \(found.seq)"
        }
        return "\(name) has \(found.entities) entities and not the \(written.entities) of seq \(written.seq), "
            + "or other ones"
    }
}

/// What follows from restored activities: indexes, lists, counts, digests, timers.
extension Engine {
    /// Everything was taken back.
    ///
    /// - Parameter isProven: whether what was written about each stream must be met; not where the journal may have lost
    ///   commits that were not promised to survive.
    /// - Returns: the streams of which something else was taken back; none where they must be met.
    /// - Throws: `contradiction` where an app's entities are not those that its stream ended with.
    @discardableResult
    package mutating func finishRestoring(isProven: Bool) throws(ImageError) -> [UnprovenStream] {
        var keyed: [(ordinal: UInt64, slot: Slot)] = []
        var onDevice: [(ordinal: UInt64, slot: Slot)] = []
        var ended: [(at: Instant, slot: Slot)] = []
        var dismissed: [(at: Instant, slot: Slot)] = []
        var earliest = Instant.never
        for slot in 0..<activities.capacity {
            releaseAlert(slot)
            guard let record = record(at: slot) else { continue }
            let app = app(of: record)
            startOrdinal = max(startOrdinal, record.ordinal)
            apps[app].seq = max(apps[app].seq, record.lastSeq)
            countByState[Int(record.state.rawValue)] += 1
            if record.keyCount > 0 { keyed.append((record.ordinal, slot)) }
            if record.state.isListed {
                let topicHash = apps.kinds[Int(record.kind)].topicHash.appending(record.id)
                apps[app].digest.toggle(topicHash: topicHash, revision: UInt64(record.revision))
                apps[app].entities += 1
                entityCount += 1
            } else {
                dismissed.append((record.machine.dismissAt, slot))
            }
            if let device = record.device {
                count(record, on: device, app: app, from: nil, to: record.state)
                switch record.state {
                case .pending, .active, .stale: onDevice.append((record.ordinal, slot))
                case .ended: ended.append((record.machine.endedAt, slot))
                case .dismissed: devices[device].references += 1
                }
            }
            earliest = min(earliest, record.machine.nextDeadline(rules, unheard).at)
        }
        try indexRestoredControls(isProven: isProven)
        try indexRestoredWidgets(isProven: isProven)
        try indexRestoredGroups(isProven: isProven)
        let unproven = try prove(isProven)
        keyed.sort { $0 < $1 }
        for (_, slot) in keyed { holdKey(slot) }
        onDevice.sort { $0 < $1 }
        for (_, slot) in onDevice { relink(slot) }
        ended.sort { $0 < $1 }
        for (_, slot) in ended { relink(slot) }
        for (at, slot) in dismissed {
            retained.insert(
                activities.reference(to: slot), until: at + rules.retention, ordinal: activities[slot].ordinal)
        }
        armAll(earliest)
        armRestoredControls()
        armRestoredWidgets()
        resumeSweep()
        return unproven
    }

    private mutating func relink(_ slot: Slot) {
        guard let device = activities[slot].device else { return }
        link(slot, on: device)
        if activities[slot].state == .ended { linkBehind(slot, on: device) }
    }

    /// The wheel begins at the earliest deadline, so that those that passed meanwhile take effect in the order of their
    /// dates.
    private mutating func armAll(_ earliest: Instant) {
        if earliest.isSet { wheel = TimerWheel(start: earliest) }
        for slot in 0..<activities.capacity where activities.isUsed(slot) { arm(slot) }
    }

    /// Settings that were on their way go on.
    private mutating func resumeSweep() {
        guard apps.apps.contains(where: { $0.sweepNumber == 1 }) else { return }
        sweep.number = 1
        sweep.end = activities.capacity
        sweep.left = sweep.end
    }

    /// Each stream says which entities it ended with: the recomputed digest must be that one.
    private mutating func prove(_ isProven: Bool) throws(ImageError) -> [UnprovenStream] {
        let unproven = unprovenStreams()
        if isProven, let first = unproven.first { throw .contradiction(first.description) }
        for index in apps.apps.indices {
            apps[AppID(index)].restored = nil
            apps[AppID(index)].seqAtStart = apps[AppID(index)].seq
            // Until the snapshot says of every stream where it is now, nothing can be proven after the next start.
            if !isProven { appChanged(AppID(index)) }
        }
        return unproven
    }

    /// The streams whose entities are not those that they ended with. Only once everything was taken back, and where
    /// ``finishRestoring(isProven:)`` threw.
    package func unprovenStreams() -> [UnprovenStream] {
        apps.apps.indices.compactMap { index in
            let app = apps[AppID(index)]
            guard let restored = app.restored else {
                return app.seq == 0 ? nil : stream(AppID(index), written: nil)
            }
            guard app.seq != restored.seq || app.entities != restored.entities || app.digest.value != restored.digest
            else { return nil }
            return stream(AppID(index), written: (restored.seq, restored.entities))
        }
    }

    private func stream(_ app: AppID, written: (seq: UInt64, entities: Int)?) -> UnprovenStream {
        UnprovenStream(app: app, name: apps[app].name, written: written, found: (apps[app].seq, apps[app].entities))
    }
}
