/// Reloads of many controls, some of them each turn.
extension Engine {
    mutating func sweepControls(
        app: AppID, _ kind: ControlKindID?, _ cause: ControlCause, except: Slot? = nil, at now: Instant
    ) -> ControlOutcome {
        let isAsked = cause.isAskedOfMany
        guard !isAsked || controls.sweeps.count < ControlSweep.maximum else {
            return .refused(.busy(retryAfter: 100))
        }
        let count =
            kind.map { controls.kinds[$0].reloadable }
            ?? controls.kinds.records.reduce(0) { $0 + ($1.app == app ? $1.reloadable : 0) }
        guard count > 0 else { return .reloading(count: 0) }
        let sweep = ControlSweep(
            app: app, kind: kind, cause: cause, setAt: now, except: except, end: controls.slab.capacity)
        // Nobody could send these once more, so they are never refused: the ones that wait become one. There are as many
        // at most as there are kinds, for each of the three causes.
        let waiting =
            isAsked ? nil : controls.sweeps.indices.first { controls.sweeps[$0].next == 0 && controls.sweeps[$0].isSame(as: sweep) }
        if let waiting { controls.sweeps[waiting].join(sweep) } else { controls.sweeps.append(sweep) }
        continueControlSweeps(at: now)
        // It is the last in the row. What is answered now must not end with this process.
        if isAsked, !controls.sweeps.isEmpty { remember(sweep) }
        return .reloading(count: count)
    }

    /// What a kind calls sensitive is another than before: its controls hide or show by it, before anything else that
    /// is done to many. A restart in between finds those that were not reached.
    mutating func sweepPrivacy(of kind: ControlKindID, at now: Instant) {
        guard controls.kinds[kind].placed > 0 else { return }
        controls.sweeps.removeAll { $0.cause == .lock && $0.kind == kind }
        controls.sweeps.insert(
            ControlSweep(
                app: controls.kinds[kind].app, kind: kind, cause: .lock, setAt: now, end: controls.slab.capacity),
            at: 0)
        continueControlSweeps(at: now)
    }

    /// Goes on with reloads of many, some of them.
    mutating func continueControlSweeps(at now: Instant, _ dating: Dating = .whenNoticed) {
        var slots = ControlSweep.slotsPerTurn
        var reloads = ControlSweep.reloadsPerTurn
        while slots > 0, reloads > 0, var sweep = controls.sweeps.first {
            while sweep.next < sweep.end, slots > 0, reloads > 0 {
                let slot = sweep.next
                sweep.next += 1
                slots -= 1
                guard slot != sweep.except, let record = controls.record(at: slot),
                    sweep.covers(app: controls.kinds[record.kind].app, record.kind)
                else { continue }
                let date = dating == .whenDue ? sweep.setAt : now
                if sweep.cause == .lock {
                    redactAsDeclared(control: slot, .registration, at: date)
                } else {
                    reload(control: slot, sweep.cause, .nobody, at: date)
                }
                reloads -= 1
            }
            guard sweep.next >= sweep.end else { return controls.sweeps[0] = sweep }
            controls.sweeps.removeFirst()
            forget(sweep)
        }
    }

    /// A sweep that a command asked for goes on in later turns.
    private mutating func remember(_ sweep: ControlSweep) {
        for kind in sweep.kinds(in: controls.kinds) {
            controls.unswept[kind] = sweep.cause
            note(controlKind: kind)
        }
    }

    /// A sweep is through.
    private mutating func forget(_ sweep: ControlSweep) {
        guard !controls.unswept.isEmpty else { return }
        let others = controls.sweeps.lazy.filter(\.cause.isAskedOfMany)
        for kind in sweep.kinds(of: controls.unswept.keys, in: controls.kinds, without: others) {
            controls.unswept[kind] = nil
            note(controlKind: kind)
        }
    }

    /// Goes on with the reloads that the process before did not end: once more with all of their controls, as it is not known
    /// which of them were reached.
    mutating func resumeControlSweeps(at now: Instant) {
        for kind in controls.unswept.keys.sorted() {
            guard let cause = controls.unswept[kind] else { continue }
            controls.sweeps.append(
                ControlSweep(
                    app: controls.kinds[kind].app, kind: kind, cause: cause, setAt: now, end: controls.slab.capacity))
        }
    }

    private mutating func note(controlKind kind: ControlKindID) {
        kindChanged(kind)
        if isJournalled { notes.append(.controlKind(kind)) }
    }
}

extension ControlCause {
    /// Whether a reload of many for this reason was asked for by a command, and not by what a restart finds anew.
    fileprivate var isAskedOfMany: Bool {
        switch self {
        case .registration, .sibling, .providerLost, .lock: false
        case .command, .request, .push, .person, .action, .configuration, .retry, .provider, .timeout, .authentication,
            .unlock, .recovery, .uninstall:
            true
        }
    }
}
