import IsletCore
import Testing

/// Retries and the limit of authentication: their dates, their order among those of activities, and the timers.
@Suite("Controls: dates")
struct ControlDateTests {
    @Test("each retry waits twice as long, a fifth more or less, and at most the longest time")
    func backoff() {
        let rules = RuleSet.standard
        let rig = ControlRig()
        rig.declare("torch")
        var firsts: Set<Milliseconds> = []
        for _ in 0..<20 {
            _ = rig.add("torch")
            let id = rig.latest
            for failure in 0..<14 {
                rig.fail(id, .timedOut)
                guard let next = rig.record(id)?.machine.next, next.at.isSet else { return complain("no retry") }
                #expect(next.cause == .retry)
                let base = min(rules.controlRetryLongest, rules.controlRetryFirst << failure)
                let span = next.at - rig.now
                #expect(span >= base * 4 / 5 && span <= base * 6 / 5, "\(failure): \(span)")
                #expect(span <= rules.controlRetryLongest, "\(failure): \(span)")
                if failure == 0 { firsts.insert(span) }
                #expect(rig.pass(span - 1).isEmpty && rig.state(id) == .preview)
                #expect(rig.pass(1).count == 1 && rig.state(id) == .loading, "\(failure)")
            }
            rig.answer(id, value: "true")
            #expect(rig.record(id)?.machine.next.at.isSet == false)
        }
        #expect(firsts.count > 10, "what failed together comes back at \(firsts.count) dates")
    }

    @Test("those at the longest time are spread as well")
    func longest() {
        let rig = ControlRig()
        rig.isChecked = false
        rig.declare("torch")
        var spans: Set<Milliseconds> = []
        for _ in 0..<100 {
            _ = rig.add("torch")
            let id = rig.latest
            for _ in 0..<9 {
                rig.fail(id, .timedOut)
                rig.reload(id)
            }
            rig.fail(id, .timedOut)
            if let next = rig.record(id)?.machine.next.at { spans.insert(next - rig.now) }
        }
        #expect(spans.count > 50 && spans.allSatisfy { $0 >= 240_000 && $0 <= 300_000 }, "\(spans.sorted())")
    }

    @Test("where nobody provides the kind there is no timer")
    func noProvider() {
        let rig = ControlRig()
        rig.declare("torch")
        _ = rig.add("torch")
        rig.fail(rig.latest, .noProvider)
        #expect(rig.engine.armedTimers == 0 && rig.pass(100_000_000).isEmpty)
        rig.register("torch")
        #expect(rig.told == ["reloading \(rig.latest.short) r3 preview>loading off registration"])
    }

    @Test("between two turns there is time: after each, the next work is later than the present")
    func nextWork() {
        for span in [Milliseconds(1), 5, 4_096, 5_000, 60_000, 299_999, 100_000_000] {
            var rules = RuleSet.standard
            rules.authenticationLimit = span
            let rig = ControlRig(rules)
            rig.declare("door", policy: .requiresAuthentication)
            let id = rig.placed("door", device: "d")
            rig.report("d", .lock)
            rig.tap(id)
            let limit = rig.now + span
            var turns = 0
            while rig.state(id) == .authenticating {
                let next = rig.engine.nextWork()
                #expect(next > rig.now && next <= limit, "\(span): it would turn without a pause")
                guard next > rig.now, turns < 20 else { break }
                rig.now = next
                #expect(!rig.fire())
                turns += 1
            }
            #expect(rig.now == limit && turns < 20, "\(span): \(turns) turns")
        }
    }

    @Test("activities and controls take effect in the order of their dates, activities first at one date")
    func order() {
        let rig = ControlRig()
        rig.declare("torch")
        var controls: [(EntityID, Instant)] = []
        for _ in 0..<4 {
            _ = rig.add("torch")
            rig.fail(rig.latest, .timedOut)
            if let at = rig.record(rig.latest)?.machine.next.at { controls.append((rig.latest, at)) }
        }
        controls.sort { $0.1 < $1.1 }
        // One activity a millisecond before each, one at it, one behind.
        var expected: [String] = []
        for (id, at) in controls {
            var lines: [String] = []
            for shift in [Milliseconds(-1), 0, 1] {
                rig.startActivity(stale: at + shift)
                lines.append(rig.latest.short)
            }
            expected += [lines[0], lines[1], id.short, lines[2]]
        }
        let told = rig.pass(10_000)
        #expect(told.map { $0.split(separator: " ")[1] } == expected.map { Substring($0) }, "\(told)")
        #expect(Set(zip(controls, controls.dropFirst()).map { $0.1.1 - $0.0.1 > 2 }) == [true], "the dates are apart")
    }

    @Test("a clock that stops at every date waits wherever providers were called")
    func stops() {
        let rig = ControlRig()
        rig.dating = .whenDue
        rig.declare("torch")
        var ids: [EntityID] = []
        for _ in 0..<3 {
            _ = rig.add("torch")
            ids.append(rig.latest)
            rig.fail(rig.latest, .timedOut)
        }
        ids.sort { (rig.record($0)?.machine.next.at ?? .never) < (rig.record($1)?.machine.next.at ?? .never) }
        let dates = ids.compactMap { rig.record($0)?.machine.next.at }
        rig.startActivity(stale: dates[0] + -1)
        rig.startActivity(stale: dates[2] + 1)
        rig.now = rig.now + 3_600_000
        for (index, id) in ids.enumerated() {
            #expect(rig.fire(), "it stops")
            #expect(rig.events.map(\.id) == [id] && rig.events.map(\.at) == [dates[index]], "\(rig.told)")
            #expect(rig.told.count == (index == 0 ? 2 : 1) && rig.wanted == ["ask \(id.short)"])
            #expect(rig.events[0].lateBy == 0)
        }
        #expect(!rig.fire() && rig.told.count == 1 && rig.events.isEmpty)
    }

    @Test("a clock that goes on by itself lets all of them take effect at once")
    func goesOn() {
        let rig = ControlRig()
        rig.declare("torch")
        for _ in 0..<3 {
            _ = rig.add("torch")
            rig.fail(rig.latest, .timedOut)
        }
        rig.now = rig.now + 10_000
        #expect(!rig.fire() && rig.events.count == 3)
        #expect(rig.events.allSatisfy { $0.at == rig.now && ($0.lateBy ?? 0) > 8_000 })
    }

    @Test("at the limit of authentication both events have its date, however far the clock travels")
    func limitDates() {
        let rig = ControlRig()
        rig.dating = .whenDue
        rig.declare("door", policy: .requiresAuthentication)
        let id = rig.placed("door", device: "d")
        rig.report("d", .lock)
        rig.tap(id)
        let limit = rig.now + RuleSet.standard.authenticationLimit
        rig.startActivity(stale: limit + 1)
        rig.now = rig.now + 3_600_000
        #expect(rig.fire())
        #expect(rig.events.map(\.name) == [.cancelled, .reloading] && rig.events.allSatisfy { $0.at == limit })
        rig.fire()
        #expect(rig.told.count == 1, "the activity comes behind it")
    }

    @Test("what is due of a control takes effect before a command on it")
    func settled() {
        let rig = ControlRig()
        rig.declare("door", policy: .requiresAuthentication)
        let id = rig.placed("door", device: "d")
        rig.report("d", .lock)
        rig.tap(id)
        rig.now = rig.now + RuleSet.standard.authenticationLimit
        rig.report("d", .unlock)
        #expect(rig.told.map { $0.split(separator: " ")[0] } == ["cancelled", "reloading"], "the unlock came too late")
        #expect(rig.wanted == ["ask \(id.short)"])
    }

    @Test("at most as many deadlines take effect in a turn as may, and none is lost")
    func limit() {
        let rig = ControlRig()
        rig.isChecked = false
        rig.declare("torch")
        for _ in 0..<3_000 {
            _ = rig.add("torch")
            rig.fail(rig.latest, .timedOut)
        }
        rig.now = rig.now + 10_000
        var counts: [Int] = []
        while rig.fire(limit: 1_000) { counts.append(rig.events.count) }
        counts.append(rig.events.count)
        #expect(counts.allSatisfy { $0 <= 1_000 } && counts.reduce(0, +) == 3_000, "\(counts)")
        #expect(rig.engine.armedTimers == 0)
        rig.observer.check(rig.engine)
    }
}
