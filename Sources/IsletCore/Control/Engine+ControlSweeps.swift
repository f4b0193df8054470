/// Reloads of many controls, some of them each turn.
extension Engine {
    /// Begins a reload of many, or lets it wait for those that are on their way.
    mutating func sweepControls(
        app: AppID, _ kind: ControlKindID?, _ cause: ControlCause, except: Slot? = nil, at now: Instant
    ) -> ControlOutcome {
        let count =
            kind.map { controls.kinds[$0].reloadable }
            ?? controls.kinds.sum(of: app) { $0.reloadable }
        guard count > 0 else { return .reloading(count: 0) }
        let isAsked = cause.isAskedOfMany
        var sweep = ControlSweep(
            app: app, kind: kind, cause: cause, setAt: now, except: except, end: controls.slab.capacity)
        sweep.takesFurtherKinds = !isAsked && except == nil
        // Those that wait become one. What providers make could be sent once more by nobody, so it is never refused: there
        // are as many at most as there are kinds, for siblings, and for each of the other causes as there are apps.
        let waiting = controls.sweeps.firstIndex { $0.waits(for: sweep) }
        guard !isAsked || waiting != nil || controls.sweeps.hasRoom(for: sweep, isAsked: \.isAskedOfMany) else {
            return .refused(.busy(retryAfter: 100))
        }
        let kinds = waiting.map { controls.sweeps[$0].kinds } ?? sweep.kinds
        if let waiting { controls.sweeps[waiting].join(sweep) } else { begin(sweep, at: now) }
        // What is answered now must not end with this process.
        if isAsked, controls.sweeps.contains(where: { $0.kinds == kinds && $0.cause == cause }) {
            setUnswept(kinds, cause)
        }
        return .reloading(count: count)
    }

    /// Its first step is now, so that a small house is through at once; behind others it has turns of its own.
    private mutating func begin(_ sweep: ControlSweep, at now: Instant) {
        let replaced = controls.sweeps.filter { sweep.replaces($0) }
        if !replaced.isEmpty { controls.sweeps.removeAll { sweep.replaces($0) } }
        controls.sweeps.append(sweep)
        for earlier in replaced { forget(earlier) }
        if controls.sweeps.count == 1 { continueControlSweeps(at: now) }
    }

    /// What a kind calls sensitive is another than before: its controls hide or show by it, before anything else that
    /// is done to many. A restart in between finds those that were not reached.
    mutating func sweepPrivacy(of kind: ControlKindID, at now: Instant) {
        guard controls.kinds[kind].placed > 0 else { return }
        var sweep = ControlSweep(
            app: controls.kinds.app(of: kind), kind: kind, cause: .lock, setAt: now, end: controls.slab.capacity)
        sweep.takesFurtherKinds = true
        // One an app, which begins anew: whoever was told of its kind is so still.
        if let underway = controls.sweeps.firstIndex(where: { $0.cause == .lock && $0.app == sweep.app }) {
            controls.sweeps[underway].next = 0
            return controls.sweeps[underway].join(sweep)
        }
        controls.sweeps.insert(sweep, at: 0)
        if controls.sweeps.count == 1 { continueControlSweeps(at: now) }
    }

    /// Goes on with reloads of many, one step.
    mutating func continueControlSweeps(at now: Instant, _ dating: Dating = .whenNoticed) {
        var slots = ControlSweep.slotsPerStep
        var reloads = ControlSweep.reloadsPerStep
        while slots > 0, reloads > 0, var sweep = controls.sweeps.first {
            while sweep.next < sweep.end, slots > 0, reloads > 0 {
                let slot = sweep.next
                sweep.next += 1
                slots -= 1
                guard slot != sweep.except, let record = controls.record(at: slot),
                    sweep.covers(app: controls.kinds.app(of: record.kind), record.kind)
                else { continue }
                let date = dating == .whenDue ? sweep.setAt : now
                if sweep.cause == .lock {
                    redactAsDeclared(control: slot, .registration, at: date)
                } else {
                    reload(control: slot, sweep.cause, .nobody, at: date)
                }
                reloads -= 1
            }
            guard sweep.next >= sweep.end else {
                controls.sweeps[0] = sweep
                // What is to be hidden stays in front.
                if sweep.cause != .lock { controls.sweeps.letOthersGoFirst() }
                return
            }
            controls.sweeps.removeFirst()
            forget(sweep)
        }
    }

    /// A sweep is through.
    private mutating func forget(_ sweep: ControlSweep) {
        guard controls.unswept[sweep.kinds] != nil,
            !controls.sweeps.contains(where: { $0.cause.isAskedOfMany && $0.kinds == sweep.kinds })
        else { return }
        setUnswept(sweep.kinds, nil)
    }

    /// A sweep that a command asked for goes on in later turns, or is through.
    private mutating func setUnswept(_ kinds: SweptKinds, _ cause: ControlCause?) {
        guard controls.unswept[kinds] != cause else { return }
        controls.unswept[kinds] = cause
        controls.changedReloads.insert(kinds)
        if isJournalled { notes.append(.controlReload(kinds)) }
    }

    /// Goes on with the reloads that the process before did not end: once more with all of their controls, as it is not known
    /// which of them were reached.
    mutating func resumeControlSweeps(at now: Instant) {
        for kinds in controls.unswept.keys.sorted() {
            guard let cause = controls.unswept[kinds] else { continue }
            controls.sweeps.append(
                ControlSweep(
                    app: kinds.app, kind: kinds.kind, cause: cause, setAt: now, end: controls.slab.capacity))
        }
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
