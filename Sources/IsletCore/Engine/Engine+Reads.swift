/// What readers see: entities by slot, their bytes, and lists.
extension Engine {
    /// One past the highest slot that was ever used: where a walk over all slots ends.
    package var slotCount: Slot { activities.capacity }

    /// The record of a handle, or nil where it is gone.
    package func record(_ reference: SlotRef) -> ActivityRecord? {
        activities.isCurrent(reference) ? activities[reference.slot] : nil
    }

    /// The record in a slot, or nil where the slot is free.
    @inline(__always) package func record(at slot: Slot) -> ActivityRecord? {
        activities.isUsed(slot) ? activities[slot] : nil
    }

    /// The bytes of a payload.
    @inline(__always)
    package func withBytes<Result>(of handle: PayloadHandle, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        payloads.withBytes(handle, body)
    }

    /// The bytes of all payloads of entities.
    package var storedPayloadBytes: Int { payloads.storedBytes }

    /// The bytes of a payload that lies together with another one.
    @inline(__always)
    package func withBytes<Result>(of part: PayloadPart, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        payloads.withBytes(part, body)
    }

    /// The app of an activity.
    package func app(of record: ActivityRecord) -> AppID { apps.kinds[Int(record.kind)].app }

    /// The app of the activity of a handle, or nil where it is gone.
    package func app(of reference: SlotRef) -> AppID? {
        activities.isCurrent(reference) ? app(of: activities[reference.slot]) : nil
    }

    /// What an activity renews and is renewed by.
    @inline(__always) package func renewal(of slot: Slot, _ record: ActivityRecord) -> RenewalLinks {
        record.hasRenewalLinks ? renewals[slot] ?? RenewalLinks() : RenewalLinks()
    }

    /// How relevant an activity is to its device; 0 where nobody said.
    @inline(__always) package func relevanceScore(of slot: Slot, _ record: ActivityRecord) -> Double {
        record.hasRelevanceScore ? relevanceScores[slot] : 0
    }

    /// The earliest deadline of an activity and its cause, or nil.
    package func next(of machine: ActivityMachine) -> (at: Instant, cause: Cause)? {
        let next = machine.nextDeadline(rules, unheard)
        return next.at.isSet ? next : nil
    }

    /// Since when an activity is stale, as far as its dates tell; `never` where it is not.
    package func staleSince(_ machine: ActivityMachine) -> Instant { machine.staleSince(rules, unheard) }

    /// When the system will end an activity; `never` unless it runs.
    package func expiry(of machine: ActivityMachine) -> Instant { machine.expiresAt(rules) }

    /// The newest decisions that are remembered about an activity of an app, at most `count`, oldest first.
    package func newestDecisions(_ count: Int, about id: EntityID, of app: AppID) -> [Decision] {
        decisions.newest(count, about: id, of: app)
    }

    /// What `activity.list` asks for, with its names resolved; nil where a name is unknown, so that nothing matches.
    package func filter(of list: ActivityList, _ frame: Span<UInt8>) -> ActivityFilter? {
        var filter = ActivityFilter(state: list.state)
        if let name = list.app {
            guard let app = apps.find(name, of: frame) else { return nil }
            filter.app = app
            if let type = list.type {
                guard let kind = apps.findKind(app, type, of: frame) else { return nil }
                filter.kind = kind
            }
        } else if let type = list.type {
            filter.type = frame.bytes(type)
        }
        if let name = list.device {
            guard let device = devices.find(name, of: frame) else { return nil }
            filter.device = device
        }
        if let key = list.key { filter.keyPrefix = frame.bytes(key) }
        return filter
    }

    /// Whether the activity in a slot is one of those that a filter asks for.
    package func matches(_ slot: Slot, _ filter: ActivityFilter) -> Bool {
        guard let record = record(at: slot), !record.isKeyOnly else { return false }
        if let state = filter.state {
            guard record.state == state else { return false }
        } else if !record.state.isListed {
            return false
        }
        if let kind = filter.kind, record.kind != kind { return false }
        if let app = filter.app, apps.kinds[Int(record.kind)].app != app { return false }
        if let device = filter.device, record.device != device { return false }
        if let type = filter.type, apps.kinds[Int(record.kind)].type != type { return false }
        guard let prefix = filter.keyPrefix else { return true }
        return payloads.withBytes(record.cold) { cold in
            record.keyCount >= prefix.count && cold[record.keyRange].starts(with: prefix)
        }
    }

    /// The listed activities of a device as it shows them (apple-semantics 2.1): see ``Presentation``.
    package mutating func presentation(on device: DeviceID, at now: Instant, dating: Dating) -> [Presentation] {
        settleDevice(device, .listed, at: now, dating)
        var candidates: [Presentation.Candidate] = []
        var next = devices[device].first
        while next != .max {
            let slot = next
            next = deviceLinks[slot].next
            let record = activities[slot]
            // What is due and was not for this turn to remove is not shown any more.
            if record.state == .ended, record.machine.dismissAt <= now { continue }
            candidates.append(
                Presentation.Candidate(
                    slot: slot, state: record.state, relevanceScore: relevanceScore(of: slot, record),
                    startedAt: record.machine.startedAt, ordinal: record.ordinal))
        }
        return Presentation.order(candidates)
    }
}

/// A resolved filter of `activity.list`.
package struct ActivityFilter: Sendable {
    package var app: AppID?
    /// Nil: all that are listed.
    package var state: ActivityState?
    package var kind: KindID?
    package var type: [UInt8]?
    package var device: DeviceID?
    package var keyPrefix: [UInt8]?
}
