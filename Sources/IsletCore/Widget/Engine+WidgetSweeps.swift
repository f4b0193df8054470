/// Reloads of many widgets, some of them each turn.
extension Engine {
    /// Begins a reload of many; with the cause `stack`, a new look at the stacks in which a kind takes part.
    mutating func sweepWidgets(
        app: AppID, _ kind: DeclaredKindID?, _ cause: WidgetCause, at now: Instant
    ) -> WidgetOutcome {
        let isAsked = cause.isAskedOfMany
        guard !isAsked || widgets.sweeps.count < ReloadSweep<WidgetCause>.maximum else {
            return .refused(.busy(retryAfter: 100))
        }
        let count =
            kind.map { widgets.kinds[$0].placed }
            ?? widgets.kinds.records.reduce(0) { $0 + ($1.app == app ? $1.placed : 0) }
        guard count > 0 else { return .reloading(count: 0) }
        let sweep = ReloadSweep(app: app, kind: kind, cause: cause, setAt: now, end: widgets.slab.capacity)
        // Nobody could send these once more, so they are never refused: the ones that wait become one.
        let waiting = isAsked ? nil : widgets.sweeps.indices.dropFirst().first { widgets.sweeps[$0].isSame(as: sweep) }
        if let waiting { widgets.sweeps[waiting].join(sweep) } else { widgets.sweeps.append(sweep) }
        continueWidgetSweeps(at: now)
        // It is the last in the row. What is answered now must not end with this process.
        if isAsked, !widgets.sweeps.isEmpty { remember(sweep) }
        return .reloading(count: count)
    }

    /// Goes on with reloads of many, some of them.
    mutating func continueWidgetSweeps(at now: Instant, _ dating: Dating = .whenNoticed) {
        var slots = ReloadSweep<WidgetCause>.slotsPerTurn
        var reloads = ReloadSweep<WidgetCause>.reloadsPerTurn
        while slots > 0, reloads > 0, var sweep = widgets.sweeps.first {
            let date = dating == .whenDue ? sweep.setAt : now
            while sweep.next < sweep.end, slots > 0, reloads > 0 {
                let slot = sweep.next
                sweep.next += 1
                slots -= 1
                guard let record = widgets.record(at: slot),
                    sweep.covers(app: widgets.kinds[record.kind].app, record.kind),
                    sweep.since.map({ record.machine.missed(reloadAt: $0) }) ?? true
                else { continue }
                reloads -= 1
                if sweep.cause == .stack {
                    if let device = record.device { restack(device, at: date) }
                } else if record.machine.needs(sweep.cause) {
                    reload(widget: slot, sweep.cause, .nobody, at: date)
                }
            }
            guard sweep.next >= sweep.end else { return widgets.sweeps[0] = sweep }
            widgets.sweeps.removeFirst()
            forget(sweep)
        }
    }

    /// A sweep that a command asked for goes on in later turns.
    private mutating func remember(_ sweep: ReloadSweep<WidgetCause>) {
        for kind in sweep.kinds(in: widgets.kinds) {
            widgets.unswept[kind] = UnsweptReload(since: sweep.setAt, cause: sweep.cause)
            note(widgetKind: kind)
        }
    }

    /// A sweep is through.
    private mutating func forget(_ sweep: ReloadSweep<WidgetCause>) {
        guard !widgets.unswept.isEmpty else { return }
        let others = widgets.sweeps.lazy.filter(\.cause.isAskedOfMany)
        for kind in sweep.kinds(of: widgets.unswept.keys, in: widgets.kinds, without: others) {
            widgets.unswept[kind] = nil
            note(widgetKind: kind)
        }
    }

    /// Goes on with the sweeps that the process before did not end.
    mutating func resumeWidgetSweeps(at now: Instant) {
        for kind in widgets.unswept.keys.sorted() {
            guard let left = widgets.unswept[kind] else { continue }
            widgets.sweeps.append(
                ReloadSweep(
                    app: widgets.kinds[kind].app, kind: kind, cause: left.cause, setAt: now, since: left.since,
                    end: widgets.slab.capacity))
        }
    }
}

extension WidgetCause {
    /// Whether a reload of many for this reason was asked for by a command, and not by what a restart finds anew.
    fileprivate var isAskedOfMany: Bool {
        switch self {
        case .registration, .providerLost, .stack: false
        case .command, .request, .push, .entry, .atEnd, .after, .retry, .held, .visible, .location, .locale,
            .appearance, .foreground, .session, .standBy, .developerMode, .action, .configuration, .provider,
            .timeout, .person, .recovery, .uninstall:
            true
        }
    }
}
