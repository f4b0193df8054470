extension Engine {
    /// Lets deadlines take effect that are due, in the order of their dates, at most `limit` of them; forgets what was
    /// retained long enough; goes on with settings that reach many.
    ///
    /// - Returns: whether something that is due was left for the next turn.
    package mutating func fireDue(at now: Instant, dating: Dating, limit: Int) -> Bool {
        continueSweep(at: now, dating)
        if !controls.lockSweeps.isEmpty { continueLockSweeps(at: now, dating) }
        if !controls.sweeps.isEmpty { continueControlSweeps(at: now, dating) }
        if !widgets.sweeps.isEmpty { continueWidgetSweeps(at: now, dating) }
        // A clock that stops at every date does not go on before the settings of this one had their effect.
        if isSweeping, dating == .whenDue { return true }
        var left = limit
        // A clock that stops at every date waits for what providers answer at this one, once all that is due then has
        // asked.
        let goal = now
        var now = now
        // Also where the last of many was reloaded just now.
        if dating == .whenDue, let latestCallAt { now = min(now, latestCallAt) }
        while left > 0 {
            let control = controls.nextDue(by: now)
            let widget = widgets.nextDue(by: now)
            // A wheel has moved as many timers as it may in one call, and what comes first is not known yet.
            if !control.isSet, controls.wheel.nextWork() <= now { return true }
            if !widget.isSet, widgets.wheel.nextWork() <= now { return true }
            let other = min(control, widget)
            guard let due = wheel.popDue(now: min(now, other)) else {
                // Activities come before controls at one date, and these before widgets.
                if other <= now, wheel.nextWork() > other {
                    if control <= widget { fireNextControl(at: now, dating) } else { fireNextWidget(at: now, dating) }
                    left -= 1
                    if dating == .whenDue, !controls.calls.isEmpty || !widgets.calls.isEmpty { now = other }
                    continue
                }
                // None, or the wheel has moved as many timers as it may in one call. What events stand for that were not
                // encoded yet is not forgotten.
                let isForgetful = events.isEmpty ? forgetRetained(at: now, limit: left) : hasForgettable(at: now)
                return isForgetful || isSweeping || now < goal || wheel.nextWork() <= now
            }
            left -= 1
            // Silence that nobody could break has put it off: what is due before it comes first.
            guard !rules.watchesHeartbeats
                || activities[due.slot].machine.nextDeadline(rules, unheard).at <= due.deadline
            else {
                arm(due.slot)
                continue
            }
            if sweep.isUnderway { catchUp(due.slot, at: now, dating) }
            fire(due.slot, at: now, dating)
        }
        return true
    }

    /// When the newest of the events happened that want something of providers; nil where none does.
    package var latestCallAt: Instant? {
        guard !controls.calls.isEmpty || !widgets.calls.isEmpty else { return nil }
        // A call that is taken back needs no event.
        return [controls.events.last?.at, widgets.events.last?.at].compactMap { $0 }.max()
    }

    /// When the newest of the events happened; nil where there are none.
    package var latestEventAt: Instant? {
        [events.last?.at, controls.events.last?.at, widgets.events.last?.at, groups.events.last?.at]
            .compactMap { $0 }.max()
    }

    /// Whether settings, locks or reloads of many are on their way.
    var isSweeping: Bool {
        sweep.isUnderway || !controls.sweeps.isEmpty || !controls.lockSweeps.isEmpty || !widgets.sweeps.isEmpty
    }

    /// The date of the next deadline or expiry that ``fireDue(at:dating:limit:)`` would let take effect.
    package func earliestDeadline() -> Instant {
        min(wheel.earliestDeadline(), controls.wheel.earliestDeadline(), widgets.wheel.earliestDeadline())
    }

    private mutating func fire(_ slot: Slot, at now: Instant, _ dating: Dating) {
        let before = activities[slot].machine
        let steps = activities[slot].machine.deadlineReached(at: now, rules, unheard)
        take(steps, of: slot, before: before, asker: .nobody, at: now, dating: dating, Span())
        if steps.isEmpty { arm(slot) }
    }

    /// What is due of one activity takes effect, before a command on it.
    mutating func settle(_ slot: Slot, at now: Instant, _ dating: Dating) {
        if sweep.isUnderway { catchUp(slot, at: now, dating) }
        fireAll(of: slot, until: now, at: now, dating)
    }

    /// What the settings on their way through the slab do to one activity, after what was due before they were set.
    mutating func catchUp(_ slot: Slot, at now: Instant, _ dating: Dating) {
        let app = app(of: activities[slot])
        guard apps[app].sweepNumber == sweep.number else { return }
        // One whose start was due before the settings feels them, though its start is noticed after them.
        let (wasPending, ordinal) = (activities[slot].state == .pending, activities[slot].ordinal)
        let setAt = apps[app].setAt
        fireAll(of: slot, until: min(setAt, now), at: now, dating)
        // But not a change of frequent updates from before its start was due: that reached it as one that did not run.
        let startedAfterFlip = wasPending && activities[slot].machine.startedAt > apps[app].frequentPushesFlippedOn
        applySettings(
            to: slot, startedAs: ordinal, startedAfterFlip: startedAfterFlip, at: dating == .whenDue ? setAt : now)
    }

    /// The deadlines of one activity until a date. A life has at most four, so this ends.
    private mutating func fireAll(of slot: Slot, until date: Instant, at now: Instant, _ dating: Dating) {
        while activities[slot].machine.nextDeadline(rules, unheard).at <= date { fire(slot, at: now, dating) }
    }

    /// What is due on one device takes effect, before a command that counts what is open there.
    mutating func settleDevice(_ device: DeviceID, _ share: DeviceShare, at now: Instant, _ dating: Dating) {
        forEach(share, on: device) { engine, slot in engine.settle(slot, at: now, dating) }
    }
}
