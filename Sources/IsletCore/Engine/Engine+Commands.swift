extension Engine {
    /// Executes one command about activities, settings or devices.
    ///
    /// Before it, what is due of its entity (and, for maxima, of its device) takes effect.
    /// - Parameters:
    ///   - frame: the bytes that the command's ranges point into.
    ///   - now: domain time; never earlier than in the call before.
    ///   - dating: how events of due deadlines are dated.
    ///   - freshID: an id that no activity has, for what the command may make.
    /// - Returns: the outcome; events stand in ``events``. Operations of the other endpoints, of the clock, and lists
    ///   are not the engine's: they come back as `unavailable`.
    package mutating func apply(
        _ command: Command, of frame: Span<UInt8>, at now: Instant, dating: Dating = .whenNoticed, freshID: EntityID
    ) -> Outcome {
        let envelope = command.envelope
        switch command.operation {
        case .activityStart(let start): return self.start(start, envelope, frame, now, dating, freshID)
        case .activityUpdate(let update): return self.update(update, envelope, frame, now, dating)
        case .activityEnd(let end): return self.end(end, envelope, frame, now, dating)
        case .activityDismiss(let dismiss): return self.dismiss(dismiss, envelope, frame, now, dating)
        case .activityRenew(let renew): return self.renew(renew, envelope, frame, now, dating, freshID)
        case .activityHeartbeat(let address): return heartbeat(address, envelope, frame, now, dating)
        case .activityGet(let address), .activityHistory(let address), .activityExplain(let address):
            guard let slot = find(address, frame, .newest), !activities[slot].isKeyOnly else {
                return .refused(.notFound)
            }
            settle(slot, at: now, dating)
            return .found(activities.reference(to: slot))
        case .settingsSet(let set): return setSettings(set, envelope, frame, now, dating)
        case .deviceEvent(let event): return deviceReported(event, envelope, frame, now, dating)
        case .activityTap(let tap): return self.tap(tap, envelope, frame, now, dating)
        case .widget, .group, .controlAdd, .controlConfigure, .controlRemove, .controlTap, .controlSet, .controlReload,
            .controlGet,
            .controlHistory, .controlExplain, .controlList, .controlPreview, .controlKinds, .controlOptions,
            .providerRegister, .providerAnswer, .providerFail, .providerPong, .providerDrain, .providerLeave,
            .providerList:
            return .refused(.unavailable(.wrongEndpoint))
        case .activityList, .settingsGet, .clockAdvance, .serviceInfo, .servicePing, .serviceBackup, .inspection,
            .streamApplied, .bulkSnapshot, .bulkReplay, .bulkDigest, .bulkCredit, .bulkCancel:
            return .refused(.unavailable(.wrongEndpoint))
        }
    }

    /// Which activity a key reaches where nobody open holds it.
    enum KeyReach {
        /// Only the open holder.
        case holder
        /// The newest retained one.
        case newest
    }

    /// The activity that a command names, or nil.
    mutating func find(_ address: ActivityAddress, _ frame: Span<UInt8>, _ reach: KeyReach) -> Slot? {
        guard let app = apps.recall(address.app, of: frame) else { return nil }
        switch address.target {
        case .id(let id):
            guard let slot = slot(of: id), apps.kinds[Int(activities[slot].kind)].app == app else { return nil }
            return slot
        case .key(let key, let deviceName):
            var device: DeviceID?
            if let deviceName {
                guard let known = devices.find(deviceName, of: frame) else { return nil }
                device = known
            }
            var holder = slot(app: app, device: device, key: key, frame)
            // Of a muted key the last one may be retained no longer, and one before it still.
            while let slot = holder, activities[slot].isKeyOnly { holder = keyNeighbours[slot]?.older }
            guard let holder else { return nil }
            return reach == .newest || activities[holder].state.isOpen ? holder : nil
        }
    }

    /// An activity that a command has reached, or what the command comes to without it.
    enum Reach {
        case reached(Slot, ActivityRecord)
        case settled(Outcome)
    }

    /// The first checks of every command on one activity, in the contract's order: `notFound`, what is due takes effect,
    /// `ignored`, `ifRevision`.
    ///
    /// - Parameter dropping: why the machine drops the command, if it does.
    mutating func reach(
        _ address: ActivityAddress, _ keyReach: KeyReach, _ envelope: Envelope, _ frame: Span<UInt8>, _ now: Instant,
        _ dating: Dating, dropping: (ActivityMachine) -> (reason: IgnoreReason, rule: Rule)?
    ) -> Reach {
        guard let slot = find(address, frame, keyReach) else { return .settled(.refused(.notFound)) }
        settle(slot, at: now, dating)
        let record = activities[slot]
        if let dropped = dropping(record.machine) {
            // It is dismissed, which every command drops.
            if record.isKeyOnly { return .settled(.refused(.notFound)) }
            return .settled(ignore(slot, dropped, envelope, at: now, frame))
        }
        if let refusal = refusal(unless: envelope.ifRevision, is: record) {
            return .settled(refuse(slot, .revisionGuard, refusal, envelope, at: now, frame))
        }
        return .reached(slot, record)
    }

    /// The slot of an id, listed or retained.
    package func slot(of id: EntityID) -> Slot? {
        byID.find(id.keyedHash) { activities[$0].id == id }
    }

    func slot(app: AppID, device: DeviceID?, key: FrameRange, _ frame: Span<UInt8>) -> Slot? {
        let hash = Engine.hash(app: app, device: device, key: key, frame)
        return byKey.find(hash) { slot in
            let record = activities[slot]
            guard record.device == device, apps.kinds[Int(record.kind)].app == app else { return false }
            return payloads.withBytes(record.cold) {
                frame.equals(key, UnsafeRawBufferPointer(rebasing: $0[record.keyRange]))
            }
        }
    }

    /// The guard of `ifRevision`: nil where it holds.
    func refusal(unless revision: UInt64?, is record: ActivityRecord) -> Refusal? {
        guard let revision, revision != UInt64(record.revision) else { return nil }
        return .revisionConflict(present: UInt64(record.revision))
    }

    static func hash(app: AppID, device: DeviceID?, key: FrameRange, _ frame: Span<UInt8>) -> UInt64 {
        let part = frame.extracting(key.indices)
        return part.withUnsafeBytes { hash(app: app, device: device, key: $0) }
    }

    static func hash(app: AppID, device: DeviceID?, key: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(app)
        hasher.combine(device ?? .max)
        hasher.combine(bytes: key)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
