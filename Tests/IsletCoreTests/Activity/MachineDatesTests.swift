import IsletCore
import Testing

/// Dates: edges, caps, ties, totals.
@Suite("Activity machine: dates")
struct MachineDatesTests {
    private let start = MachineSample.start
    private let now = MachineSample.now
    private let hour = MachineSample.hour
    private let rules = RuleSet.standard

    // MARK: Start

    @Test("row 1: a start is active, its timestamp is the start, its end is 8 hours away")
    func startIsActive() {
        let (machine, steps) = ActivityMachine.started(at: start)
        #expect(steps.first?.name == .started && steps.first?.from == nil && steps.second == nil)
        #expect(machine.state == .active && machine.cause == .command && !machine.isScheduled)
        #expect(machine.startedAt == start && machine.timestamp == start)
        #expect(machine.expiresAt(rules) == start + 8 * hour)
        #expect(machine.nextDeadline(rules) == (start + 8 * hour, .activeLimit))
    }

    @Test("row 2: a stale date that is now or earlier is stale at once", arguments: [-1, 0] as [Milliseconds])
    func staleAtStart(span: Milliseconds) {
        let (machine, steps) = ActivityMachine.started(at: start, staleDate: start + span)
        #expect([steps.first?.name, steps.second?.name] == [.started, .stale])
        #expect(steps.second?.rule == .staleAtStart)
        #expect(steps.first?.machine.state == .active)
        #expect(machine.state == .stale && machine.cause == .staleDate)
        #expect(machine.staleSince(rules) == start, "not since before it started")
    }

    @Test("row 2: a stale date one millisecond ahead is not stale yet")
    func notStaleAtStart() {
        let (machine, steps) = ActivityMachine.started(at: start, staleDate: start + 1)
        #expect(machine.state == .active && steps.second == nil && !machine.staleSince(rules).isSet)
        #expect(machine.nextDeadline(rules) == (start + 1, .staleDate))
    }

    @Test("row 5: a start date to come is pending; one that is now or earlier starts at once")
    func scheduled() {
        let (machine, steps) = ActivityMachine.started(at: start, startDate: start + 1)
        #expect(steps.first?.name == .scheduled && machine.state == .pending && machine.isScheduled)
        #expect(machine.expiresAt(rules) == .never, "the 8-hour clock does not run yet")
        for date in [start, start + -1] {
            let (machine, steps) = ActivityMachine.started(at: start, startDate: date)
            #expect(steps.first?.name == .started && machine.state == .active)
            #expect(machine.startedAt == start)
        }
    }

    // MARK: Deadlines

    /// A deadline of each kind, by the state that has it.
    static let deadlines: [(ActivityState, ActivityState)] = [
        (.pending, .active), (.active, .stale), (.stale, .ended), (.ended, .dismissed),
    ]

    @Test(
        "rows 8, 19, 27, 38: a deadline is half open: now == t fires, one millisecond before does not",
        arguments: deadlines)
    func halfOpen(from: ActivityState, to: ActivityState) {
        var machine = MachineSample.machine(from)
        let due = machine.nextDeadline(rules).at
        #expect(machine.deadlineReached(at: due + -1, rules).isEmpty)
        #expect(machine.state == from)
        let steps = machine.deadlineReached(at: due, rules)
        #expect(machine.state == to && steps.first?.due == due)
    }

    @Test("a late firing dates by the deadline, and a doubled one does nothing", arguments: deadlines)
    func lateAndDoubled(from: ActivityState, to: ActivityState) {
        var onTime = MachineSample.machine(from)
        var late = onTime
        let due = onTime.nextDeadline(rules).at
        let steps = onTime.deadlineReached(at: due, rules)
        #expect(late.deadlineReached(at: due + 1_234, rules) == steps)
        #expect(late == onTime)
        #expect(late.deadlineReached(at: due, rules).isEmpty)
        #expect(late == onTime)
    }

    @Test("row 8: the 8-hour clock starts at the start date, and the timestamp is seeded with it")
    func clockOfScheduled() {
        var machine = MachineSample.machine(.pending)
        let due = start + 2 * hour
        _ = machine.deadlineReached(at: due + hour, rules)
        #expect(machine.startedAt == due && machine.timestamp == due)
        #expect(machine.expiresAt(rules) == due + 8 * hour)
    }

    @Test("row 8: a timestamp beyond the start date stays the highest")
    func timestampOfScheduled() {
        var machine = MachineSample.machine(.pending)
        _ = machine.updated(at: now, staleDate: .never, timestamp: start + 5 * hour, source: .local)
        _ = machine.deadlineReached(at: start + 2 * hour, rules)
        #expect(machine.timestamp == start + 5 * hour)
    }

    @Test(
        "row 11: a stale date that passes before the start, or with it, makes it stale at its start",
        arguments: [1, 2] as [Milliseconds])
    func staleBeforeStart(hours: Milliseconds) {
        var machine = ActivityMachine.started(
            at: start, startDate: start + 2 * hour, staleDate: start + hours * hour
        ).machine
        #expect(machine.nextDeadline(rules) == (start + 2 * hour, .startDate), "pending never goes stale")
        #expect(machine.deadlineReached(at: start + hours * hour + -1, rules).isEmpty)
        let steps = machine.deadlineReached(at: start + 2 * hour, rules)
        #expect([steps.first?.name, steps.second?.name] == [.started, .stale])
        #expect(steps.second?.rule == .staleBeforeStart && steps.second?.due == start + 2 * hour)
        #expect(machine.state == .stale)
    }

    @Test("a stale date at the very instant of the 8 hours: it ends and does not go stale")
    func tieOfStaleAndEnd() {
        var machine = ActivityMachine.started(at: start, staleDate: start + 8 * hour).machine
        #expect(machine.nextDeadline(rules) == (start + 8 * hour, .activeLimit))
        let steps = machine.deadlineReached(at: start + 8 * hour, rules)
        #expect(steps.first?.name == .ended && steps.second == nil)
        #expect(machine.deadlineReached(at: start + 8 * hour, rules).isEmpty)
    }

    @Test("a stale date one millisecond before the 8 hours: both, in order")
    func staleJustBeforeEnd() {
        var machine = ActivityMachine.started(at: start, staleDate: start + 8 * hour + -1).machine
        #expect(machine.deadlineReached(at: start + 8 * hour, rules).first?.name == .stale)
        #expect(machine.deadlineReached(at: start + 8 * hour, rules).first?.name == .ended)
    }

    @Test("row 40: an ended one has no stale date to reach")
    func endedNeverStale() {
        var machine = MachineSample.machine(.ended)
        #expect(machine.staleDate == start + 3 * hour, "the date stays, without effect")
        #expect(machine.nextDeadline(rules) == (start + 4 * hour + 30 * MachineSample.minute, .dismissalPolicy))
        #expect(machine.deadlineReached(at: start + 3 * hour, rules).isEmpty)
    }

    @Test("row 27: 8 hours active, 4 hours ended, 12 in total, however late it is noticed")
    func totals() {
        var machine = ActivityMachine.started(at: start).machine
        let late = start + 30 * hour
        _ = machine.deadlineReached(at: late, rules)
        #expect(machine.endedAt == start + 8 * hour && machine.dismissAt == start + 12 * hour)
        #expect(machine.cause == .activeLimit)
        _ = machine.deadlineReached(at: late, rules)
        #expect(machine.state == .dismissed && machine.dismissAt == start + 12 * hour)
        #expect(machine.nextDeadline(rules).at == .never)
        #expect(machine.deadlineReached(at: .never, rules).isEmpty)
    }

    @Test("row 27: an update does not move the 8 hours")
    func updateKeepsLimit() {
        var machine = MachineSample.machine(.active)
        _ = machine.updated(at: now, staleDate: start + 20 * hour, timestamp: now, source: .local)
        #expect(machine.nextDeadline(rules) == (start + 8 * hour, .activeLimit))
    }

    // MARK: Updates and ends

    @Test("row 13: an update replaces the stale date, and nil clears it")
    func staleDateIsReplaced() {
        var machine = MachineSample.machine(.active)
        _ = machine.updated(at: now, staleDate: now + 1, timestamp: now, source: .local)
        #expect(machine.staleDate == now + 1 && machine.timestamp == now)
        _ = machine.updated(at: now, staleDate: .never, timestamp: now, source: .local)
        #expect(machine.staleDate == .never)
        #expect(machine.nextDeadline(rules).cause == .activeLimit)
    }

    @Test("rows 22 and 23: a dismissal date is min(d, now + 4 h)")
    func dismissalDates() {
        let spans: [(DismissalPolicy, Milliseconds)] = [
            (.default, 4 * hour), (.after(now + 1), 1), (.after(now + 4 * hour + -1), 4 * hour - 1),
            (.after(now + 4 * hour), 4 * hour), (.after(now + 4 * hour + 1), 4 * hour),
            (.after(Instant(9_999_999_999_999)), 4 * hour), (.after(.never), 4 * hour),
        ]
        for (policy, span) in spans {
            for state in [ActivityState.active, .stale] {
                var machine = MachineSample.machine(state)
                _ = machine.ended(at: now, policy: policy, timestamp: now, source: .local, rules)
                #expect(machine.endedAt == now && machine.dismissAt == now + span, "\(policy)")
                #expect(machine.nextDeadline(rules) == (now + span, .dismissalPolicy))
            }
        }
    }

    @Test("row 37: a second end keeps the first dismissal date; row 36: immediate clears it now")
    func secondEnd() {
        var machine = MachineSample.machine(.ended)
        let first = machine.dismissAt
        #expect(machine.dropsEnd(.after(now + 1)) != nil && machine.dropsEnd(.default) != nil)
        #expect(machine.dropsEnd(.immediate) == nil)
        #expect(machine.dismissAt == first)
        _ = machine.ended(at: now, policy: .immediate, timestamp: now, source: .local, rules)
        #expect(machine.dismissAt == now && machine.endedAt == start + 30 * MachineSample.minute)
    }

    @Test("row 26: an older push end does not lower the timestamp; without the option it is dropped")
    func olderPushEnd() {
        var machine = MachineSample.machine(.active)
        #expect(machine.dropsEnd(timestamp: start + -1, at: now, source: .push, rules) == nil)
        #expect(machine.dropsEnd(timestamp: start + -1, at: now, source: .local, rules)?.reason == .olderTimestamp)
        var strict = rules
        strict.pushEndAcceptsOlderTimestamp = false
        #expect(machine.dropsEnd(timestamp: start + -1, at: now, source: .push, strict)?.reason == .olderTimestamp)
        _ = machine.ended(at: now, policy: .default, timestamp: start + -1, source: .push, rules)
        #expect(machine.timestamp == start && machine.cause == .push)
    }

    @Test("limits come from the rule set")
    func limitsAreRules() {
        var rules = rules
        rules.activeLimit = 10
        rules.dismissalLimit = 5
        rules.futureTimestampLimit = 3
        var machine = ActivityMachine.started(at: start).machine
        #expect(machine.drops(timestamp: start + 3, at: start, source: .push, rules) == nil)
        #expect(machine.drops(timestamp: start + 4, at: start, source: .push, rules)?.reason == .futureTimestamp)
        #expect(machine.nextDeadline(rules).at == start + 10)
        _ = machine.deadlineReached(at: start + 10, rules)
        #expect(machine.dismissAt == start + 15)
    }

    @Test("no date and no span overflows: what lies beyond all dates never comes")
    func hugeSpans() {
        var rules = rules
        rules.activeLimit = .max
        rules.dismissalLimit = .max
        rules.futureTimestampLimit = .max
        rules.heartbeatStaleAfter = .max
        rules.heartbeatEndAfter = .max
        let far = Instant(9_999_999_999_999)
        var machine = ActivityMachine.started(at: far, staleDate: far).machine
        #expect(machine.nextDeadline(rules).at == .never && machine.expiresAt(rules) == .never)
        #expect(machine.drops(timestamp: .never, at: far, source: .push, rules) == nil)
        #expect(machine.deadlineReached(at: far, rules).isEmpty)
        _ = machine.ended(at: far, policy: .default, timestamp: far, source: .local, rules)
        #expect(machine.state == .ended && machine.dismissAt == .never)
        #expect(machine.deadlineReached(at: far, rules).isEmpty)
    }
}
