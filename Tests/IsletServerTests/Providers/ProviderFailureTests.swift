import IsletCore
import IsletServer
import Testing

/// Failures, retries, breakers, and providers that go away in the middle.
@Suite struct ProviderFailureTests {
    private typealias Desk = ProviderDesk

    @Test func aRetryableFailureOfAValueIsSentOnceMoreToAnotherWithTheTimeThatIsLeft() {
        let desk = Desk()
        desk.register("a")
        desk.register("b")
        desk.ask(Desk.value(1))
        _ = desk.effects()
        desk.now += 400
        #expect(desk.fail(1, by: "a", retryable: true) == .taken(Desk.value(1)))
        #expect(desk.effects() == ["#2 value 1 to b again within 600"])
        #expect(desk.fail(2, by: "b", retryable: true) == .taken(Desk.value(1)))
        #expect(desk.effects() == ["value 1 failed: threw"])
    }

    @Test func theReasonIsThatOfTheFailureThatStands() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.register("b", capacity: 1)
        for control in 1...2 as ClosedRange<UInt32> { desk.ask(Desk.value(control)) }
        _ = desk.effects()
        // The first failure waits for the other provider, which goes.
        desk.fail(1, by: "a", retryable: true, reason: "first")
        #expect(desk.effects() == [] && desk.reason(of: Desk.value(1)) == "", "it is not over")
        desk.answer(2, by: "b")
        #expect(desk.effects() == ["#3 value 1 to b again within 1000"])
        desk.fail(3, by: "b", retryable: true, reason: "second")
        #expect(desk.effects() == ["value 1 failed: threw"])
        #expect(desk.reason(of: Desk.value(1)) == "second" && desk.reason(of: Desk.value(1)) == "")
        // The second one says nothing; then none of both does.
        desk.ask(Desk.value(1))
        _ = desk.effects()
        desk.fail(4, by: "a", retryable: true, reason: "first")
        _ = desk.effects()
        desk.fail(5, by: "b", retryable: true)
        #expect(desk.effects() == ["value 1 failed: threw"] && desk.reason(of: Desk.value(1)) == "")
        // What is answered after all has none, nor has the next failure of the same.
        desk.ask(Desk.value(1))
        _ = desk.effects()
        desk.fail(6, by: "a", retryable: true, reason: "first")
        _ = desk.effects()
        desk.answer(7, by: "b")
        desk.ask(Desk.value(1))
        _ = desk.effects()
        desk.fail(8, by: "a")
        #expect(desk.effects() == ["value 1 failed: threw"] && desk.reason(of: Desk.value(1)) == "")
        #expect(desk.problem == nil)
    }

    @Test func theReasonOfAFirstFailureIsKeptWhileItWaits() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.register("b", capacity: 1)
        for control in 1...2 as ClosedRange<UInt32> { desk.ask(Desk.value(control)) }
        _ = desk.effects()
        desk.fail(1, by: "a", retryable: true, reason: "first")
        desk.leave("b")
        desk.pass(1)
        #expect(desk.effects().contains("value 1 failed: threw") && desk.reason(of: Desk.value(1)) == "first")
    }

    @Test(arguments: [ProviderDesk.value(1), ProviderDesk.perform(1), .question(1)])
    func whatCannotBeRetriedFailsAtOnce(purpose: ProviderTable.Purpose) {
        let desk = Desk()
        desk.register("a")
        desk.register("b")
        desk.ask(purpose)
        _ = desk.effects()
        // An action may have run, whatever its provider says of trying again.
        let isAction = purpose == Desk.perform(1)
        desk.fail(1, by: "a", retryable: isAction)
        let effects = desk.effects()
        #expect(effects.count == 1 && effects[0].hasSuffix("failed: threw"))
    }

    @Test func withoutAnotherProviderThereIsNoRetry() {
        let desk = Desk()
        desk.register("a")
        desk.ask(Desk.value(1))
        _ = desk.effects()
        desk.fail(1, by: "a", retryable: true)
        #expect(desk.effects() == ["value 1 failed: threw"])
    }

    @Test func aRetryWaitsForAnotherProviderAndNeverGoesBackToTheFirst() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.register("b", capacity: 1)
        desk.ask(Desk.value(1))
        desk.ask(Desk.value(2))
        desk.ask(Desk.value(3))
        _ = desk.effects()
        desk.fail(1, by: "a", retryable: true)
        #expect(desk.effects() == ["#3 value 3 to a within 1000"])
        desk.ask(Desk.value(4))
        desk.answer(3, by: "a")
        #expect(desk.effects() == ["#4 value 4 to a within 1000"])
        // A retry goes before the values that came after it.
        desk.ask(Desk.value(5))
        desk.answer(2, by: "b")
        #expect(desk.effects() == ["#5 value 1 to b again within 1000"])
    }

    @Test func aRetryThatWaitsFailsWithItsFirstReasonWhenOnlyTheFirstProviderIsLeft() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.register("b", capacity: 1)
        desk.ask(Desk.value(1))
        desk.ask(Desk.value(2))
        _ = desk.effects()
        desk.fail(1, by: "a", retryable: true)
        #expect(desk.effects() == [])
        #expect(desk.drain("b"))
        #expect(desk.effects() == ["value 1 failed: threw"])
        #expect(desk.problem == nil)
    }

    @Test func aTimedOutValueIsNotRetried() {
        let desk = Desk()
        desk.register("a")
        desk.register("b")
        desk.ask(Desk.value(1))
        desk.pass(1_000)
        #expect(desk.effects().last == "value 1 failed: timedOut")
    }

    @Test func theCallsOfALostProviderAreRetriedElsewhereAndItsActionsEnd() {
        let desk = Desk()
        desk.register("a", capacity: 3)
        desk.register("b", kinds: [], capacity: 3)
        desk.ask(Desk.value(1))
        desk.ask(Desk.perform(2))
        desk.ask(.question(3))
        _ = desk.effects()
        desk.register("b", capacity: 3)
        desk.now += 10
        desk.unreachable("a")
        #expect(
            desk.effects() == [
                "perform 2 failed: providerLost", "#4 value 1 to b again within 990",
                "#5 question 3 to b again within 990", "dropped a: unreachable",
            ])
        #expect(desk.answer(4, by: "b") == .taken(Desk.value(1)))
        #expect(desk.answer(1, by: "a") == .notRegistered)
    }

    @Test func allThatAProviderHadWaitsInFrontForAnotherOneThatIsFull() {
        let desk = Desk { $0.waitingRetries = 1 }
        desk.register("a", capacity: 3)
        desk.register("b", capacity: 1)
        for control in 0..<5 as Range<UInt32> { desk.ask(Desk.value(control)) }
        #expect(desk.effects().count == 4)
        desk.leave("a")
        #expect(desk.effects() == ["dropped a: left"])
        desk.answer(2, by: "b")
        #expect(desk.effects() == ["#5 value 0 to b again within 1000"])
        desk.answer(5, by: "b")
        #expect(desk.effects() == ["#6 value 2 to b again within 1000"])
        desk.answer(6, by: "b")
        #expect(desk.effects() == ["#7 value 3 to b again within 1000"])
        desk.answer(7, by: "b")
        #expect(desk.effects() == ["#8 value 4 to b within 1000"])
        #expect(desk.problem == nil)
    }

    @Test func withTheLastProviderOfAKindEverythingEndsAndActionsThatRanAreTold() {
        let desk = Desk()
        desk.register("a", capacity: 2)
        desk.ask(Desk.value(1))
        desk.ask(Desk.perform(2))
        desk.ask(Desk.value(3))
        desk.ask(Desk.perform(4))
        _ = desk.effects()
        #expect(desk.leave("a"))
        #expect(
            desk.effects() == [
                "value 1 failed: noProvider", "perform 2 failed: providerLost", "dropped a: left",
            ])
        // What waited follows in the next turn.
        desk.pass(0)
        #expect(desk.effects() == ["perform 4 failed: noProvider", "value 3 failed: noProvider"])
        #expect(desk.openCalls == 0)
        #expect(desk.problem == nil)
    }

    @Test func whatWaitedIsServedByAProviderThatComesBeforeItFailed() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.ask(Desk.value(1))
        desk.ask(Desk.perform(2))
        _ = desk.effects()
        desk.leave("a")
        _ = desk.effects()
        desk.register("b")
        #expect(desk.effects() == ["#2 perform 2 to b within 1000"])
        desk.pass(0)
        #expect(desk.effects() == [])
    }

    @Test func fiveFailuresInARowOpenTheBreakerAndOneCallIsLetThroughLater() {
        let desk = Desk()
        desk.register("a")
        for number in 1...5 {
            desk.ask(Desk.value(UInt32(number)))
            _ = desk.effects()
            desk.fail(number, by: "a")
        }
        _ = desk.effects()
        desk.ask(Desk.value(6), within: 5_000)
        desk.ask(Desk.value(7), within: 5_000)
        desk.pass(999)
        #expect(desk.effects() == [])
        desk.pass(1)
        // What stood beside those that failed may fail as they did: the last is the probe.
        #expect(desk.effects() == ["#6 value 7 to a within 5000"])
        // The probe failed: twice as long.
        desk.fail(6, by: "a")
        #expect(desk.effects() == ["value 7 failed: threw"])
        desk.pass(1_999)
        #expect(desk.effects() == [])
        desk.pass(1)
        #expect(desk.effects() == ["#7 value 6 to a within 5000"])
        desk.answer(7, by: "a")
        desk.ask(Desk.value(8))
        desk.ask(Desk.value(9))
        #expect(desk.effects().count == 2)
    }

    @Test func anActionIsLetThroughWhileTheBreakerIsOpenAndItsAnswerLetsTheOthersThroughToo() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.registerFailing("a")
        _ = desk.effects()
        desk.ask(Desk.value(2))
        desk.ask(Desk.perform(3))
        desk.ask(Desk.perform(4))
        #expect(desk.effects() == ["#2 perform 3 to a within 1000"])
        #expect(desk.problem == nil)
        // Failed, it is as if it had not been: the next one is let through, and the value waits for the old end.
        desk.pass(400)
        desk.fail(2, by: "a")
        #expect(desk.effects() == ["perform 3 failed: threw", "#3 perform 4 to a within 600"])
        desk.answer(3, by: "a")
        #expect(desk.effects() == ["#4 value 2 to a within 1000"])
        #expect(desk.problem == nil)
    }

    @Test func aProviderThatIsToBeTriedIsAConcernWhileSomethingIsWantedOfItAndFiveMinutesAfterItsLastFailure() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.register("a")
        func isConcern() -> Bool? {
            desk.provider("a").flatMap { desk.statistics(of: $0) }.map { $0.isConcern(at: desk.now) }
        }
        #expect(isConcern() == false)
        desk.ask(Desk.perform(1))
        _ = desk.effects()
        desk.fail(1, by: "a")
        let failedAt = desk.now
        #expect(isConcern() == true)
        // It answers pings, or it was gone.
        while desk.now < failedAt + 300_000 {
            desk.pass(5_000)
            desk.hear("a")
            _ = desk.effects()
        }
        #expect(isConcern() == true && desk.provider("a") != nil)
        desk.pass(1)
        #expect(isConcern() == false, "nobody knows, and nobody asks")
        desk.ask(Desk.value(2))
        #expect(isConcern() == true)
        _ = desk.effects()
        desk.answer(2, by: "a")
        #expect(isConcern() == false && desk.problem == nil)
    }

    @Test func aQuestionIsLetThroughWhileTheBreakerIsOpenBesideAnActionAndIsNoProbe() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.registerFailing("a")
        _ = desk.effects()
        desk.ask(Desk.value(2), within: 5_000)
        desk.ask(Desk.perform(3), within: 5_000)
        for number in 1...3 as ClosedRange<UInt64> { desk.ask(.question(number), within: 5_000) }
        #expect(desk.effects() == ["#2 perform 3 to a within 5000", "#3 question 1 to a within 5000"])
        #expect(desk.problem == nil)
        desk.fail(3, by: "a")
        #expect(desk.effects() == ["question 1 failed: threw", "#4 question 3 to a within 5000"])
        desk.pass(1_000)
        #expect(desk.effects() == ["#5 value 2 to a within 5000"], "the questions that wait are no probes")
        desk.cancel(.question(3), .superseded)
        #expect(desk.effects() == ["cancel #4 at a: superseded", "#6 question 2 to a within 4000"])
        desk.fail(5, by: "a")
        #expect(desk.effects() == ["value 2 failed: threw"] && desk.problem == nil)
        desk.answer(6, by: "a")
        for control in 4..<6 as Range<UInt32> { desk.ask(Desk.value(control)) }
        #expect(desk.effects().count == 2 && desk.problem == nil)
    }

    @Test func aQuestionWaitsForAProviderThatIsWellUntilThereIsNone() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.registerFailing("a")
        desk.register("b", capacity: 1)
        desk.ask(Desk.value(2))
        _ = desk.effects()
        desk.ask(.question(1), within: 900)
        #expect(desk.effects() == [] && desk.problem == nil)
        desk.drain("b")
        desk.advance()
        #expect(desk.effects() == ["#3 question 1 to a within 900"])
        #expect(desk.problem == nil)
    }

    @Test func anActionThatIsOutWhenTheBreakersTimeIsOverIsNoProbe() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.registerFailing("a")
        _ = desk.effects()
        desk.ask(Desk.value(2), within: 5_000)
        desk.ask(Desk.perform(3), within: 5_000)
        #expect(desk.effects() == ["#2 perform 3 to a within 5000"])
        desk.pass(1_000)
        #expect(desk.effects() == ["#3 value 2 to a within 5000"])
        desk.ask(Desk.perform(4), within: 5_000)
        #expect(desk.effects() == [])
        desk.fail(3, by: "a")
        _ = desk.effects()
        desk.cancel(Desk.perform(3), .superseded)
        #expect(desk.effects() == ["cancel #2 at a: superseded", "#4 perform 4 to a within 5000"])
        #expect(desk.problem == nil)
    }

    @Test func anAnswerStartsTheCountOfFailuresAnew() {
        let desk = Desk()
        desk.register("a")
        for number in 1...20 {
            desk.ask(Desk.value(UInt32(number)))
            #expect(desk.effects().count == 1)
            if number % 5 == 0 { desk.answer(number, by: "a") } else { desk.fail(number, by: "a") }
            _ = desk.effects()
        }
    }

    @Test func aCancelledProbeLetsTheNextThrough() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.registerFailing("a")
        desk.ask(Desk.value(2), within: 9_000)
        desk.ask(Desk.value(3), within: 9_000)
        desk.pass(1_000)
        #expect(desk.effects() == ["value 1 failed: threw", "#2 value 3 to a within 9000"])
        desk.cancel(Desk.value(3), .superseded)
        #expect(desk.effects() == ["cancel #2 at a: superseded", "#3 value 2 to a within 9000"])
    }

    @Test func aCallThatWaitedAndRunsOutOfTheRestOfItsTimeSaysNothingOfItsProvider() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.register("a", capacity: 1)
        desk.ask(Desk.value(1), within: 5_000)
        desk.ask(Desk.perform(2))
        _ = desk.effects()
        desk.pass(900)
        desk.answer(1, by: "a")
        _ = desk.effects()
        desk.pass(100)
        desk.ask(Desk.value(3))
        #expect(
            desk.effects() == [
                "cancel #2 at a: timedOut", "perform 2 failed: timedOut", "#3 value 3 to a within 1000",
            ])
        desk.pass(1_000)
        desk.ask(Desk.value(4))
        #expect(desk.effects() == ["cancel #3 at a: timedOut", "value 3 failed: timedOut"])
        #expect(desk.problem == nil)
    }

    @Test func aSickProviderDoesNotGetWhatAHealthyOneCanTake() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.register("a")
        desk.register("b")
        desk.ask(Desk.value(1))
        _ = desk.effects()
        desk.fail(1, by: "a")
        _ = desk.effects()
        for control in 2...5 { desk.ask(Desk.value(UInt32(control))) }
        #expect(desk.effects().allSatisfy { $0.contains("to b") })
        for number in 2...5 { desk.answer(number, by: "b") }
        // Half open: an action still goes to the healthy one, a value is the probe.
        desk.pass(1_000)
        _ = desk.effects()
        desk.ask(Desk.perform(6))
        desk.ask(Desk.value(7))
        desk.ask(Desk.value(8))
        #expect(desk.effects().map { $0.contains("to b") } == [true, false, true])
    }
}
