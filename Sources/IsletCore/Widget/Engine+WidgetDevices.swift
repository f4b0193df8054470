/// What devices and dates do to widgets.
extension Engine {
    // MARK: Conditions

    /// The limit that leaves no room to remember what a device reports, of an app where it names one; nil: there is
    /// room.
    ///
    /// - Parameter app: nil: none, or one that nobody knows.
    func conditionsLimit(_ kind: DeviceEventKind, of name: [UInt8], _ app: AppID?) -> Int? {
        guard let known = widgets.conditions[name] else {
            let isFull = kind.isRemembered && widgets.conditions.count >= DeviceTable.maximumDevices
            return isFull ? DeviceTable.maximumDevices : nil
        }
        let apps: Set<AppID>
        switch kind {
        case .appForeground: apps = known.foregroundApps
        case .sessionStart: apps = known.sessionApps
        case .lock, .unlock, .collapse, .leave, .reboot, .appBackground, .uninstall, .standByStart, .standByEnd,
            .developerModeOn, .developerModeOff, .localeChange, .appearanceChange, .locationChange, .sessionEnd:
            return nil
        }
        guard apps.count >= DeviceConditions.maximumApps else { return nil }
        return app.map { apps.contains($0) } ?? false ? nil : DeviceConditions.maximumApps
    }

    /// What a device reported that decides whether reloads are charged, or asks for some (apple-semantics 5).
    ///
    /// - Parameter app: for the kinds that name one, where it is known.
    mutating func deviceConditions(
        _ kind: DeviceEventKind, named name: [UInt8], _ device: DeviceID?, _ app: AppID?, _ asker: Asker,
        at now: Instant, _ dating: Dating, _ frame: Span<UInt8>
    ) {
        var conditions = widgets.conditions[name] ?? DeviceConditions()
        /// What becomes exempt by it.
        var cause: WidgetCause?
        switch kind {
        case .standByStart: (conditions.isInStandBy, cause) = (true, .standBy)
        case .standByEnd: conditions.isInStandBy = false
        case .developerModeOn: (conditions.isInDeveloperMode, cause) = (true, .developerMode)
        case .developerModeOff: conditions.isInDeveloperMode = false
        case .appForeground:
            guard let app else { return }
            conditions.foregroundApps.insert(app)
            cause = .foreground
        case .sessionStart:
            guard let app else { return }
            conditions.sessionApps.insert(app)
            cause = .session
        case .appBackground: if let app { conditions.foregroundApps.remove(app) }
        case .sessionEnd: if let app { conditions.sessionApps.remove(app) }
        case .uninstall:
            guard let app else { return }
            conditions.foregroundApps.remove(app)
            conditions.sessionApps.remove(app)
        case .reboot:
            conditions.isInStandBy = false
            conditions.foregroundApps = []
            conditions.sessionApps = []
        case .localeChange: return reloadWidgets(on: device, .locale, asker, at: now, dating, frame)
        case .appearanceChange: return reloadWidgets(on: device, .appearance, asker, at: now, dating, frame)
        case .locationChange: return reloadWidgets(on: device, .location, asker, at: now, dating, frame)
        case .lock, .unlock, .collapse, .leave: return
        }
        set(conditions, of: name, ConditionsChange(device: name, app: app, clearsApps: kind == .reboot))
        if let cause { releaseHeld(on: device, app, cause, asker, at: now, dating, frame) }
    }

    private mutating func set(_ conditions: DeviceConditions, of name: [UInt8], _ change: ConditionsChange) {
        guard widgets.conditions[name] ?? DeviceConditions() != conditions else { return }
        widgets.conditions.set(conditions.isEmpty ? nil : conditions, of: name, isWritten: !isJournalled)
        if isJournalled { notes.append(.conditions(change)) }
    }

    /// All widgets of a device are drawn anew.
    private mutating func reloadWidgets(
        on device: DeviceID?, _ cause: WidgetCause, _ asker: Asker, at now: Instant, _ dating: Dating,
        _ frame: Span<UInt8>
    ) {
        guard let device else { return }
        let slots = widgets.onDevice[device] ?? []
        visits += slots.count
        settlingStack(of: device, at: now) { engine in
            for slot in slots {
                engine.settle(widget: slot, at: now, dating)
                engine.reload(widget: slot, cause, asker, at: now, frame)
            }
        }
    }

    /// Reloads are exempt from now on: those that are held run.
    private mutating func releaseHeld(
        on device: DeviceID?, _ app: AppID?, _ cause: WidgetCause, _ asker: Asker, at now: Instant, _ dating: Dating,
        _ frame: Span<UInt8>
    ) {
        guard let device else { return }
        let slots = widgets.onDevice[device] ?? []
        visits += slots.count
        settlingStack(of: device, at: now) { engine in
            for slot in slots {
                let kind = engine.widgets.slab[slot].kind
                guard app.map({ $0 == engine.widgets.kinds.app(of: kind) }) ?? true else { continue }
                engine.settle(widget: slot, at: now, dating)
                guard engine.widgets.slab[slot].machine.hold != nil else { continue }
                engine.reload(widget: slot, cause, asker, at: now, frame)
            }
        }
    }

    /// An app was uninstalled from a device: its widgets there go.
    mutating func removeWidgets(
        of app: AppID, on device: DeviceID, _ asker: Asker, at now: Instant, _ frame: Span<UInt8>
    ) {
        let slots = widgets.onDevice[device] ?? []
        visits += slots.count
        // The stack has a new first one when all are gone, and not one after another of those that go.
        settlingStack(of: device, at: now) { engine in
            for slot in slots where engine.widgets.kinds.app(of: engine.widgets.slab[slot].kind) == app {
                engine.remove(widget: slot, .uninstall, asker, at: now, frame)
            }
        }
    }

    // MARK: Dates

    /// What is due of one widget takes effect, before a command on it.
    mutating func settle(widget slot: Slot, at now: Instant, _ dating: Dating) {
        // Each firing leaves a later date, or asks for a timeline, behind which only entries and the stack go on.
        while widgets.slab[slot].deadline <= now { fire(widget: slot, at: now, dating) }
    }

    /// The earliest of a widget's dates is there.
    mutating func fire(widget slot: Slot, at now: Instant, _ dating: Dating) {
        let record = widgets.slab[slot]
        let before = record.machine
        let next = before.next
        let date = dating == .whenDue ? min(now, record.deadline) : now
        if record.stackAt < next.at {
            widgets.slab[slot].stackAt = .never
            if let device = record.device { stackMoved(on: device, at: date, due: record.stackAt) }
            return arm(widget: slot)
        }
        switch next.cause {
        case .entry: fireEntry(of: slot, at: date)
        case .policy, .retry, .held:
            let cause: WidgetCause = next.cause == .retry ? .retry : next.cause == .held ? .held : .atEnd
            let steps = widgets.slab[slot].machine.reloadReached(admission(of: slot, cause, at: date), at: date)
            take(steps, ofWidget: slot, before: before, asker: .nobody, at: date)
        case .relevance: arm(widget: slot)
        }
    }

    /// The next entry is shown; where several dates are past, the newest one.
    private mutating func fireEntry(of slot: Slot, at date: Instant) {
        let record = widgets.slab[slot]
        let before = record.machine
        let spacing = entrySpacing(of: record)
        let entries = timeline(of: record)
        var course = TimelineCourse(
            entries, index: before.entryIndex.map { Int($0) }, shownAt: before.shownAt, spacing: spacing)
        // The date stands that was told, though the spacing may have been lifted or come back meanwhile.
        guard let step = course.advance(entries, from: before.nextEntryAt, to: date, spacing: spacing) else {
            widgets.slab[slot].machine.nextEntryAt = .never
            return arm(widget: slot)
        }
        dropCarried(of: slot)
        var changes = WidgetEvent.Changes()
        changes.entry = true
        let steps = widgets.slab[slot].machine.entryReached(
            WidgetMachine.Showing(course, of: entries), due: step.due, coalesces: step.coalesces)
        take(steps, ofWidget: slot, before: before, changes, asker: .nobody, at: date)
    }

    /// The earliest deadline of a widget takes effect; there is one.
    mutating func fireNextWidget(at now: Instant, _ dating: Dating) {
        guard let due = widgets.wheel.popDue(now: now) else { return }
        fire(widget: due.slot, at: now, dating)
    }
}
