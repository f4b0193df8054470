/// Dismissed activities in the order in which they are forgotten: by the end of their retention, and at one date by their
/// start, so that a restart finds them in the same order.
///
/// A heap and not a timer each, since they come nearly in order.
struct RetentionQueue: Sendable {
    private struct Entry: Comparable {
        var until: Instant
        var ordinal: UInt64
        var reference: SlotRef

        static func < (one: Entry, other: Entry) -> Bool { (one.until, one.ordinal) < (other.until, other.ordinal) }
    }

    private var entries = MinHeap<Entry>()

    var count: Int { entries.count }
    var nextExpiry: Instant { entries.first?.until ?? .never }

    /// - Parameter ordinal: Its place in the order of starting.
    mutating func insert(_ reference: SlotRef, until: Instant, ordinal: UInt64) {
        entries.insert(Entry(until: until, ordinal: ordinal, reference: reference))
    }

    mutating func popFirst() -> SlotRef? { entries.popFirst()?.reference }
}

extension Engine {
    /// An activity was dismissed: it leaves its device and waits to be forgotten.
    mutating func retire(_ slot: Slot, at now: Instant) {
        if let device = activities[slot].device { unlink(slot, from: device) }
        retained.insert(
            activities.reference(to: slot), until: now + rules.retention, ordinal: activities[slot].ordinal)
    }

    /// An activity is scheduled no longer, and its events were encoded: the alert of its start goes.
    mutating func releaseAlert(_ slot: Slot) {
        guard activities.isUsed(slot), activities[slot].state != .pending, !activities[slot].alertRange.isEmpty else {
            return
        }
        let old = activities[slot].payload
        activities[slot].payload = duplicate(old, first: activities[slot].alertRange.lowerBound)
        payloads.remove(old)
    }

    /// A copy of a pair of payloads.
    ///
    /// - Parameter count: how many bytes of the first one are copied.
    mutating func duplicate(_ pair: PayloadPair, first count: Int) -> PayloadPair {
        let first = payloads.withBytes(pair.first) { [UInt8]($0.prefix(count)) }
        let bytes = first + payloads.withBytes(pair.second) { [UInt8]($0) }
        return payloads.insertPair(counts: (count, pair.second.count)) { $0.copyBytes(from: bytes) }
    }

    /// The events of a dismissed activity were encoded: its bytes go, but for its key.
    mutating func releasePayloads(_ slot: Slot) {
        guard activities.isUsed(slot) else { return }
        payloads.removeSecond(of: &activities[slot].payload)
    }

    /// At most this many keys stay muted whose activities are retained no longer; the oldest go first.
    static var maximumMuted: Int { 1 << 18 }

    /// Forgets dismissed activities whose retention is over, or for which there is no room any more.
    ///
    /// - Returns: whether more are left to forget.
    mutating func forgetRetained(at now: Instant, limit: Int) -> Bool {
        for _ in 0..<limit {
            if muted.nextExpiry <= now || muted.count > Engine.maximumMuted {
                if let reference = muted.popFirst(), activities.isCurrent(reference) { forget(reference.slot) }
            } else if retained.nextExpiry <= now || retained.count > rules.maximumRetained {
                guard let reference = retained.popFirst(), activities.isCurrent(reference) else { continue }
                if let end = muteEnd(of: reference.slot), now < end {
                    activities[reference.slot].isKeyOnly = true
                    countByState[Int(ActivityState.dismissed.rawValue)] -= 1
                    muted.insert(reference, until: end, ordinal: activities[reference.slot].ordinal)
                } else {
                    forget(reference.slot)
                }
            } else {
                return false
            }
        }
        return true
    }

    /// Whether the oldest dismissed activity, or the oldest muted key, is to be forgotten.
    func hasForgettable(at now: Instant) -> Bool {
        retained.nextExpiry <= now || retained.count > rules.maximumRetained || muted.nextExpiry <= now
            || muted.count > Engine.maximumMuted
    }

    /// Until when nobody may start another activity with the key of this one, because a person dismissed it; nil where
    /// that is not so.
    func muteEnd(of slot: Slot) -> Instant? {
        let record = activities[slot]
        guard let mute = rules.muteAfterPersonDismissal, record.state == .dismissed, record.machine.cause == .person,
            record.keyCount > 0
        else {
            return nil
        }
        return record.machine.dismissAt + mute
    }

    private mutating func forget(_ slot: Slot) {
        let record = activities[slot]
        byID.remove(record.id.keyedHash, slot)
        if record.keyCount > 0 { releaseKey(of: slot) }
        if record.hasRenewalLinks { renewals[slot] = nil }
        payloads.remove(record.payload)
        if !record.isKeyOnly { countByState[Int(record.state.rawValue)] -= 1 }
        wheel.cancel(slot)
        activities.remove(slot)
        changedSlots.insert(slot)
        if let device = record.device {
            devices[device].references -= 1
            if devices[device].references == 0 { dropOverriddenSettings(of: device) }
            devices.forgetIfEmpty(device)
        }
    }
}
