extension Engine {
    /// `activity.start` (apple-semantics 1.2 rows 1 to 5; checks in the order of 2.4).
    mutating func start(
        _ start: ActivityStart, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating,
        _ freshID: EntityID
    ) -> Outcome {
        let knownApp = apps.find(start.app, of: frame)
        var knownDevice: DeviceID?
        if let name = start.device {
            knownDevice = devices.find(name, of: frame)
            let share: DeviceShare = rules.endedCountTowardMaxima ? .listed : .open
            if let knownDevice { settleDevice(knownDevice, share, at: now, dating) }
        }
        var newest: Slot?
        if let key = start.key, let knownApp, start.device == nil || knownDevice != nil {
            newest = slot(app: knownApp, device: knownDevice, key: key, frame)
        }
        if let newest {
            settle(newest, at: now, dating)
            if let outcome = keyIsHeld(by: newest, start, envelope, frame, now, dating) { return outcome }
        }
        // It was to update an open activity of that revision, and there is none.
        if envelope.ifRevision != nil { return .refused(.notFound) }
        if let id = start.id, let taken = slot(of: id) {
            // What another app asks for is nothing that this one's `explain` may tell.
            guard knownApp == app(of: activities[taken]) else { return .refused(.authorization(.reconnectNotPermitted)) }
            return refuse(taken, .idTaken, .authorization(.reconnectNotPermitted), envelope, at: now, frame)
        }
        if let id = start.id, controls.slot(of: id) != nil || widgets.slot(of: id) != nil {
            return .refused(.authorization(.reconnectNotPermitted))
        }
        // Only now: work that comes again is not told to come later, when its activity may be known no more.
        if let newest, let until = muteEnd(of: newest), now < until {
            return refuse(newest, .muted, .authorization(.muted(until: until)), envelope, at: now, frame)
        }
        if let refusal = refusal(of: start, envelope, app: knownApp, device: knownDevice) { return .refused(refusal) }

        if let limit = exhaustedNames(start, app: knownApp, device: knownDevice, frame) {
            return .refused(.quotaExceeded(limit: limit))
        }
        guard let app = apps.app(start.app, of: frame), let kind = apps.kind(app, start.type, of: frame) else {
            preconditionFailure("names that have room are made")
        }
        let device = start.device.flatMap { devices.device($0, of: frame) }
        let (machine, steps) = ActivityMachine.started(
            at: now, startDate: start.startDate, staleDate: start.staleDate ?? .never, style: start.style,
            cause: envelope.source.cause)
        let slot = insert(
            id: start.id ?? freshID, kind: kind, device: device, machine: machine, frame, content: start.contentState,
            attributes: start.attributes, key: start.key, pushType: start.pushType,
            alert: machine.state == .pending ? start.alert : nil, relevanceScore: start.relevanceScore ?? 0)
        var changes = Changes(content: true, relevance: true)
        if machine.state != .pending, let alert = start.alert { changes.alert = .inFrame(alert) }
        take(
            steps, of: slot, before: nil, changes, asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .applied(activities.reference(to: slot))
    }

    /// The limit that a name of a start would exceed, be it its app, its type or its device; nil: none. Asked before any of
    /// them is made, as a refused start leaves nothing behind.
    private func exhaustedNames(
        _ start: ActivityStart, app: AppID?, device: DeviceID?, _ frame: Span<UInt8>
    ) -> Int? {
        if app == nil, apps.apps.count >= AppTable.maximumApps { return AppTable.maximumApps }
        if apps.kinds.count >= AppTable.maximumKinds, app.flatMap({ apps.findKind($0, start.type, of: frame) }) == nil {
            return AppTable.maximumKinds
        }
        let wantsDevice = start.device != nil && device == nil
        return wantsDevice && devices.count >= DeviceTable.maximumDevices ? DeviceTable.maximumDevices : nil
    }

    /// What a start comes to whose key had an activity before; nil where that does not hold it any more.
    private mutating func keyIsHeld(
        by newest: Slot, _ start: ActivityStart, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant,
        _ dating: Dating
    ) -> Outcome? {
        let record = activities[newest]
        guard record.state.isOpen else { return nil }
        guard start.updatesExisting else {
            return refuse(
                newest, .keyHeld, .keyHeld(by: record.id, revision: UInt64(record.revision)), envelope, at: now, frame)
        }
        var update = ActivityUpdate(
            address: ActivityAddress(app: start.app, target: .id(record.id)), contentState: start.contentState)
        update.staleDate = start.staleDate
        update.relevanceScore = start.relevanceScore
        update.alert = start.alert
        return self.update(update, envelope, frame, now, dating)
    }

    /// Why a start is refused, in the order of apple-semantics 2.4: denied, visibility, size, app's maximum, device's.
    private func refusal(
        of start: ActivityStart, _ envelope: Envelope, app: AppID?, device: DeviceID?
    ) -> Refusal? {
        if let app, !settings(of: app, on: device).activitiesEnabled { return .authorization(.denied) }
        let reported = app.flatMap { app in device.map { devices[$0].apps[app]?.isInBackground ?? false } } ?? false
        if envelope.source == .local, start.background ?? reported { return .authorization(.visibility) }
        // It is kept until the start, so it may be no longer than what is pushed with it.
        if start.startDate != nil, let alert = start.alert, Int(alert.count) > rules.contentLimit {
            return .badField(.alert, .tooLong)
        }
        let bytes = Int(start.attributes.count) + Int(start.contentState.count)
        if bytes > rules.contentLimit {
            return .authorization(.attributesTooLarge(bytes: bytes, limit: rules.contentLimit))
        }
        if start.device != nil {
            let share = app.flatMap { app in device.flatMap { devices[$0].countedByApp[app] } } ?? 0
            if share >= rules.maximumPerApp {
                return .authorization(.targetMaximumExceeded(limit: rules.maximumPerApp))
            }
            if device.map({ devices[$0].counted }) ?? 0 >= rules.maximumPerDevice {
                return .authorization(.globalMaximumExceeded(limit: rules.maximumPerDevice))
            }
        }
        return entityCount >= rules.maximumEntities ? .quotaExceeded(limit: rules.maximumEntities) : nil
    }

    /// Puts an activity into the slab and the indexes.
    private mutating func insert(
        id: EntityID, kind: KindID, device: DeviceID?, machine: ActivityMachine, _ frame: Span<UInt8>,
        content: FrameRange, attributes: FrameRange, key: FrameRange?, pushType: FrameRange?, alert: FrameRange?,
        relevanceScore: Double
    ) -> Slot {
        let parts = [attributes, key, pushType, alert, content]
        let total = parts.reduce(0) { $0 + Int($1?.count ?? 0) }
        let payload = payloads.insertPair(counts: (total - Int(content.count), Int(content.count))) { target in
            var offset = 0
            for case let part? in parts {
                frame.copy(part, to: UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + Int(part.count)]))
                offset += Int(part.count)
            }
        }
        let slot = index(
            ActivityRecord(
                id: id, machine: machine, payload: payload, revision: 0, kind: kind, device: device,
                ordinal: nextOrdinal(), attributesCount: attributes.count, keyCount: UInt8(key?.count ?? 0),
                pushTypeCount: Int(pushType?.count ?? 0)))
        if relevanceScore != 0 { setRelevanceScore(relevanceScore, of: slot) }
        return slot
    }

    /// Keeps how relevant an activity is to its device.
    mutating func setRelevanceScore(_ score: Double, of slot: Slot) {
        activities[slot].hasRelevanceScore = score.bitPattern != 0
        if score.bitPattern != 0 { relevanceScores[slot] = score }
    }

    /// Gives a record its slot and makes it findable by id, key and device.
    mutating func index(_ record: ActivityRecord) -> Slot {
        var record = record
        record.frequentPushes = settings(of: app(of: record), on: record.device).frequentPushesEnabled
        let slot = activities.insert(record)
        byID.insert(record.id.keyedHash, slot)
        if record.keyCount > 0 { holdKey(slot) }
        if let device = record.device { link(slot, on: device) }
        return slot
    }

    /// The key leads to this activity from now on, and no longer to one before it.
    mutating func holdKey(_ slot: Slot) {
        let record = activities[slot]
        let app = apps.kinds[Int(record.kind)].app
        let (hash, older) = payloads.withBytes(record.cold) { cold in
            let key = UnsafeRawBufferPointer(rebasing: cold[record.keyRange])
            let hash = Engine.hash(app: app, device: record.device, key: key)
            let older = byKey.find(hash) { other in
                let candidate = activities[other]
                guard candidate.device == record.device, apps.kinds[Int(candidate.kind)].app == app else {
                    return false
                }
                return payloads.withBytes(candidate.cold) {
                    equal(UnsafeRawBufferPointer(rebasing: $0[candidate.keyRange]), key)
                }
            }
            return (hash, older)
        }
        guard let older else { return byKey.insert(hash, slot) }
        byKey.replace(hash, older, by: slot)
        keyNeighbours[slot, default: KeyNeighbours()].older = older
        keyNeighbours[older, default: KeyNeighbours()].newer = slot
    }
}
