import IsletCore
import Testing

/// The heartbeat rules: off by default, and what they do when they are on.
@Suite("Activity machine: heartbeat")
struct MachineHeartbeatTests {
    private let start = MachineSample.start
    private let minute = MachineSample.minute

    private var rules: RuleSet {
        var rules = RuleSet.standard
        rules.heartbeatStaleAfter = 10 * minute
        rules.heartbeatEndAfter = 30 * minute
        return rules
    }

    @Test("off, silence changes nothing")
    func off() {
        let machine = ActivityMachine.started(at: start).machine
        #expect(machine.nextDeadline(.standard) == (start + RuleSet.standard.activeLimit, .activeLimit))
    }

    @Test("silence makes it stale, then ends it, then it goes")
    func silence() {
        var machine = ActivityMachine.started(at: start).machine
        #expect(machine.nextDeadline(rules) == (start + 10 * minute, .heartbeat))
        #expect(machine.deadlineReached(at: start + 10 * minute + -1, rules).isEmpty)
        #expect(machine.deadlineReached(at: start + 10 * minute, rules).first?.rule == .heartbeatMissed)
        #expect(machine.state == .stale && machine.cause == .heartbeat)
        #expect(machine.staleSince(rules) == start + 10 * minute)
        #expect(machine.nextDeadline(rules) == (start + 30 * minute, .heartbeat))
        #expect(machine.deadlineReached(at: start + 31 * minute, rules).first?.rule == .heartbeatEnded)
        #expect(machine.state == .ended && machine.endedAt == start + 30 * minute)
        #expect(machine.dismissAt == start + 30 * minute + rules.dismissalLimit)
    }

    @Test("a sign of life postpones, and brings back from the silence's own staleness")
    func signOfLife() {
        var machine = ActivityMachine.started(at: start).machine
        #expect(machine.signOfLife(at: start + 9 * minute).isEmpty)
        #expect(machine.nextDeadline(rules) == (start + 19 * minute, .heartbeat))
        _ = machine.deadlineReached(at: start + 19 * minute, rules)
        let steps = machine.signOfLife(at: start + 20 * minute)
        #expect(steps.first?.name == .updated && steps.first?.rule == .heartbeatReturned)
        #expect(machine.state == .active && machine.nextDeadline(rules).at == start + 30 * minute)
        #expect(machine.timestamp == start, "a heartbeat is no content")
    }

    @Test("a sign of life does not bring back from a stale date, nor from a silence whose stale date passed since")
    func staleDateStands() {
        var byDate = ActivityMachine.started(at: start, staleDate: start + minute).machine
        _ = byDate.deadlineReached(at: start + minute, rules)
        #expect(byDate.signOfLife(at: start + 2 * minute).isEmpty && byDate.state == .stale)

        var bySilence = ActivityMachine.started(at: start, staleDate: start + 15 * minute).machine
        _ = bySilence.deadlineReached(at: start + 10 * minute, rules)
        #expect(bySilence.cause == .heartbeat)
        var later = bySilence
        #expect(later.signOfLife(at: start + 15 * minute).isEmpty && later.state == .stale)
        #expect(!bySilence.signOfLife(at: start + 15 * minute + -1).isEmpty && bySilence.state == .active)
    }

    @Test("an update is a sign of life")
    func updateIsSign() {
        var machine = ActivityMachine.started(at: start).machine
        _ = machine.updated(at: start + 5 * minute, staleDate: .never, timestamp: start, source: .local)
        #expect(machine.nextDeadline(rules).at == start + 15 * minute)
    }

    @Test("a scheduled one is silent from its start on, not from its scheduling")
    func scheduled() {
        var machine = ActivityMachine.started(at: start, startDate: start + 100 * minute).machine
        #expect(machine.nextDeadline(rules) == (start + 100 * minute, .startDate))
        _ = machine.deadlineReached(at: start + 100 * minute, rules)
        #expect(machine.nextDeadline(rules) == (start + 110 * minute, .heartbeat))
    }

    @Test("ties: the end by silence wins over staleness by silence, the 8 hours over both, a stale date over silence")
    func ties() {
        var rules = rules
        rules.heartbeatEndAfter = 10 * minute
        var machine = ActivityMachine.started(at: start).machine
        #expect(machine.deadlineReached(at: start + 10 * minute, rules).first?.rule == .heartbeatEnded)

        rules.activeLimit = 10 * minute
        machine = ActivityMachine.started(at: start).machine
        #expect(machine.deadlineReached(at: start + 10 * minute, rules).first?.rule == .activeLimitReached)

        machine = ActivityMachine.started(at: start, staleDate: start + 10 * minute).machine
        #expect(machine.nextDeadline(self.rules) == (start + 10 * minute, .staleDate))
    }

    @Test("silence counts from when signs of life are heard again, if that is later than the last one")
    func unheard() {
        let unheard = Unheard(since: start + 8 * minute, until: start + 60 * minute)
        var machine = ActivityMachine.started(at: start).machine
        #expect(machine.nextDeadline(rules, unheard) == (start + 70 * minute, .heartbeat))
        #expect(machine.deadlineReached(at: start + 70 * minute + -1, rules, unheard).isEmpty)
        var heard = machine
        #expect(heard.signOfLife(at: start + 65 * minute).isEmpty)
        #expect(heard.nextDeadline(rules, unheard) == (start + 75 * minute, .heartbeat))

        #expect(machine.deadlineReached(at: start + 70 * minute, rules, unheard).first?.rule == .heartbeatMissed)
        #expect(machine.staleSince(rules, unheard) == start + 70 * minute)
        #expect(machine.nextDeadline(rules, unheard) == (start + 90 * minute, .heartbeat))
        #expect(machine.deadlineReached(at: start + 91 * minute, rules, unheard).first?.rule == .heartbeatEnded)
        #expect(machine.endedAt == start + 90 * minute)
    }

    @Test("what silence had made stale before nobody could be heard is stale since then, and ends later")
    func staleBeforeUnheard() {
        let unheard = Unheard(since: start + 10 * minute, until: start + 60 * minute)
        var machine = ActivityMachine.started(at: start).machine
        _ = machine.deadlineReached(at: start + 10 * minute, rules)
        #expect(machine.staleSince(rules, unheard) == start + 10 * minute)
        #expect(machine.nextDeadline(rules, unheard) == (start + 90 * minute, .heartbeat))
    }

    @Test("both kinds of silence at one date: it ends; and no other deadline waits for signs of life")
    func unheardAndOthers() {
        var rules = rules
        rules.heartbeatStaleAfter = 30 * minute
        let unheard = Unheard(since: start, until: start + 60 * minute)
        var machine = ActivityMachine.started(at: start).machine
        #expect(machine.deadlineReached(at: start + 90 * minute, rules, unheard).first?.rule == .heartbeatEnded)

        machine = ActivityMachine.started(at: start, staleDate: start + 5 * minute).machine
        #expect(machine.nextDeadline(rules, unheard) == (start + 5 * minute, .staleDate))
        rules.activeLimit = 20 * minute
        machine = ActivityMachine.started(at: start).machine
        #expect(machine.nextDeadline(rules, unheard) == (start + 20 * minute, .activeLimit))
    }

    @Test("only the end rule on: no staleness by silence")
    func onlyEnd() {
        var rules = rules
        rules.heartbeatStaleAfter = nil
        var machine = ActivityMachine.started(at: start, staleDate: start + 20 * minute).machine
        #expect(machine.deadlineReached(at: start + 20 * minute, rules).first?.rule == .staleDateReached)
        #expect(machine.deadlineReached(at: start + 30 * minute, rules).first?.rule == .heartbeatEnded)
    }
}
