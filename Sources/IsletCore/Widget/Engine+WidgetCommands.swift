/// The commands about widgets.
extension Engine {
    /// What a command about widgets came to.
    package enum WidgetOutcome: Equatable, Sendable {
        /// Executed; the widget that the answer shows.
        case applied(SlotRef)
        /// So many widgets are asked to reload.
        case reloading(count: Int)
        /// What was kept of so many kinds is forgotten.
        case invalidated(count: Int)
        case ignored(SlotRef, IgnoreReason)
        case refused(Refusal)
    }

    /// What a tap is about, with the names resolved.
    package enum WidgetTapping: Equatable, Sendable {
        /// The widget itself: the `url` of its entry, a JSON string with its quotes, where it has one.
        case open(url: [UInt8]?)
        /// A link of its entry, and its URL, a JSON string with its quotes.
        case link(name: [UInt8], url: [UInt8])
        /// A button or toggle, with the exact bytes of a JSON object.
        case action(name: [UInt8], parameters: [UInt8]?)
    }

    /// The widget that a command names, or nil.
    package func findWidget(_ address: ControlAddress, _ frame: Span<UInt8>) -> SlotRef? {
        guard let app = apps.find(address.app, of: frame), let slot = widgets.slot(of: address.id),
            widgets.kinds.app(of: widgets.slab[slot].kind) == app
        else { return nil }
        return widgets.reference(to: slot)
    }

    /// A kind that was declared, or nil.
    package func findWidgetKind(_ address: ControlKindAddress, _ frame: Span<UInt8>) -> DeclaredKindID? {
        guard let app = apps.find(address.app, of: frame),
            let kind = widgets.kinds.find(app, frame.bytes(address.kind)), widgets.kinds[kind].declaration != nil
        else { return nil }
        return kind
    }

    /// `widget.add`. Its family, configuration and rendering facts were checked.
    package mutating func addWidget(
        _ add: WidgetAdd, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant, freshID: EntityID
    ) -> WidgetOutcome {
        guard let kind = findWidgetKind(ControlKindAddress(app: add.app, kind: add.kind), frame) else {
            return .refused(.notFound)
        }
        guard widgets.kinds[kind].declaration?.families.contains(add.family) == true else {
            return .refused(.badField(.family, .unknownValue))
        }
        guard envelope.ifRevision == nil else { return .refused(.notFound) }
        let id = add.id ?? freshID
        guard widgets.slot(of: id) == nil, controls.slot(of: id) == nil, slot(of: id) == nil else {
            return .refused(.authorization(.reconnectNotPermitted))
        }
        guard entityCount < rules.maximumEntities else { return .refused(.quotaExceeded(limit: rules.maximumEntities)) }
        var device: DeviceID?
        if let name = add.device {
            guard let known = devices.device(name, of: frame) else {
                return .refused(.quotaExceeded(limit: DeviceTable.maximumDevices))
            }
            guard widgets.onDevice[known, default: []].count < DeviceTable.maximumPlaced else {
                return .refused(.quotaExceeded(limit: DeviceTable.maximumPlaced))
            }
            device = known
        }
        // The only one on its device is the first of its stack.
        let isOnTop = device.map { widgets.top[$0] == nil } ?? false
        let (machine, steps) = WidgetMachine.added(at: now, isOnTop: isOnTop)
        var record = WidgetRecord(
            id: id, kind: kind, family: add.family, device: device, addedAt: now, ordinal: nextOrdinal(),
            machine: machine)
        if let configuration = add.configuration { record.configuration = payloads.insert(configuration, of: frame) }
        if let rendering = add.rendering { record.rendering = payloads.insert(rendering, of: frame) }
        let slot = widgets.slab.insert(record)
        index(widget: slot)
        var changes = WidgetEvent.Changes()
        (changes.configuration, changes.rendering) = (add.configuration != nil, add.rendering != nil)
        take(
            steps, ofWidget: slot, before: nil, changes, asker: Asker(envelope: envelope, isCommand: true), at: now,
            frame)
        return .applied(widgets.reference(to: slot))
    }

    /// Makes a widget findable by id and device.
    mutating func index(widget slot: Slot) {
        let record = widgets.slab[slot]
        widgets.byID.insert(record.id.keyedHash, slot)
        widgets.kinds[record.kind].placed += 1
        widgets.placedFamilies.add(record.family, of: record.kind)
        guard let device = record.device else { return }
        if record.machine.isOnTop { widgets.top[device] = slot }
        widgets.onDevice[device, default: []].insert(slot, at: place(of: record, on: device))
        devices[device].references += 1
    }

    /// In the order of their placing.
    private func place(of record: WidgetRecord, on device: DeviceID) -> Int {
        let slots = widgets.onDevice[device] ?? []
        var place = slots.count
        while place > 0 {
            let other = widgets.slab[slots[place - 1]]
            guard record.placing < other.placing else { break }
            place -= 1
        }
        return place
    }

    /// `widget.configure`. What is given was checked.
    package mutating func configureWidget(
        _ configure: WidgetConfigure, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant, _ dating: Dating
    ) -> WidgetOutcome {
        guard let slot = reach(widget: configure.address, frame, now, dating) else { return .refused(.notFound) }
        if let refused = guarded(widget: slot, envelope, at: now, frame) { return refused }
        let record = widgets.slab[slot]
        var changes = WidgetEvent.Changes()
        if let configuration = configure.configuration {
            changes.configuration = !payloads.withBytes(record.configuration) {
                frame.isConfiguration(configuration, $0)
            }
        }
        if let rendering = configure.rendering {
            changes.rendering = !payloads.withBytes(record.rendering) { frame.equals(rendering, $0) }
        }
        guard changes.configuration || changes.rendering else {
            return ignore(widget: slot, (.unchanged, .unchanged), envelope, at: now, frame)
        }
        if changes.rendering, let rendering = configure.rendering {
            payloads.replace(&widgets.slab[slot].rendering, by: rendering, of: frame)
        }
        let steps: WidgetMachine.Steps
        if changes.configuration, let configuration = configure.configuration {
            payloads.replace(&widgets.slab[slot].configuration, by: configuration, of: frame)
            replace(\.timeline, of: slot, by: [])
            replace(\.carried, of: slot, by: [])
            (changes.timeline, changes.entry) = (true, record.machine.hasEntry)
            steps = widgets.slab[slot].machine.configured(at: now)
        } else {
            steps = widgets.slab[slot].machine.rendered()
        }
        take(
            steps, ofWidget: slot, before: record.machine, changes, asker: Asker(envelope: envelope, isCommand: true),
            at: now, frame)
        return .applied(widgets.reference(to: slot))
    }

    /// `widget.remove`.
    package mutating func removeWidget(
        _ address: ControlAddress, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant, _ dating: Dating
    ) -> WidgetOutcome {
        guard let slot = reach(widget: address, frame, now, dating) else { return .refused(.notFound) }
        if let refused = guarded(widget: slot, envelope, at: now, frame) { return refused }
        remove(widget: slot, .command, Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .applied(widgets.reference(to: slot))
    }

    mutating func remove(
        widget slot: Slot, _ cause: WidgetCause, _ asker: Asker, at now: Instant, _ frame: Span<UInt8>
    ) {
        let before = widgets.slab[slot].machine
        let steps = widgets.slab[slot].machine.removed(cause)
        take(steps, ofWidget: slot, before: before, asker: asker, at: now, frame)
    }

    /// `widget.reload` (apple-semantics 5, WidgetCenter and widget push).
    package mutating func reloadWidgets(
        _ reload: WidgetReload, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant, _ dating: Dating
    ) -> WidgetOutcome {
        let cause: WidgetCause = envelope.source == .push ? .push : .request
        switch reload {
        case .one(let address):
            guard let slot = reach(widget: address, frame, now, dating) else { return .refused(.notFound) }
            if let refused = guarded(widget: slot, envelope, at: now, frame) { return refused }
            self.reload(widget: slot, cause, Asker(envelope: envelope, isCommand: true), at: now, frame)
            return .applied(widgets.reference(to: slot))
        case .kind(let address):
            guard let kind = findWidgetKind(address, frame) else { return .refused(.notFound) }
            return sweepWidgets(app: widgets.kinds.app(of: kind), kind, cause, at: now)
        case .all(let name):
            guard let app = apps.find(name, of: frame) else { return .reloading(count: 0) }
            return sweepWidgets(app: app, nil, cause, at: now)
        }
    }

    /// `widget.visible`: it became visible (apple-semantics 5, other system reloads).
    package mutating func visibleWidget(
        _ address: ControlAddress, _ envelope: Envelope, _ frame: Span<UInt8>, at now: Instant, _ dating: Dating
    ) -> WidgetOutcome {
        guard let slot = reach(widget: address, frame, now, dating) else { return .refused(.notFound) }
        if let refused = guarded(widget: slot, envelope, at: now, frame) { return refused }
        guard widgets.slab[slot].machine.needs(.visible) else {
            return ignore(widget: slot, (.unchanged, .nothingToReload), envelope, at: now, frame)
        }
        reload(widget: slot, .visible, Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .applied(widgets.reference(to: slot))
    }

    /// `widget.tap` (apple-semantics 5, deep links; exempt).
    package mutating func tapWidget(
        _ address: ControlAddress, _ tapping: WidgetTapping, _ envelope: Envelope, _ frame: Span<UInt8>,
        at now: Instant, _ dating: Dating
    ) -> WidgetOutcome {
        guard let slot = reach(widget: address, frame, now, dating) else { return .refused(.notFound) }
        let before = widgets.slab[slot].machine
        let needsEntry: Field?
        switch tapping {
        case .open: needsEntry = nil
        case .link: needsEntry = .link
        case .action: needsEntry = .action
        }
        if let needsEntry, !before.hasEntry {
            log(
                widget: slot, .nothingShown, .refused, from: before.state, to: before,
                asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
            return .refused(.badField(needsEntry, .unknownValue))
        }
        if case .action = tapping, before.state == .acting {
            return ignore(widget: slot, (.acting, .actsAlready), envelope, at: now, frame)
        }
        if let refused = guarded(widget: slot, envelope, at: now, frame) { return refused }
        var interaction = WidgetEvent.Interaction()
        let steps: WidgetMachine.Steps
        switch tapping {
        case .open(let url):
            if let url { interaction.url = keep(url) }
            steps = widgets.slab[slot].machine.tapped()
        case .link(let name, let url):
            interaction.link = keep(name)
            interaction.url = keep(url)
            steps = widgets.slab[slot].machine.tapped()
        case .action(let name, let parameters):
            interaction.action = keep(name)
            if let parameters { interaction.parameters = keep(parameters) }
            let stored = name + [0] + (parameters ?? [])
            payloads.replace(&widgets.slab[slot].action, by: FrameRange(0..<stored.count), of: stored.span)
            steps = widgets.slab[slot].machine.act()
        }
        take(
            steps, ofWidget: slot, before: before, WidgetEvent.Changes(), interaction,
            asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .applied(widgets.reference(to: slot))
    }

    /// Keeps bytes until the events are released.
    private mutating func keep(_ bytes: [UInt8]) -> FrameRange {
        let range = FrameRange(offset: widgets.interactionBytes.count, count: bytes.count)
        widgets.interactionBytes += bytes
        return range
    }

    // MARK: The first checks

    /// The widget of a command, after what was due of it took effect.
    private mutating func reach(
        widget address: ControlAddress, _ frame: Span<UInt8>, _ now: Instant, _ dating: Dating
    ) -> Slot? {
        guard let slot = findWidget(address, frame)?.slot else { return nil }
        settle(widget: slot, at: now, dating)
        return slot
    }

    private mutating func guarded(
        widget slot: Slot, _ envelope: Envelope, at now: Instant, _ frame: Span<UInt8>
    ) -> WidgetOutcome? {
        let record = widgets.slab[slot]
        guard let revision = envelope.ifRevision, revision != UInt64(record.revision) else { return nil }
        log(
            widget: slot, .revisionGuard, .refused, from: record.machine.state, to: record.machine,
            asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .refused(.revisionConflict(present: UInt64(record.revision)))
    }

    private mutating func ignore(
        widget slot: Slot, _ dropped: (reason: IgnoreReason, rule: WidgetRule), _ envelope: Envelope,
        at now: Instant, _ frame: Span<UInt8>
    ) -> WidgetOutcome {
        let machine = widgets.slab[slot].machine
        log(
            widget: slot, dropped.rule, .ignored(dropped.reason), from: machine.state, to: machine,
            asker: Asker(envelope: envelope, isCommand: true), at: now, frame)
        return .ignored(widgets.reference(to: slot), dropped.reason)
    }

    /// What a reader sees of a widget, after what was due of it took effect.
    package mutating func readWidget(
        _ address: ControlAddress, _ frame: Span<UInt8>, at now: Instant, _ dating: Dating
    ) -> SlotRef? {
        reach(widget: address, frame, now, dating).map { widgets.reference(to: $0) }
    }
}
