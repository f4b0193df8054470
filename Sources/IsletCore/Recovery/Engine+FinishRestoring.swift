/// What follows from restored activities: indexes, lists, counts, digests, timers.
extension Engine {
    /// Everything was taken back.
    ///
    /// - Parameter isProven: whether what was written about each stream must be met; not where the journal may have lost
    ///   commits that were not promised to survive.
    /// - Throws: `contradiction` where an app's activities are not those that its stream ended with.
    package mutating func finishRestoring(isProven: Bool) throws(ImageError) {
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
            earliest = min(earliest, record.machine.nextDeadline(rules).at)
        }
        try indexRestoredControls(isProven: isProven)
        try indexRestoredWidgets(isProven: isProven)
        try indexRestoredGroups(isProven: isProven)
        try prove(isProven)
        keyed.sort { $0 < $1 }
        for (_, slot) in keyed { holdKey(slot) }
        onDevice.sort { $0 < $1 }
        for (_, slot) in onDevice { relink(slot) }
        ended.sort { $0 < $1 }
        for (_, slot) in ended { relink(slot) }
        dismissed.sort { $0 < $1 }
        for (at, slot) in dismissed {
            retained.append(activities.reference(to: slot), until: at + rules.retention)
        }
        armAll(earliest)
        armRestoredControls()
        armRestoredWidgets()
        resumeSweep()
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
        sweep.left = activities.capacity
    }

    /// Each stream says which activities it ended with: the recomputed digest must be that one.
    private mutating func prove(_ isProven: Bool) throws(ImageError) {
        for index in apps.apps.indices {
            let app = AppID(index)
            let restored = apps[app].restored
            apps[app].restored = nil
            guard isProven else {
                // Until the snapshot says of every stream where it is now, nothing can be proven after the next start.
                appChanged(app)
                continue
            }
            guard let restored else {
                guard apps[app].seq == 0 else { throw .contradiction(name(app) + " has activities without a stream") }
                continue
            }
            guard apps[app].seq == restored.seq else {
                throw .contradiction("\(name(app)) ends at seq \(restored.seq), an activity of it at \(apps[app].seq)")
            }
            guard apps[app].entities == restored.entities, apps[app].digest.value == restored.digest else {
                throw .contradiction(
                    "\(name(app)) has \(apps[app].entities) activities and not the \(restored.entities) of seq "
                        + "\(restored.seq), or other ones")
            }
        }
    }

    private func name(_ app: AppID) -> String { String(decoding: apps[app].name, as: UTF8.self) }
}
