/// The commands about app groups: keys and values that several apps share.
extension Engine {
    /// What a command about a group came to.
    package enum GroupOutcome: Equatable, Sendable {
        /// Executed; with the key that it was about, where there is one.
        case applied(GroupID, Slot?)
        case ignored(GroupID, Slot?, IgnoreReason)
        case refused(Refusal)
    }

    /// The group that a command names and the number of the app that asks, which is a member.
    ///
    /// - Throws: `groupUnknown` or `notAMember`.
    package func findGroup(
        _ address: GroupAddress, _ frame: Span<UInt8>
    ) throws(Refusal) -> (group: GroupID, member: AppID) {
        guard let group = groups.find(frame.bytes(address.group)) else { throw .groupUnknown(address.group) }
        guard let app = apps.find(address.app, of: frame), groups[group].members.contains(app) else {
            throw .notAMember(address.group)
        }
        return (group, app)
    }

    /// `group.create`: the app that asks is its owner and first member.
    ///
    /// - Parameter members: the names of the others; what stands twice counts once.
    package mutating func createGroup(
        _ address: GroupAddress, members: [[UInt8]], _ frame: Span<UInt8>
    ) -> GroupOutcome {
        let name = frame.bytes(address.group)
        guard groups.find(name) == nil else { return .refused(.groupExists(address.group)) }
        guard groups.groupCount < GroupTable.maximumGroups else {
            return .refused(.quotaExceeded(limit: GroupTable.maximumGroups))
        }
        var names = [frame.bytes(address.app)]
        for member in members where !names.contains(member) { names.append(member) }
        guard names.count <= GroupTable.maximumMembers else {
            return .refused(.quotaExceeded(limit: GroupTable.maximumMembers))
        }
        var numbers: [AppID] = []
        for name in names {
            guard let app = apps.app(FrameRange(0..<name.count), of: name.span) else {
                return .refused(.quotaExceeded(limit: AppTable.maximumApps))
            }
            numbers.append(app)
        }
        let group = groups.make(name, owner: numbers[0], named: names[0], isRestored: false)
        groups[group].members = numbers
        note(group: group)
        return .applied(group, nil)
    }

    /// `group.admit`: another app becomes a member.
    package mutating func admit(
        _ member: FrameRange, to address: GroupAddress, _ frame: Span<UInt8>
    ) -> GroupOutcome {
        withGroup(address, frame) { engine, group, _ in
            let known = engine.apps.find(member, of: frame)
            if let known, engine.groups[group].members.contains(known) { return .ignored(group, nil, .unchanged) }
            guard engine.groups[group].members.count < GroupTable.maximumMembers else {
                return .refused(.quotaExceeded(limit: GroupTable.maximumMembers))
            }
            guard let app = known ?? engine.apps.app(member, of: frame) else {
                return .refused(.quotaExceeded(limit: AppTable.maximumApps))
            }
            engine.groups[group].members.append(app)
            engine.note(group: group)
            return .applied(group, nil)
        }
    }

    /// `group.leave`: the app that asks is no member any more. The owner stays.
    package mutating func leaveGroup(_ address: GroupAddress, _ frame: Span<UInt8>) -> GroupOutcome {
        withGroup(address, frame) { engine, group, app in
            guard app != engine.groups[group].owner else { return .refused(.badField(.app, .notAllowedHere)) }
            engine.groups[group].members.removeAll { $0 == app }
            engine.note(group: group)
            return .applied(group, nil)
        }
    }

    /// `group.remove`: the owner gives up a group without keys, so that each of them has told its end by an event.
    package mutating func removeGroup(_ address: GroupAddress, _ frame: Span<UInt8>) -> GroupOutcome {
        withGroup(address, frame) { engine, group, app in
            guard app == engine.groups[group].owner else { return .refused(.badField(.app, .notAllowedHere)) }
            let count = engine.groups[group].keys.count
            guard count == 0 else { return .refused(.groupHasKeys(address.group, count: count)) }
            engine.groups.remove(group)
            if engine.isJournalled { engine.notes.append(.formerGroup(engine.groups[group].name)) }
            return .applied(group, nil)
        }
    }

    /// `group.set`. The value is well-formed JSON.
    package mutating func setGroupKey(
        _ address: GroupKeyAddress, value: FrameRange, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant
    ) -> GroupOutcome {
        withGroup(address.group, frame) { engine, group, app in
            let slot = engine.groupSlot(group, address.key, frame)
            let present = slot.map { engine.groups.slab[$0] }
            if let refusal = Engine.refusal(unless: envelope.ifRevision, is: present) { return .refused(refusal) }
            let count = Int(value.count)
            guard count <= engine.rules.groupValueLimit else { return .refused(.badField(.value, .tooLong)) }
            let growth = count - (present?.value.count ?? 0)
            if growth > 0, engine.groups[group].bytes + growth > engine.rules.groupLimit {
                return .refused(.quotaExceeded(limit: engine.rules.groupLimit))
            }
            if let slot, let present {
                if engine.payloads.withBytes(present.value, { frame.equals(value, $0) }) {
                    return .ignored(group, slot, .unchanged)
                }
                engine.payloads.replace(&engine.groups.slab[slot].value, by: value, of: frame)
                engine.groups[group].bytes += growth
                engine.step(.set, slot, by: app, at: now)
                return .applied(group, slot)
            }
            guard engine.groups[group].keys.count < engine.rules.maximumGroupKeys else {
                return .refused(.quotaExceeded(limit: engine.rules.maximumGroupKeys))
            }
            guard engine.entityCount < engine.rules.maximumEntities else {
                return .refused(.quotaExceeded(limit: engine.rules.maximumEntities))
            }
            // Not from 1: whoever still holds the value of a key that was deleted must see that this one is newer.
            let item = GroupItem(
                group: group, by: app, updatedAt: now, revision: engine.groups[group].highestDeleted, lastSeq: 0,
                key: engine.payloads.insert(address.key, of: frame), value: engine.payloads.insert(value, of: frame))
            let made = engine.groups.slab.insert(item)
            engine.index(groupItem: made)
            engine.groups[group].keys.insert(made, at: engine.groupPosition(group, frame.bytes(address.key)).index)
            engine.groups[group].bytes += count
            engine.step(.set, made, by: app, at: now)
            return .applied(group, made)
        }
    }

    /// `group.delete`.
    package mutating func deleteGroupKey(
        _ address: GroupKeyAddress, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant
    ) -> GroupOutcome {
        withGroup(address.group, frame) { engine, group, app in
            guard let slot = engine.groupSlot(group, address.key, frame) else { return .refused(.notFound) }
            if let refusal = Engine.refusal(unless: envelope.ifRevision, is: engine.groups.slab[slot]) {
                return .refused(refusal)
            }
            engine.unindex(groupItem: slot)
            engine.groups[group].keys.remove(at: engine.groupPosition(group, frame.bytes(address.key)).index)
            engine.groups[group].bytes -= engine.groups.slab[slot].value.count
            engine.step(.deleted, slot, by: app, at: now)
            let revision = engine.groups.slab[slot].revision
            engine.groups[group].highestDeleted = max(engine.groups[group].highestDeleted, revision)
            engine.groups.changed(group)
            return .applied(group, slot)
        }
    }

    /// `group.notify`: an event, and nothing that is kept.
    package mutating func notifyGroup(
        _ address: GroupAddress, signal: FrameRange, _ frame: Span<UInt8>, at now: Instant
    ) -> GroupOutcome {
        withGroup(address, frame) { engine, group, app in
            let owner = engine.groups[group].owner
            engine.apps[owner].seq += 1
            engine.appChanged(owner)
            engine.groups.events.append(
                GroupEvent(
                    name: .notified, group: group, slot: nil, signal: signal, app: owner, by: app,
                    seq: engine.apps[owner].seq, previous: 0, at: now, revision: 0, isFirst: false,
                    position: engine.eventCount))
            return .applied(group, nil)
        }
    }

    // MARK: The first checks

    private mutating func withGroup(
        _ address: GroupAddress, _ frame: Span<UInt8>,
        _ body: (inout Engine, GroupID, AppID) -> GroupOutcome
    ) -> GroupOutcome {
        let found: (group: GroupID, member: AppID)
        do throws(Refusal) {
            found = try findGroup(address, frame)
        } catch {
            return .refused(error)
        }
        return body(&self, found.group, found.member)
    }

    /// The guard of `ifRevision`, by which 0 means that the key must not be there: nil where it holds.
    private static func refusal(unless revision: UInt64?, is item: GroupItem?) -> Refusal? {
        let present = UInt64(item?.revision ?? 0)
        guard let revision, revision != present else { return nil }
        return .revisionConflict(present: present)
    }
}
