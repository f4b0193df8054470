extension Engine {
    /// How many slots of a settings sweep one turn looks at.
    static let sweepBudget = 16_384

    /// Lets deadlines take effect that are due, in the order of their dates, at most `limit` of them; forgets what was
    /// retained long enough; goes on with settings that reach many.
    ///
    /// - Returns: whether something that is due was left for the next turn.
    package mutating func fireDue(at now: Instant, dating: Dating, limit: Int) -> Bool {
        if continueSweeps(at: now) { return true }
        var left = limit
        while left > 0 {
            guard let due = wheel.popDue(now: now) else {
                // None, or the wheel has moved as many timers as it may in one call. What events stand for that were not
                // encoded yet is not forgotten.
                let isForgetful = events.isEmpty ? forgetRetained(at: now, limit: left) : retained.nextExpiry <= now
                return isForgetful || wheel.nextWork() <= now
            }
            fire(due.slot, at: now, dating)
            left -= 1
        }
        return true
    }

    /// The date of the next deadline or expiry that ``fireDue(at:dating:limit:)`` would let take effect.
    package func earliestDeadline() -> Instant { wheel.earliestDeadline() }

    private mutating func fire(_ slot: Slot, at now: Instant, _ dating: Dating) {
        let before = activities[slot].machine
        let steps = activities[slot].machine.deadlineReached(at: now, rules)
        take(steps, of: slot, before: before, asker: .nobody, at: now, dating: dating, Span())
        if steps.isEmpty { arm(slot) }
    }

    /// What is due of one activity takes effect, before a command on it.
    mutating func settle(_ slot: Slot, at now: Instant, _ dating: Dating) {
        if !sweeps.isEmpty { applySettings(to: slot, at: now) }
        // A life has at most five deadlines, so this ends.
        while activities[slot].machine.nextDeadline(rules).at <= now { fire(slot, at: now, dating) }
    }

    /// What is due on one device takes effect, before a command that counts what is open there.
    mutating func settleDevice(_ device: DeviceID, at now: Instant, _ dating: Dating) {
        var slot = devices[device].first
        while slot != .max {
            let next = activities[slot].nextOnDevice
            settle(slot, at: now, dating)
            slot = next
        }
    }
}
