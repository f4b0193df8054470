/// The commands on activities, by apple-semantics 1.2 and the contract's order of checks.
extension Oracle {
    func start(_ start: OracleCommand.Start, _ command: OracleCommand, _ asker: Asker) -> Expectation.Say {
        let app = command.app
        if let key = start.key, let newest = newest(app, key, start.device), let held = shape(newest) {
            if held.state.isOpen {
                guard start.updatesExisting else { return .held(by: newest, revision: held.revision) }
                return update(
                    newest, content: start.content, staleDate: start.staleDate, relevance: start.relevance,
                    alert: start.alert, stamp: nil, command, asker)
            }
        }
        // It was to update an open activity of that revision, and there is none.
        if command.ifRevision != nil { return Self.notFound }
        if let id = start.id, isTaken(id) { return Self.refuse("reconnectNotPermitted", "never") }
        if let key = start.key, let until = muted(app, key, start.device), now < until {
            return Self.refuse("denied", "later", ["mutedUntil": .integer(until)])
        }
        let holds = settings(app, start.device)
        guard holds.enabled else { return Self.refuse("denied", "later") }
        let isBackground = start.background ?? start.device.map { isInBackground(app, $0) } ?? false
        if !command.isPush, isBackground { return Self.refuse("visibility", "later") }
        if let refusal = tooLarge(start.attributes, start.content) { return refusal }
        if let device = start.device {
            let counted = listed(on: device).filter { handle in
                shape(handle).map { $0.state.isOpen || rules.endedCount } ?? false
            }
            if counted.count(where: { self.app($0) == app }) >= rules.maximumPerApp {
                return Self.refuse(
                    "targetMaximumExceeded", "later", ["limit": .integer(Int64(rules.maximumPerApp))])
            }
            if counted.count >= rules.maximumPerDevice {
                return Self.refuse(
                    "globalMaximumExceeded", "later", ["limit": .integer(Int64(rules.maximumPerDevice))])
            }
        }
        let birth = Birth(
            app: app, type: start.type, key: start.key, device: start.device, attributes: start.attributes,
            content: start.content, staleDate: start.staleDate, relevance: start.relevance ?? 0,
            isTransient: start.isTransient, startDate: start.startDate, alert: start.alert, pushType: start.pushType,
            cause: command.isPush ? "push" : "command", frequent: holds.frequent, asker: asker)
        return applied(bear(birth, id: start.id), app)
    }

    func update(
        _ handle: Handle, content: String, staleDate: Int64?, relevance: Double?, alert: String?, stamp: Int64?,
        _ command: OracleCommand, _ asker: Asker
    ) -> Expectation.Say {
        guard let before = shape(handle), let birth = citizens[handle]?.birth else { return Self.notFound }
        guard before.state.isOpen else { return ignored(before.state.rawValue, handle, command.app) }
        if let refusal = conflict(command, before) { return refusal }
        let stamp = stamp ?? now
        if command.isPush, stamp > now + rules.futureLimit { return ignored("futureTimestamp", handle, command.app) }
        if stamp < before.stamp { return ignored("olderTimestamp", handle, command.app) }
        if let refusal = tooLarge(birth.attributes, content) { return refusal }
        let score = relevance ?? 0
        let isSame =
            content == before.content && score == before.relevance && alert == nil && staleDate == before.staleDate
        if rules.ignoresUnchanged, isSame {
            let endsSilence =
                before.state == .stale && before.cause == "heartbeat" && (staleDate.map { $0 > now } ?? true)
            if !endsSilence {
                if rules.hearsSilence { add(.sign, to: handle, asker) }
                return ignored("unchanged", handle, command.app)
            }
        }
        add(
            .update(
                content: content, staleDate: staleDate, relevance: score, alert: alert, stamp: stamp,
                isPush: command.isPush), to: handle, asker)
        return applied(handle, command.app)
    }

    func end(
        _ target: OracleCommand.Target, _ content: String?, _ policy: OracleCommand.Policy, _ stamp: Int64?,
        _ command: OracleCommand, _ asker: Asker
    ) -> Expectation.Say {
        guard let handle = find(target, command.app), let before = shape(handle),
            let birth = citizens[handle]?.birth
        else { return Self.notFound }
        if before.state == .dismissed { return ignored("dismissed", handle, command.app) }
        if before.state == .ended, policy != .immediate { return ignored("ended", handle, command.app) }
        if let refusal = conflict(command, before) { return refusal }
        let stamp = stamp ?? now
        var last: String?
        if before.state.runs {
            if command.isPush, stamp > now + rules.futureLimit {
                return ignored("futureTimestamp", handle, command.app)
            }
            if stamp < before.stamp, !(command.isPush && rules.pushEndAcceptsOlder) {
                return ignored("olderTimestamp", handle, command.app)
            }
            if let content, let refusal = tooLarge(birth.attributes, content) { return refusal }
            last = content
        }
        let latest = now + rules.dismissalLimit
        let dismissAt: Int64 =
            switch policy {
            case .default: latest
            case .immediate: now
            case .after(let date): min(date, latest)
            }
        add(.end(content: last, dismissAt: dismissAt, stamp: stamp, isPush: command.isPush), to: handle, asker)
        return applied(handle, command.app)
    }

    func dismiss(
        _ target: OracleCommand.Target, _ by: String, _ command: OracleCommand, _ asker: Asker
    ) -> Expectation.Say {
        guard let handle = find(target, command.app), let before = shape(handle) else { return Self.notFound }
        if before.state == .dismissed { return ignored("dismissed", handle, command.app) }
        if let refusal = conflict(command, before) { return refusal }
        add(.removed(cause: by), to: handle, asker)
        return applied(handle, command.app)
    }

    func renew(
        _ target: OracleCommand.Target, _ content: String?, _ staleDate: Int64?, _ command: OracleCommand,
        _ asker: Asker
    ) -> Expectation.Say {
        guard let handle = find(target, command.app, onlyOpen: true), let before = shape(handle),
            let old = citizens[handle]?.birth
        else { return Self.notFound }
        guard before.state.isOpen else { return ignored(before.state.rawValue, handle, command.app) }
        if let refusal = conflict(command, before) { return refusal }
        if let content, let refusal = tooLarge(old.attributes, content) { return refusal }
        var birth = old
        birth.content = content ?? before.content
        birth.staleDate = staleDate
        birth.relevance = before.relevance
        birth.startDate = nil
        birth.alert = nil
        birth.renews = handle
        birth.cause = "renewal"
        birth.frequent = settings(command.app, old.device).frequent
        birth.asker = asker
        add(.renewed(by: nextHandle), to: handle, asker)
        return applied(bear(birth, id: nil), command.app)
    }

    func heartbeat(_ target: OracleCommand.Target, _ command: OracleCommand, _ asker: Asker) -> Expectation.Say {
        guard rules.hearsSilence else {
            return Self.refuse("unavailable", "never", ["reason": .string("ruleOff")])
        }
        guard let handle = find(target, command.app, onlyOpen: true), let before = shape(handle) else {
            return Self.notFound
        }
        guard before.state.isOpen else { return ignored(before.state.rawValue, handle, command.app) }
        if let refusal = conflict(command, before) { return refusal }
        add(.sign, to: handle, asker)
        return applied(handle, command.app)
    }
}
