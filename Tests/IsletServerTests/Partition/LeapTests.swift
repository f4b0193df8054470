import IsletCore
import IsletJournal
import IsletServer
import Testing

/// Where domain time leaps: silence that nobody could break counts from the end, and answers are remembered from there.
@Suite struct LeapTests {
    private func rules(stale: Milliseconds?, end: Milliseconds?) -> RuleSet {
        var rules = RuleSet.standard
        rules.heartbeatStaleAfter = stale
        rules.heartbeatEndAfter = end
        return rules
    }

    private let start = #"{"op":"activity.start","app":"com.x","key":"k","type":"T","attributes":{},"contentState":{}}"#
    private let heartbeat = #"{"op":"activity.heartbeat","app":"com.x","key":"k"}"#

    /// A service with an activity that was started in the turn before the last, which knows that it is committed.
    private func watched(
        stale: Milliseconds?, end: Milliseconds?, clock: ClockMode = .system
    ) throws -> PartitionService {
        let service = try PartitionService(rules: rules(stale: stale, end: end), clock: clock)
        service.turn { $0.take(start) }
        service.turn { _ in }
        #expect(names(service) == ["activity.started"])
        return service
    }

    /// The events so far.
    private func names(_ service: PartitionService) -> [Substring] {
        service.events.map { $0.json.split(separator: #""event":""#, maxSplits: 1)[1].prefix { $0 != "\"" } }
    }

    /// A turn comes so many milliseconds after the last one.
    private func turn(_ service: PartitionService, after span: Milliseconds) {
        service.pass(milliseconds: span - 1)
        service.turn { _ in }
    }

    @Test(arguments: [false, true]) func aHeartbeatThatWaitedIsHeard(isSet: Bool) throws {
        let service = try watched(stale: 20_000, end: 40_000)
        if isSet { service.setForward(milliseconds: 50_000) } else { service.pass(milliseconds: 50_000) }
        #expect(service.send(heartbeat).contains(#""outcome":"applied""#))
        turn(service, after: 1_000)
        #expect(names(service) == ["activity.started"])
    }

    /// A step that was held back for half a minute, in which heartbeats came.
    @Test func aHeartbeatIsHeardWhereALargeStepIsBelieved() throws {
        let service = try watched(stale: 20_000, end: 40_000)
        service.setForward(milliseconds: 3_600_000)
        let begun = service.partition.now.domain
        for _ in 0..<35 {
            service.pass(milliseconds: 1_000)
            #expect(service.send(heartbeat).contains(#""outcome":"applied""#))
        }
        #expect(service.partition.now.domain - begun > 3_600_000)
        #expect(names(service) == ["activity.started"])
    }

    /// It stood still while it was set back, and so did what was known of heartbeats.
    @Test func aHeartbeatIsHeardWhereAClockThatWasSetBackIsSetRight() throws {
        let service = try watched(stale: 20_000, end: 40_000)
        service.setForward(milliseconds: -3_600_000)
        for _ in 0..<60 {
            service.pass(milliseconds: 1_000)
            #expect(service.send(heartbeat).contains(#""outcome":"applied""#))
        }
        service.setForward(milliseconds: 3_600_000)
        #expect(service.send(heartbeat).contains(#""outcome":"applied""#))
        #expect(names(service) == ["activity.started"])
    }

    @Test func silenceCountsFromTheEndOfALeap() throws {
        let service = try watched(stale: 5_000, end: 8_000)
        turn(service, after: 60_000)
        let leapt = service.now
        for _ in 0..<4 { turn(service, after: 1_000) }
        turn(service, after: 999)
        #expect(names(service) == ["activity.started"])
        #expect(service.send(#"{"op":"activity.get","app":"com.x","key":"k"}"#).contains(#""state":"stale""#))
        #expect(names(service) == ["activity.started", "activity.stale"])
        for _ in 0..<2 { turn(service, after: 1_000) }
        turn(service, after: 999)
        #expect(service.now == leapt + 7_999 && names(service).count == 2)
        turn(service, after: 1)
        #expect(names(service) == ["activity.started", "activity.stale", "activity.ended"])
    }

    /// What was due before the leap has taken effect in its own time; what else is due in it takes effect at its end.
    @Test func aLeapPutsOffNothingElse() throws {
        let service = try PartitionService(rules: rules(stale: nil, end: 60_000), clock: .system)
        let date = service.now + 10_000
        service.turn { $0.take(start.replacing(#""key""#, with: #""staleDate":\#(date),"key""#)) }
        turn(service, after: 100_000)
        #expect(names(service) == ["activity.started", "activity.stale"])
    }

    @Test func aLeapBelowTheBoundChangesNothing() throws {
        let service = try watched(stale: 1_500, end: nil)
        turn(service, after: Partition.longestStep)
        #expect(names(service) == ["activity.started", "activity.stale"])
    }

    @Test func aLeapAboveTheBoundIsOne() throws {
        let service = try watched(stale: 1_500, end: nil)
        turn(service, after: Partition.longestStep + 1)
        #expect(names(service) == ["activity.started"])
        turn(service, after: 1_499)
        #expect(names(service) == ["activity.started"])
        turn(service, after: 1)
        #expect(names(service) == ["activity.started", "activity.stale"])
    }

    @Test func aClockThatIsSetNeverLeaps() throws {
        let service = try watched(stale: 20_000, end: 40_000, clock: .manual(from: Instant(1_800_000_000_000)))
        service.pass(milliseconds: 600_000)
        service.send(#"{"op":"clock.advance","by":39999}"#)
        service.turn { _ in }
        #expect(names(service) == ["activity.started", "activity.stale"])
        service.send(#"{"op":"clock.advance","by":1}"#)
        service.turn { _ in }
        #expect(names(service) == ["activity.started", "activity.stale", "activity.ended"])
    }

    /// A clock of another speed leaps in steps, as far as the journal knows it to go, and hears what waited in the first.
    @Test func aClockOfAnotherSpeedIsHeardWhenItHasComeToTheEnd() throws {
        let clock = ClockMode.speed(from: Instant(1_800_000_000_000), factor: 60)
        let service = try PartitionService(rules: rules(stale: nil, end: 180_000), clock: clock)
        for _ in 0..<10 { service.turn { _ in } }
        service.turn { $0.take(start) }
        let begun = service.partition.now.domain
        service.pass(milliseconds: 9_000)
        for _ in 0..<30 { service.turn { _ in } }
        #expect(service.partition.now.domain - begun > 540_000)
        #expect(names(service) == ["activity.started"])
        for _ in 0..<6 { turn(service, after: 500) }
        #expect(names(service) == ["activity.started", "activity.ended"])
    }

    @Test func aClockOfAnotherSpeedMayGoOnByAsMuchMore() throws {
        let clock = ClockMode.speed(from: Instant(1_800_000_000_000), factor: 60)
        let service = try PartitionService(rules: rules(stale: 60_000, end: nil), clock: clock)
        for _ in 0..<10 { service.turn { _ in } }
        service.turn { $0.take(start) }
        service.turn { _ in }
        turn(service, after: Partition.longestStep)
        for _ in 0..<5 { service.turn { _ in } }
        #expect(names(service) == ["activity.started", "activity.stale"])
    }

    @Test func aLeapWhileTheDiskIsFullIsPartOfThatTime() throws {
        let service = try watched(stale: 5_000, end: nil)
        _ = service.tell(.isFull(free: 0))
        for _ in 0..<10 { turn(service, after: 1_000) }
        turn(service, after: 60_000)
        _ = service.tell(.hasRoom)
        service.turn { _ in }
        let heard = service.now
        for _ in 0..<4 { turn(service, after: 1_000) }
        turn(service, after: 999)
        #expect(names(service) == ["activity.started"])
        turn(service, after: 1)
        let problems = service.send(#"{"op":"problem.list","app":"com.x"}"#)
        #expect(problems.contains(#""since":\#(heard + 5_000)"#), "\(problems)")
    }

    /// Leaps of which each begins where the last one ended are one, by which nothing was stale before.
    @Test func aProblemThatBeganAfterALeapIsNotOneOfBefore() throws {
        let service = try watched(stale: 5_000, end: nil)
        for _ in 0..<3 { turn(service, after: 60_000) }
        let leapt = service.now
        for _ in 0..<6 { turn(service, after: 1_000) }
        #expect(names(service) == ["activity.started", "activity.stale"])
        let problems = service.send(#"{"op":"problem.list","app":"com.x"}"#)
        #expect(problems.contains(#""since":\#(leapt + 5_000)"#), "\(problems)")
    }

    // MARK: Answers

    /// A command that is executed once, however often it is sent. Numbers that are forgotten leave a trace, other words none.
    private func once(_ req: String) -> String {
        start.replacing(#""key":"k""#, with: #""client":"8c7a1c38-6a5e-4f0f-9a43-0d2f6f1d2c11","req":"\#(req)""#)
    }

    /// Sends these commands again; whether each has its first answer.
    private func areAnswered(_ commands: [String], as first: [String], by service: PartitionService) -> Bool {
        commands.map { service.send($0) } == first
    }

    /// Who waits for an answer sends again within moments, however far the clock went meanwhile.
    @Test(arguments: [false, true]) func whatWasAnsweredBeforeALeapIsNotExecutedAgain(isSet: Bool) throws {
        let service = try PartitionService(clock: .system)
        let commands = ["order.paid", "n-1"].map(once)
        if isSet {
            service.setForward(milliseconds: 3_600_000)
            service.work(milliseconds: 29_000)
        }
        let first = commands.map { service.send($0) }
        #expect(first.allSatisfy { $0.contains(#""ok":true"#) })
        let begun = service.partition.now.domain
        if isSet { service.work(milliseconds: 2_000) } else { service.pass(milliseconds: 3_600_000) }
        for _ in 0..<2 { service.turn { _ in } }
        #expect(service.partition.now.domain - begun > 3_600_000)
        #expect(areAnswered(commands, as: first, by: service))
        // For ten minutes from then on.
        service.work(milliseconds: 590_000)
        #expect(areAnswered(commands, as: first, by: service))
        service.work(milliseconds: 20_000)
        #expect(service.send(commands[0]).contains(#""ok":true"#) && service.events.count == 3)
        #expect(service.send(commands[1]).contains("outcomeUnknown"))
    }

    /// The process that starts after a kill begins where the clock was.
    @Test func aStartKnowsWhatWasAnsweredBeforeALeap() throws {
        let service = try PartitionService(clock: .system)
        let commands = ["order.paid", "n-1"].map(once)
        let first = commands.map { service.send($0) }
        service.pass(milliseconds: 3_600_000)
        service.send(once("other"))
        let next = try PartitionService(service.journal.state, clock: .system)
        #expect(areAnswered(commands, as: first, by: next))
    }

    /// So does one after a stop that closed a batch at the end of the leap, and was cut off before its snapshot was written.
    @Test func aStartAfterAStopKnowsWhatWasAnsweredBeforeALeap() throws {
        let service = try PartitionService(clock: .system)
        let commands = ["order.paid", "n-1"].map(once)
        let first = commands.map { service.send($0) }
        service.holdsCommits = true
        service.turn { $0.take(once("in the air")) }
        service.turn { $0.take(once("behind it")) }
        service.pass(milliseconds: 3_600_000)
        service.turn { _ in }
        let last = service.journal.state.lastBatch
        service.partition.stop()
        service.holdsCommits = false
        for _ in 0..<2 { service.turn { _ in } }
        #expect(service.journal.state.lastBatch == last + 1)
        let next = try PartitionService(service.journal.state, clock: .system)
        #expect(areAnswered(commands, as: first, by: next))
    }

    /// As with commits that take long, what is less than half a minute does not count.
    @Test(arguments: [29_998, 30_000] as [Milliseconds]) func onlyALongLeapLetsAnswersBeRememberedForLonger(
        span: Milliseconds
    ) throws {
        let service = try PartitionService(clock: .system)
        service.send(once("order.paid"))
        service.work(milliseconds: 570_000)
        turn(service, after: span)
        service.work(milliseconds: 1_000)
        service.send(once("order.paid"))
        #expect(names(service).count == (span < 30_000 ? 2 : 1))
    }
}
