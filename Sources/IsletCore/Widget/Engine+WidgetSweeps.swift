/// Reloads of many widgets, some of them each turn.
extension Engine {
    /// As how many reloads a look at a stack counts, which has many widgets.
    private static var reloadsPerStack: Int { 16 }

    /// Begins a reload of many; with the cause `stack`, a new look at the stacks in which a kind takes part.
    mutating func sweepWidgets(
        app: AppID, _ kind: DeclaredKindID?, _ cause: WidgetCause, at now: Instant
    ) -> WidgetOutcome {
        let count =
            kind.map { widgets.kinds[$0].placed }
            ?? widgets.kinds.sum(of: app) { $0.placed }
        guard count > 0 else { return .reloading(count: 0) }
        let isAsked = cause.isAskedOfMany
        var sweep = ReloadSweep(app: app, kind: kind, cause: cause, setAt: now, end: widgets.slab.capacity)
        sweep.takesFurtherKinds = !isAsked
        // Those that wait become one. What providers make could be sent once more by nobody, and is never refused.
        let waiting = widgets.sweeps.firstIndex { $0.waits(for: sweep) }
        guard !isAsked || waiting != nil || widgets.sweeps.hasRoom(for: sweep, isAsked: \.isAskedOfMany) else {
            return .refused(.busy(retryAfter: 100))
        }
        let kinds = waiting.map { widgets.sweeps[$0].kinds } ?? sweep.kinds
        if let waiting { widgets.sweeps[waiting].join(sweep) } else { begin(sweep, at: now) }
        // What is answered now must not end with this process.
        if isAsked, widgets.sweeps.contains(where: { $0.kinds == kinds && $0.cause == cause }) {
            setUnswept(kinds, UnsweptReload(since: now, cause: cause))
        }
        return .reloading(count: count)
    }

    /// Its first step is now, so that a small house is through at once; behind others it has turns of its own.
    private mutating func begin(_ sweep: ReloadSweep<WidgetCause>, at now: Instant) {
        let replaced = widgets.sweeps.filter { sweep.replaces($0) }
        if !replaced.isEmpty { widgets.sweeps.removeAll { sweep.replaces($0) } }
        widgets.sweeps.append(sweep)
        for earlier in replaced { forget(earlier) }
        if widgets.sweeps.count == 1 { continueWidgetSweeps(at: now) }
    }

    /// Goes on with reloads of many, one step.
    mutating func continueWidgetSweeps(at now: Instant, _ dating: Dating = .whenNoticed) {
        var slots = ReloadSweep<WidgetCause>.slotsPerStep
        var reloads = ReloadSweep<WidgetCause>.reloadsPerStep
        while slots > 0, reloads > 0, var sweep = widgets.sweeps.first {
            let date = dating == .whenDue ? sweep.setAt : now
            while sweep.next < sweep.end, slots > 0, reloads > 0 {
                let slot = sweep.next
                sweep.next += 1
                slots -= 1
                guard let record = widgets.record(at: slot),
                    sweep.covers(app: widgets.kinds.app(of: record.kind), record.kind),
                    sweep.since.map({ record.machine.missed(reloadAt: $0) }) ?? true
                else { continue }
                if sweep.cause == .stack {
                    // Once for all of its widgets.
                    guard let device = record.device, widgets.restacked[sweep.app, default: []].insert(device).inserted
                    else { continue }
                    restack(device, at: date)
                    reloads -= Self.reloadsPerStack
                    continue
                }
                if record.machine.needs(sweep.cause) { reload(widget: slot, sweep.cause, .nobody, at: date) }
                reloads -= 1
            }
            guard sweep.next >= sweep.end else {
                widgets.sweeps[0] = sweep
                widgets.sweeps.letOthersGoFirst()
                return
            }
            widgets.sweeps.removeFirst()
            if sweep.cause == .stack { widgets.restacked[sweep.app] = nil }
            forget(sweep)
        }
    }

    /// A sweep is through.
    private mutating func forget(_ sweep: ReloadSweep<WidgetCause>) {
        guard widgets.unswept[sweep.kinds] != nil,
            !widgets.sweeps.contains(where: { $0.cause.isAskedOfMany && $0.kinds == sweep.kinds })
        else { return }
        setUnswept(sweep.kinds, nil)
    }

    /// A sweep that a command asked for goes on in later turns, or is through.
    private mutating func setUnswept(_ kinds: SweptKinds, _ unswept: UnsweptReload?) {
        guard widgets.unswept[kinds] != unswept else { return }
        widgets.unswept[kinds] = unswept
        widgets.changedReloads.insert(kinds)
        if isJournalled { notes.append(.widgetReload(kinds)) }
    }

    /// Goes on with the sweeps that the process before did not end.
    mutating func resumeWidgetSweeps(at now: Instant) {
        for kinds in widgets.unswept.keys.sorted() {
            guard let left = widgets.unswept[kinds] else { continue }
            widgets.sweeps.append(
                ReloadSweep(
                    app: kinds.app, kind: kinds.kind, cause: left.cause, setAt: now, since: left.since,
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
