import IsletCore

/// How a test names an activity.
enum Named {
    case id(EntityID)
    case key(String, device: String? = nil)
}

/// The commands of the contract, with the names of their fields.
extension EngineRig {
    static func envelope(_ source: Source = .local, ifRevision: UInt64? = nil) -> Envelope {
        var envelope = Envelope()
        envelope.source = source
        envelope.ifRevision = ifRevision
        return envelope
    }

    private func address(_ named: Named, _ app: String, _ frame: inout FrameBuilder) -> ActivityAddress {
        let app = frame.run(app)
        switch named {
        case .id(let id): return ActivityAddress(app: app, target: .id(id))
        case .key(let key, let device):
            return ActivityAddress(app: app, target: .key(frame.run(key), device: frame.run(device)))
        }
    }

    @discardableResult
    func start(
        _ app: String = "com.a", type: String = "order", attributes: String = "{}", content: String = "{\"n\":0}",
        stale: Instant? = nil, relevance: Double? = nil, style: ActivityStyle = .standard, on: Instant? = nil,
        alert: String? = nil, pushType: String? = nil, device: String? = nil, key: String? = nil, id: EntityID? = nil,
        background: Bool? = nil, updatesExisting: Bool = false, source: Source = .local, ifRevision: UInt64? = nil
    ) -> Engine.Outcome {
        var frame = FrameBuilder()
        var start = ActivityStart(
            app: frame.run(app), type: frame.run(type), attributes: frame.run(attributes),
            contentState: frame.run(content))
        start.staleDate = stale
        start.relevanceScore = relevance
        start.style = style
        start.startDate = on
        start.alert = frame.run(alert ?? (on == nil ? nil : "{\"title\":\"t\"}"))
        start.pushType = frame.run(pushType)
        start.device = frame.run(device)
        start.key = frame.run(key)
        start.id = id
        start.background = background
        start.updatesExisting = updatesExisting
        let fresh = freshID()
        follower.expect(id ?? fresh, app: app, type: type)
        return send(.activityStart(start), frame, Self.envelope(source, ifRevision: ifRevision), freshID: fresh)
    }

    /// A start that must succeed; its id.
    func started(
        _ app: String = "com.a", stale: Instant? = nil, relevance: Double? = nil, style: ActivityStyle = .standard,
        on: Instant? = nil, device: String? = nil, key: String? = nil
    ) -> EntityID {
        let outcome = start(app, stale: stale, relevance: relevance, style: style, on: on, device: device, key: key)
        precondition(outcome.text == "applied", "the start was not applied: \(outcome.text)")
        return latest
    }

    @discardableResult
    func update(
        _ named: Named, _ app: String = "com.a", content: String = "{\"n\":1}", stale: Instant? = nil,
        relevance: Double? = nil, alert: String? = nil, stamped: Instant? = nil, source: Source = .local,
        ifRevision: UInt64? = nil
    ) -> Engine.Outcome {
        var frame = FrameBuilder()
        var update = ActivityUpdate(address: address(named, app, &frame), contentState: frame.run(content))
        update.staleDate = stale
        update.relevanceScore = relevance
        update.alert = frame.run(alert)
        update.timestamp = stamped
        return send(.activityUpdate(update), frame, Self.envelope(source, ifRevision: ifRevision))
    }

    @discardableResult
    func end(
        _ named: Named, _ app: String = "com.a", content: String? = nil, policy: DismissalPolicy = .default,
        stamped: Instant? = nil, source: Source = .local, ifRevision: UInt64? = nil
    ) -> Engine.Outcome {
        var frame = FrameBuilder()
        var end = ActivityEnd(address: address(named, app, &frame))
        end.contentState = frame.run(content)
        end.dismissalPolicy = policy
        end.timestamp = stamped
        return send(.activityEnd(end), frame, Self.envelope(source, ifRevision: ifRevision))
    }

    @discardableResult
    func dismiss(
        _ named: Named, _ app: String = "com.a", by: Dismisser = .person, ifRevision: UInt64? = nil
    ) -> Engine.Outcome {
        var frame = FrameBuilder()
        var dismiss = ActivityDismiss(address: address(named, app, &frame))
        dismiss.by = by
        return send(.activityDismiss(dismiss), frame, Self.envelope(ifRevision: ifRevision))
    }

    @discardableResult
    func renew(
        _ named: Named, _ app: String = "com.a", content: String? = nil, stale: Instant? = nil,
        ifRevision: UInt64? = nil
    ) -> Engine.Outcome {
        var frame = FrameBuilder()
        var renew = ActivityRenew(address: address(named, app, &frame))
        renew.contentState = frame.run(content)
        renew.staleDate = stale
        return send(.activityRenew(renew), frame, Self.envelope(ifRevision: ifRevision))
    }

    @discardableResult
    func heartbeat(_ named: Named, _ app: String = "com.a", ifRevision: UInt64? = nil) -> Engine.Outcome {
        var frame = FrameBuilder()
        let address = address(named, app, &frame)
        return send(.activityHeartbeat(address), frame, Self.envelope(ifRevision: ifRevision))
    }

    @discardableResult
    func get(_ named: Named, _ app: String = "com.a") -> Engine.Outcome {
        var frame = FrameBuilder()
        let address = address(named, app, &frame)
        return send(.activityGet(address), frame)
    }

    @discardableResult
    func set(
        _ app: String = "com.a", device: String? = nil, enabled: Bool? = nil, frequent: Bool? = nil
    ) -> Engine.Outcome {
        var frame = FrameBuilder()
        var set = SettingsSet(address: SettingsAddress(app: frame.run(app), device: frame.run(device)))
        set.activitiesEnabled = enabled
        set.frequentPushesEnabled = frequent
        return send(.settingsSet(set), frame)
    }

    func settings(_ app: String = "com.a", device: String? = nil) -> ActivitySettings {
        var frame = FrameBuilder()
        let address = SettingsAddress(app: frame.run(app), device: frame.run(device))
        return engine.settings(at: address, of: frame.bytes.span)
    }

    @discardableResult
    func report(_ device: String, _ kind: DeviceEventKind, app: String? = nil) -> Engine.Outcome {
        var frame = FrameBuilder()
        let event = DeviceEvent(device: frame.run(device), kind: kind, app: frame.run(app))
        return send(.deviceEvent(event), frame)
    }

    /// The ids of `activity.list`, by the engine's filter.
    func list(
        _ app: String? = "com.a", type: String? = nil, state: ActivityState? = nil, device: String? = nil,
        key: String? = nil
    ) -> Set<EntityID> {
        var frame = FrameBuilder()
        var list = ActivityList()
        list.app = frame.run(app)
        list.type = frame.run(type)
        list.state = state
        list.device = frame.run(device)
        list.key = frame.run(key)
        guard let filter = engine.filter(of: list, frame.bytes.span) else { return [] }
        var found: Set<EntityID> = []
        for slot in 0..<engine.slotCount where engine.matches(slot, filter) {
            if let record = engine.record(at: slot) { found.insert(record.id) }
        }
        return found
    }

    /// How a device shows its activities: `#3 1 compact`.
    func presentation(_ device: String) -> [String] {
        var frame = FrameBuilder()
        let name = frame.run(device)
        guard let device = engine.devices.find(name, of: frame.bytes.span) else {
            takeSettled()
            return []
        }
        let order = engine.presentation(on: device, at: now, dating: dating)
        takeSettled()
        return order.map { shown in
            let id = engine.record(at: shown.slot)?.id.short ?? "free"
            let place = shown.lockScreen.map(String.init) ?? "-"
            return "\(id) \(place)" + (shown.dynamicIsland.map { " \($0)" } ?? "")
        }
    }
}
