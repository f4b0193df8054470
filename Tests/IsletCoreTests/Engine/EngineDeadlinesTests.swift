import IsletCore
import Testing

@Suite("Engine: deadlines")
struct EngineDeadlinesTests {
    private let hour = MachineSample.hour

    @Test(
        "a deadline that is noticed late is dated by the present, and says how late; its dates are those that were due")
    func whenNoticed() throws {
        let rig = EngineRig()
        let id = rig.started(stale: rig.now + 1_000)
        let start = rig.now
        rig.pass(999)
        #expect(rig.events.isEmpty)
        rig.pass(38)
        #expect(rig.told == ["stale #1 r2 active>stale staleDate late 37"])
        #expect(rig.events.first?.at == start + 1_037)
        rig.now = start + (13 * hour)
        rig.settle()
        #expect(
            rig.told == [
                "ended #1 r3 stale>ended activeLimit late \(5 * hour)",
                "dismissed #1 r4 ended>dismissed dismissalPolicy late \(hour)",
            ])
        let machine = try #require(rig.record(id)).machine
        #expect(machine.endedAt == start + 8 * hour && machine.dismissAt == start + 12 * hour)
    }

    @Test("on the manual clock every deadline is dated by itself, in date order over all")
    func whenDue() {
        let rig = EngineRig()
        rig.dating = .whenDue
        let start = rig.now
        rig.start(stale: start + 3_000)
        rig.start(stale: start + 1_000)
        rig.start("com.b", on: start + 2_000)
        rig.pass(20 * hour)
        let dates = rig.events.map { $0.at - start }
        #expect(dates == dates.sorted() && dates.prefix(3) == [1_000, 2_000, 3_000])
        #expect(rig.events.count == 9 && rig.events.allSatisfy { $0.lateBy == 0 })
    }

    @Test("a start date makes one event with the stored alert; a stale date that has passed by then makes a second")
    func scheduledStart() throws {
        let rig = EngineRig()
        let start = rig.now
        rig.start(stale: start + 500, on: start + 1_000, alert: "{\"title\":\"hello\"}")
        let id = rig.latest
        #expect(rig.told == ["scheduled #1 r1 >pending command"])
        #expect(rig.events.first?.alert == ActivityEvent.Alert.none, "it is shown at the start")
        rig.pass(1_010)
        #expect(
            rig.told == [
                "started #1 r2 pending>active startDate late 10", "stale #1 r3 active>stale staleDate late 10",
            ])
        #expect(rig.events.map(\.alert) == [.stored, .none])
        let record = try #require(rig.record(id))
        #expect(rig.storedAlerts.map { String(decoding: $0, as: UTF8.self) } == ["{\"title\":\"hello\"}"])
        #expect(record.alertRange.isEmpty, "nobody needs it any more")
        #expect(record.machine.startedAt == start + 1_000)
    }

    @Test("ties come in the order of slots, each once, and one call makes no more events than it may")
    func ties() {
        let rig = EngineRig()
        let due = rig.now + 1_000
        for _ in 0..<10 { rig.start(stale: due) }
        rig.now = due
        #expect(rig.fire(limit: 4) && rig.events.map(\.slot) == [0, 1, 2, 3])
        #expect(rig.fire(limit: 4) && rig.events.map(\.slot) == [4, 5, 6, 7])
        #expect(!rig.fire(limit: 4) && rig.events.map(\.slot) == [8, 9])
        #expect(!rig.fire(limit: 4) && rig.events.isEmpty)
    }

    @Test("a command fires what is due of its own entity first, and leaves the others' to their turn")
    func settlesItsOwn() {
        let rig = EngineRig()
        let id = rig.started(stale: rig.now + 10)
        rig.start(stale: rig.now + 10)
        rig.now = rig.now + 15
        rig.update(.id(id), stale: rig.now + 10)
        #expect(
            rig.told == ["stale #1 r2 active>stale staleDate late 5", "updated #1 r3 stale>active command"])
        #expect(rig.events.map(\.isByCommand) == [false, true])
        rig.fire()
        #expect(rig.told == ["stale #2 r2 active>stale staleDate late 5"], "and it is not doubled")
        #expect(rig.get(.id(id)).text == "found" && rig.events.isEmpty)
    }

    @Test("a read settles, too")
    func readSettles() {
        let rig = EngineRig()
        let id = rig.started(stale: rig.now + 10)
        rig.now = rig.now + 10
        #expect(rig.get(.id(id)).text == "found" && rig.told == ["stale #1 r2 active>stale staleDate late 0"])
    }

    @Test("the date of the next work is that of the earliest deadline, and follows every change of it")
    func nextWork() {
        let rig = EngineRig()
        #expect(rig.engine.nextWork() == .never && rig.engine.earliestDeadline() == .never)
        let start = rig.now
        let id = rig.started(stale: start + 500)
        #expect(rig.engine.earliestDeadline() == start + 500)
        rig.update(.id(id), stale: start + 700)
        #expect(rig.engine.earliestDeadline() == start + 700)
        rig.update(.id(id))
        #expect(rig.engine.earliestDeadline() == start + 8 * hour)
        rig.end(.id(id))
        #expect(rig.engine.earliestDeadline() == start + 4 * hour && rig.engine.armedTimers == 1)
        rig.dismiss(.id(id))
        #expect(rig.engine.earliestDeadline() == .never && rig.engine.armedTimers == 0)
        #expect(rig.engine.nextWork() == start + 24 * hour, "it is to be forgotten")
    }

    @Test("where silence counts anew, timers that were armed for earlier are armed again, and nothing is told at their dates")
    func unheard() {
        var rules = RuleSet.standard
        rules.heartbeatStaleAfter = 1_000
        rules.heartbeatEndAfter = 3_000
        let rig = EngineRig(rules)
        let start = rig.now
        rig.start()
        rig.start(stale: start + 500)
        // Nothing takes effect while the disk is full.
        rig.now = start + 9_000
        rig.engine.unheard = Unheard(since: start + 100, until: rig.now)
        let place = EntityPlace(.activity, 0)
        let timer = rig.engine.timer(at: place)
        #expect(timer?.at == rig.now + 1_000)
        rig.settle()
        #expect(rig.told == ["stale #2 r2 active>stale staleDate late 8500"])
        #expect(rig.engine.earliestDeadline() == rig.now + 1_000 && rig.engine.armedTimers == 2)
        rig.pass(1_000)
        #expect(rig.told == ["stale #1 r2 active>stale heartbeat late 0"])
        rig.pass(2_000)
        #expect(
            rig.told == [
                "ended #1 r3 stale>ended heartbeat late 0", "ended #2 r3 stale>ended heartbeat late 0",
            ])
        let ended = rig.engine.record(at: 0)
        #expect(ended?.machine.endedAt == start + 12_000)
    }

    @Test("what silence that counts anew has put off comes behind what is due before, in one turn as well")
    func unheardInOrder() {
        var rules = RuleSet.standard
        rules.heartbeatEndAfter = 3_000
        let rig = EngineRig(rules)
        let start = rig.now
        rig.start()
        rig.start(stale: start + 10_000)
        rig.engine.unheard = Unheard(since: start + 100, until: start + 9_000)
        rig.now = start + 13_000
        rig.settle()
        #expect(
            rig.told == [
                "stale #2 r2 active>stale staleDate late 3000", "ended #1 r2 active>ended heartbeat late 1000",
                "ended #2 r3 stale>ended heartbeat late 1000",
            ])
    }

    @Test("dates at the end of time and rules beyond it do no harm")
    func extremes() {
        var rules = RuleSet.standard
        rules.activeLimit = .max
        rules.dismissalLimit = .max
        rules.retention = .max
        rules.futureTimestampLimit = .max
        rules.muteAfterPersonDismissal = .max
        rules.heartbeatEndAfter = .max
        let last = Instant(9_999_999_999_999)
        let rig = EngineRig(rules)
        let id = rig.started(stale: last, on: last)
        #expect(rig.update(.id(id), stale: last, stamped: last, source: .push).text == "applied")
        rig.now = last
        rig.settle()
        #expect(rig.state(id) == .stale)
        let other = rig.started(key: "k")
        #expect(rig.end(.id(other), policy: .after(last)).text == "applied" && rig.state(other) == .dismissed)
        let third = rig.started(key: "l")
        rig.end(.id(third))
        rig.dismiss(.id(third))
        #expect(rig.start(key: "l").text.hasPrefix("muted until"))
        rig.now = Instant(1 << 53)
        rig.settle()
        #expect(rig.record(third) != nil && rig.engine.nextWork() == .never)
    }
}
