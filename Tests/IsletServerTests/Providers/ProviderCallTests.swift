import IsletCore
import IsletServer
import Testing

/// Who gets a call, in which order, and for how long.
@Suite struct ProviderCallTests {
    private typealias Desk = ProviderDesk

    @Test func aCallIsSentAndEndsWithItsAnswer() {
        let desk = Desk()
        desk.register("a")
        #expect(desk.ask(Desk.value(3)) == .accepted)
        #expect(desk.effects() == ["#1 value 3 to a within 1000"])
        #expect(desk.purpose(1, by: "a") == Desk.value(3))
        #expect(desk.answer(1, by: "a") == .taken(Desk.value(3)))
        #expect(desk.openCalls == 0)
        // And it is over: nothing comes when its time is.
        desk.pass(2_000)
        #expect(desk.effects() == [])
        #expect(desk.problem == nil)
    }

    /// The effect that sends it may be older: it must not be taken for the call that is wanted by then.
    @Test func aCallThatWasTakenBackOrAnsweredIsNotInFlight() {
        let desk = Desk()
        desk.register("a", capacity: 2)
        desk.ask(Desk.value(3))
        desk.ask(Desk.perform(4))
        _ = desk.effects()
        #expect(desk.isInFlight(1) && desk.isInFlight(2))
        desk.cancel(Desk.value(3), .superseded)
        desk.answer(2, by: "a")
        desk.ask(Desk.value(3))
        _ = desk.effects()
        #expect(!desk.isInFlight(1) && !desk.isInFlight(2) && desk.isInFlight(3))
    }

    @Test func theSameControlCanBeAskedForAgainAsSoonAsItsCallIsOver() {
        let desk = Desk()
        desk.register("a")
        desk.ask(Desk.value(3))
        _ = desk.effects()
        desk.answer(1, by: "a")
        desk.ask(Desk.perform(3), within: 10_000)
        #expect(desk.effects() == ["#2 perform 3 to a within 10000"])
        #expect(desk.call(1) != desk.call(2))
    }

    @Test func theLeastLoadedForItsSizeIsChosenAndTheFirstAmongEquals() {
        let desk = Desk()
        desk.register("a", capacity: 2)
        desk.register("b", capacity: 4)
        for control in 0..<6 { desk.ask(Desk.value(UInt32(control))) }
        // Loads before each: 0/2 0/4, 1/2 0/4, 1/2 1/4, 1/2 2/4, 2/2 2/4, 2/2 3/4.
        #expect(
            desk.effects() == [
                "#1 value 0 to a within 1000", "#2 value 1 to b within 1000", "#3 value 2 to b within 1000",
                "#4 value 3 to a within 1000", "#5 value 4 to b within 1000", "#6 value 5 to b within 1000",
            ])
    }

    @Test func whatFindsNoPlaceWaitsAndGoesActionsFirstInOrder() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.ask(Desk.value(1))
        desk.ask(Desk.value(2))
        desk.ask(Desk.value(3))
        desk.ask(Desk.perform(4))
        desk.ask(.question(5))
        #expect(desk.effects() == ["#1 value 1 to a within 1000"])
        desk.now += 100
        var order: [String] = []
        for number in 1...5 {
            desk.answer(number, by: "a")
            order += desk.effects()
        }
        #expect(
            order == [
                "#2 perform 4 to a within 900", "#3 question 5 to a within 900", "#4 value 2 to a within 1000",
                "#5 value 3 to a within 1000",
            ])
    }

    @Test func aProviderServesItsKindsInTurnAndActionsOfAllOfThemFirst() {
        let desk = Desk()
        desk.register("a", kinds: [1, 2, 3], capacity: 1)
        desk.ask(Desk.value(0))
        for control in 10...12 { desk.ask(Desk.value(UInt32(control)), kind: 1) }
        for control in 20...21 { desk.ask(Desk.value(UInt32(control)), kind: 2) }
        desk.ask(Desk.value(30), kind: 3)
        desk.ask(Desk.perform(31), kind: 3)
        _ = desk.effects()
        var order: [String] = []
        for number in 1...7 {
            desk.answer(number, by: "a")
            order += desk.effects().compactMap { $0.split(separator: " ").dropFirst().prefix(2).joined(separator: " ") }
        }
        #expect(
            order == ["perform 31", "value 10", "value 20", "value 30", "value 11", "value 21", "value 12"])
    }

    @Test func theDeadlineOfACallInFlightCancelsAndFailsIt() {
        let desk = Desk()
        desk.register("a")
        desk.ask(Desk.value(1), within: 250)
        _ = desk.effects()
        desk.pass(249)
        #expect(desk.effects() == [])
        desk.pass(1)
        #expect(desk.effects() == ["cancel #1 at a: timedOut", "value 1 failed: timedOut"])
        #expect(desk.openCalls == 0)
    }

    @Test func waitingCountsForTheDeadlineAndWhatWaitedTooLongIsNeverSent() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.ask(Desk.perform(1), within: 10_000)
        desk.ask(Desk.perform(2), within: 300)
        _ = desk.effects()
        desk.pass(300)
        #expect(desk.effects() == ["perform 2 failed: timedOut"])
        desk.answer(1, by: "a")
        #expect(desk.effects() == [])
    }

    @Test func anOverdueCallIsNotSentEvenWhereAPlaceIsFreeBeforeItsTimerRan() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.ask(.question(1), within: 10_000)
        desk.ask(.question(2), within: 300)
        desk.ask(.question(3), within: 3_000)
        _ = desk.effects()
        desk.now += 300
        desk.answer(1, by: "a")
        #expect(desk.effects() == [])
        #expect(desk.nextWork.map { $0 <= desk.now } == true)
        desk.pass(0)
        #expect(desk.effects() == ["question 2 failed: timedOut", "#2 question 3 to a within 2700"])
    }

    @Test func aTimedOutCallMakesRoomForTheNext() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.ask(Desk.value(1), within: 100)
        desk.ask(Desk.value(2), within: 1_000)
        _ = desk.effects()
        desk.pass(100)
        #expect(
            desk.effects() == [
                "cancel #1 at a: timedOut", "value 1 failed: timedOut", "#2 value 2 to a within 1000",
            ])
    }

    @Test func aReadThatWaitsForABusyProviderHasItsWholeTimeHoweverLongThatTakes() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.ask(Desk.perform(1), within: 10_000)
        desk.ask(Desk.value(2), within: 300)
        _ = desk.effects()
        desk.pass(9_000)
        #expect(desk.effects() == [] && desk.problem == nil)
        desk.answer(1, by: "a")
        #expect(desk.effects() == ["#2 value 2 to a within 300"])
        // It was never sent where its provider goes before that: its time is ahead of it still.
        desk.pass(200)
        desk.ask(Desk.value(3), within: 300)
        desk.answer(2, by: "a")
        desk.register("b", capacity: 1)
        desk.ask(.question(4), within: 1_000)
        desk.pass(250)
        desk.leave("a")
        desk.pass(500)
        _ = desk.effects()
        desk.answer(4, by: "b")
        #expect(desk.effects() == ["#5 value 3 to b within 300"])
        desk.pass(300)
        #expect(desk.effects() == ["cancel #5 at b: timedOut", "value 3 failed: timedOut"])
        #expect(desk.openCalls == 0 && desk.problem == nil)
    }

    @Test func anActionWaitsForABusyProviderAndNotForOneWhoseBreakerIsOpenUntilThereIsNoOther() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.registerFailing("a")
        desk.register("b", capacity: 1)
        desk.ask(Desk.value(2))
        _ = desk.effects()
        for control in 3..<6 as Range<UInt32> { desk.ask(Desk.perform(control)) }
        desk.pass(100)
        #expect(desk.effects() == [] && desk.problem == nil)
        desk.answer(2, by: "b")
        #expect(desk.effects() == ["#3 perform 3 to b within 900"])
        desk.fail(3, by: "b")
        desk.advance()
        #expect(
            desk.effects() == [
                "perform 3 failed: threw", "#4 perform 4 to b within 900", "#5 perform 5 to a within 900",
            ])
        #expect(desk.problem == nil)
    }

    @Test(arguments: [true, false])
    func aProviderThatHasRestedIsTriedByAnActionWhereTheOthersAreBusyUnlessItWasLate(wasLate: Bool) {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.register("a")
        desk.ask(Desk.perform(1), within: 500)
        _ = desk.effects()
        if wasLate { desk.pass(500) } else { desk.fail(1, by: "a") }
        desk.register("b", capacity: 1)
        desk.ask(Desk.perform(2), within: 9_000)
        for control in 3..<5 as Range<UInt32> { desk.ask(Desk.perform(control), within: 9_000) }
        #expect(desk.effects().last == "#2 perform 2 to b within 9000")
        desk.pass(1_000)
        if wasLate {
            #expect(desk.effects() == [] && desk.problem == nil)
            return
        }
        #expect(desk.effects() == ["#3 perform 3 to a within 8000"])
        desk.fail(3, by: "a")
        desk.pass(1_900)
        #expect(desk.effects() == ["perform 3 failed: threw"], "it was a probe, so it rests twice as long")
        desk.pass(100)
        #expect(desk.effects() == ["#4 perform 4 to a within 6000"])
        desk.answer(4, by: "a")
        for control in 5..<7 as Range<UInt32> { desk.ask(Desk.perform(control)) }
        #expect(desk.effects() == ["#5 perform 5 to a within 1000", "#6 perform 6 to a within 1000"])
        #expect(desk.problem == nil)
    }

    @Test(arguments: [true, false])
    func anActionThatWaitedForAProviderThatGoesIsGivenToOneWhoseBreakerIsOpen(drains: Bool) {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.registerFailing("a")
        desk.register("b", capacity: 1)
        desk.ask(Desk.value(2))
        desk.ask(Desk.perform(3))
        _ = desk.effects()
        _ = drains ? desk.drain("b") : desk.leave("b")
        #expect(desk.nextWork.map { $0 <= desk.now } == true)
        desk.advance()
        #expect(desk.effects().contains("#3 perform 3 to a within 1000"))
        #expect(desk.problem == nil)
    }

    @Test func aCancelledCallThatWaitsIsNeverSentAndOneInFlightIsTakenBack() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.ask(Desk.value(1))
        desk.ask(Desk.value(2))
        desk.ask(Desk.value(3))
        _ = desk.effects()
        #expect(desk.cancel(Desk.value(2), .superseded) == .waiting)
        #expect(desk.cancel(Desk.value(2), .superseded) == .unknown)
        #expect(desk.cancel(Desk.perform(1), .superseded) == .unknown)
        #expect(desk.cancel(Desk.value(1), .removed) == .inFlight)
        #expect(desk.effects() == ["cancel #1 at a: removed", "#2 value 3 to a within 1000"])
        // A cancelled call has no end of its own.
        desk.answer(2, by: "a")
        desk.pass(2_000)
        #expect(desk.effects() == [])
        #expect(desk.problem == nil)
    }

    @Test func withoutAProviderNothingIsAccepted() {
        let desk = Desk()
        #expect(desk.ask(Desk.value(1)) == .noProvider)
        desk.register("a", kinds: [2])
        #expect(desk.ask(Desk.value(1)) == .noProvider)
        #expect(!desk.isServed(1) && desk.isServed(2))
    }

    @Test func queuesHaveTheirBoundsAndOneKindDoesNotFillAnother() {
        let desk = Desk {
            $0.waitingValues = 2
            $0.waitingActions = 1
        }
        desk.register("a", kinds: [1, 2], capacity: 1)
        desk.ask(Desk.value(0))
        #expect(desk.ask(Desk.value(1)) == .accepted)
        #expect(desk.ask(.question(1)) == .accepted)
        #expect(desk.ask(Desk.value(2)) == .busy)
        #expect(desk.ask(Desk.perform(3)) == .accepted)
        #expect(desk.ask(Desk.perform(4)) == .busy)
        #expect(desk.ask(Desk.value(5), kind: 2) == .accepted)
        // What was refused can be asked for again when there is room.
        #expect(desk.cancel(Desk.value(1), .removed) == .waiting)
        #expect(desk.ask(Desk.value(2)) == .accepted)
        #expect(desk.problem == nil)
    }

    @Test func readsHaveRoomWhereAProviderIsFreeOrOfEachKindForTheNextOne() {
        let desk = Desk { $0.openReads = 5 }
        #expect(desk.hasRoomForReads(1), "nobody takes it, which is told at once")
        desk.register("a", kinds: [1, 2], capacity: 1)
        desk.ask(Desk.value(0))
        #expect(desk.hasRoomForReads(1) && desk.hasRoomForReads(2))
        desk.ask(Desk.value(1))
        #expect(!desk.hasRoomForReads(1) && desk.hasRoomForReads(2))
        desk.ask(Desk.value(2), kind: 2)
        #expect(!desk.hasRoomForReads(1) && !desk.hasRoomForReads(2))
        #expect(desk.cancel(Desk.value(1), .removed) == .waiting)
        #expect(desk.ask(.question(1)) == .accepted)
        #expect(desk.hasRoomForReads(1) && !desk.hasRoomForReads(2), "a question is no read")
        _ = desk.effects()
        desk.answer(1, by: "a")
        #expect(desk.hasRoomForReads(1))
        desk.ask(Desk.value(3))
        desk.register("b", kinds: [1], capacity: 3)
        #expect(desk.hasRoomForReads(1), "it is free")
        for control in 10..<12 { desk.ask(Desk.value(UInt32(control))) }
        #expect(!desk.hasRoomForReads(1) && !desk.hasRoomForReads(2), "very many are open")
        desk.leave("a")
        desk.leave("b")
        #expect(desk.hasRoomForReads(1) && desk.hasRoomForReads(2))
        #expect(desk.problem == nil)
    }

    @Test func readsWaitWithTheirDeadlinesOnceAllProvidersFailTheirProbesAndAnswerNothing() {
        let desk = Desk {
            $0.breakerFailures = 1
            $0.waitingReads = 3
            $0.patience = 6_000
        }
        desk.register("a", capacity: 1)
        desk.ask(Desk.value(9))
        _ = desk.effects()
        desk.answer(1, by: "a")
        desk.ask(Desk.value(0), within: 500)
        #expect(!desk.takesProbes(1))
        _ = desk.effects()
        desk.pass(500)
        #expect(desk.takesProbes(1) && desk.hasRoomForReads(1))
        desk.ask(Desk.value(1), within: 500)
        #expect(desk.hasRoomForReads(1), "its breaker is open for the first time, and one is the next")
        desk.ask(Desk.value(2), within: 500)
        #expect(!desk.hasRoomForReads(1), "another one is the probe")
        _ = desk.effects()
        desk.pass(1_000)
        #expect(desk.effects() == ["#3 value 2 to a within 500"])
        desk.pass(500)
        _ = desk.effects()
        desk.ask(Desk.value(3), within: 500)
        #expect(!desk.hasRoomForReads(1), "it may answer yet")
        desk.pass(2_000)
        #expect(desk.effects() == ["#4 value 3 to a within 500"])
        desk.pass(2_400)
        #expect(desk.effects() == ["cancel #4 at a: timedOut", "value 3 failed: timedOut"])
        desk.pass(100)
        #expect(desk.effects() == ["value 1 failed: timedOut"])
        #expect(!desk.takesProbes(1))
        for control in 5..<8 as Range<UInt32> {
            #expect(desk.hasRoomForReads(1, failed: true))
            desk.ask(Desk.value(control), within: 5_000, hasFailed: true)
        }
        #expect(!desk.hasRoomForReads(1, failed: true), "there is a bound")
        desk.pass(2_000)
        #expect(desk.effects() == ["#5 value 7 to a within 5000"])
        desk.answer(5, by: "a")
        #expect(desk.effects() == ["#6 value 5 to a within 5000"])
        #expect(!desk.hasRoomForReads(1), "it answers again, is busy, and one is the next")
        desk.pass(4_900)
        #expect(desk.effects() == [], "and that one is not given up any more")
        #expect(desk.problem == nil)
    }

    @Test func questionsAreNoProbesWhereAnotherProviderIsWell() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.registerFailing("a", capacity: 1)
        desk.register("b", capacity: 1)
        _ = desk.effects()
        desk.pass(2_000)
        desk.ask(.question(1))
        desk.ask(.question(2))
        #expect(desk.effects() == ["#2 question 1 to b within 1000"], "the other waits, though a is free")
        desk.pass(1)
        desk.answer(2, by: "b")
        #expect(desk.effects() == ["#3 question 2 to b within 999"])
        desk.ask(Desk.value(2))
        #expect(desk.effects() == ["#4 value 2 to a within 1000"], "which is tried with a value")
        #expect(desk.problem == nil)
    }

    @Test func aQuestionComesBeforeTheReadsOfAllKindsEveryOtherTime() {
        let desk = Desk()
        desk.register("a", kinds: [1, 2, 3], capacity: 1)
        for kind in 1...3 as ClosedRange<UInt32> {
            desk.ask(Desk.value(kind * 10), kind: kind)
            desk.ask(Desk.value(kind * 10 + 1), kind: kind)
        }
        desk.ask(.question(1), kind: 3)
        desk.ask(.question(2), kind: 3)
        _ = desk.effects()
        var order: [String] = []
        for number in 1...7 {
            desk.answer(number, by: "a")
            order += desk.effects().compactMap { $0.split(separator: " to ").first.map(String.init) }
        }
        #expect(
            order == [
                "#2 question 1", "#3 value 11", "#4 question 2", "#5 value 20", "#6 value 30", "#7 value 21", "#8 value 31",
            ])
        #expect(desk.problem == nil)
    }

    /// A provider that never answered, and failed its probes, the last of these reads among them, where there are any; the
    /// others wait for it, which is tried again.
    private func givenUp(_ reads: Range<UInt32>, kinds: [UInt32] = [1], workPerAdvance: Int = 4_096) -> Desk {
        let desk = Desk {
            $0.breakerFailures = 1
            $0.workPerAdvance = workPerAdvance
        }
        desk.register("a", kinds: kinds, capacity: 1)
        for number in 1...2 {
            desk.ask(Desk.value(99), hasFailed: true)
            _ = desk.effects()
            desk.fail(number, by: "a")
            if number == 1 { desk.pass(1_000) }
        }
        for read in reads { desk.ask(Desk.value(read), kind: kinds.last ?? 1, within: 60_000, isAwaited: read == 4) }
        _ = desk.effects()
        desk.pass(2_000)
        guard !reads.isEmpty else { return desk }
        _ = desk.effects()
        desk.fail(3, by: "a")
        _ = desk.effects()
        desk.pass(4_000)
        return desk
    }

    @Test func readsThatCameWhileNothingWasAnsweredAreGivenBackOnceSomethingIs() {
        let desk = givenUp(1..<7)
        #expect(desk.effects() == ["#4 value 5 to a within 60000"])
        #expect(desk.hasRoomForReads(1) && desk.openCalls == 5)
        desk.answer(4, by: "a")
        #expect(desk.nextWork == desk.now)
        desk.pass(0)
        #expect(desk.effects() == ["#5 value 1 to a within 60000", "value 3 given back", "value 4 given back, awaited"])
        #expect(desk.openCalls == 2 && !desk.hasRoomForReads(1), "one is the next")
        #expect(desk.ask(Desk.value(3)) == .accepted, "its owner may ask again")
        #expect(desk.problem == nil)
    }

    @Test func readsOfItsOtherKindsAreGivenBackAsWellAndWhereAnotherProviderComes() {
        for comes in [false, true] {
            let desk = givenUp(1..<7, kinds: [1, 2])
            _ = desk.effects()
            if comes {
                desk.register("b", kinds: [2], capacity: 1)
            } else {
                desk.answer(4, by: "a")
            }
            desk.pass(0)
            #expect(desk.effects().count { $0.contains("given back") } == 2)
            #expect(desk.problem == nil)
        }
    }

    @Test func readsAreGivenBackInPiecesAndQuestionsKeepTheirPlaces() {
        let desk = givenUp(1..<1, workPerAdvance: 4)
        for question in 1...6 as ClosedRange<UInt64> { desk.ask(.question(question), within: 60_000) }
        for read in 1..<9 as Range<UInt32> { desk.ask(Desk.value(read), within: 60_000) }
        #expect(desk.effects() == ["#3 question 1 to a within 60000"])
        for number in 3...4 {
            desk.answer(number, by: "a")
            #expect(!desk.advance(), "no read beside the next one is in reach")
            #expect(desk.effects() == ["#\(number + 1) question \(number - 1) to a within 60000"])
        }
        desk.answer(5, by: "a")
        for read in 2..<8 {
            #expect(desk.advance(), "there is more")
            let effects = desk.effects()
            #expect(effects.last == "value \(read) given back" && effects.count == (read == 2 ? 2 : 1))
        }
        #expect(!desk.advance() && desk.effects() == ["value 8 given back"])
        for number in 6...7 {
            desk.answer(number, by: "a")
            #expect(desk.effects() == ["#\(number + 1) question \(number - 1) to a within 60000"])
        }
        desk.answer(8, by: "a")
        #expect(desk.effects() == ["#9 value 1 to a within 60000"])
        #expect(desk.problem == nil)
    }

    @Test func whatFailedBeforeOthersBeganToWaitIsNoReasonToGiveTheseUp() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.register("a", capacity: 1)
        desk.ask(Desk.value(9))
        _ = desk.effects()
        desk.answer(1, by: "a")
        for number in 2...5 {
            desk.ask(Desk.value(1), hasFailed: number > 2)
            _ = desk.effects()
            desk.fail(number, by: "a")
            desk.pass(number == 5 ? 5_000 : 1_000 << Milliseconds(number - 2))
            _ = desk.effects()
        }
        #expect(!desk.takesProbes(1) && desk.hasRoomForReads(1, failed: true))
        desk.ask(Desk.value(1), within: 500, hasFailed: true)
        #expect(!desk.takesProbes(1) && desk.hasRoomForReads(1))
        desk.ask(Desk.value(2), within: 500)
        desk.ask(Desk.value(3), within: 500)
        #expect(desk.takesProbes(1), "who begins to wait has patience of his own")
        #expect(!desk.hasRoomForReads(1) && !desk.hasRoomForReads(1, failed: true))
        desk.pass(1_000)
        #expect(desk.effects() == ["#6 value 3 to a within 500"], "and it rests no longer than the first time")
        desk.answer(6, by: "a")
        #expect(desk.effects() == ["#7 value 1 to a within 500"])
        #expect(desk.problem == nil)
    }

    @Test func aProviderThatHasNeverAnsweredIsGivenUpWithItsFirstProbe() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.register("a", capacity: 1)
        for control in 0..<3 as Range<UInt32> { desk.ask(Desk.value(control), within: 500) }
        _ = desk.effects()
        desk.pass(1_500)
        #expect(
            desk.effects() == ["cancel #1 at a: timedOut", "value 0 failed: timedOut", "#2 value 2 to a within 500"])
        desk.pass(500)
        #expect(!desk.takesProbes(1) && desk.hasRoomForReads(1))
        desk.pass(500)
        #expect(
            desk.effects() == ["cancel #2 at a: timedOut", "value 2 failed: timedOut", "value 1 failed: timedOut"])
        #expect(desk.openCalls == 0 && desk.problem == nil)
    }

    @Test func whatAProviderFailedBeforeItHasAnsweredAnythingIsNoReasonToGiveOthersUp() {
        let desk = Desk { $0.breakerFailures = 1 }
        desk.register("a", capacity: 1)
        for (number, pause) in [(1, 1_000), (2, 2_000), (3, 100)] as [(Int, Milliseconds)] {
            desk.ask(Desk.value(1), hasFailed: true)
            _ = desk.effects()
            desk.fail(number, by: "a")
            desk.pass(pause)
            _ = desk.effects()
        }
        for control in 2..<4 as Range<UInt32> {
            #expect(desk.hasRoomForReads(1))
            desk.ask(Desk.value(control), within: 500)
        }
        #expect(!desk.hasRoomForReads(1) && desk.takesProbes(1))
        desk.pass(1_000)
        #expect(desk.effects() == ["#4 value 3 to a within 500"])
        desk.fail(4, by: "a")
        #expect(!desk.takesProbes(1) && desk.hasRoomForReads(1), "it has failed one of these by now")
        #expect(desk.problem == nil)
    }

    @Test func allCallsTogetherHaveABound() {
        let desk = Desk { $0.maximumCalls = 3 }
        desk.register("a", capacity: 100)
        for control in 0..<3 { #expect(desk.ask(Desk.value(UInt32(control))) == .accepted) }
        #expect(desk.ask(Desk.perform(9)) == .busy)
        _ = desk.effects()
        desk.answer(1, by: "a")
        #expect(desk.ask(Desk.perform(9)) == .accepted)
    }

    @Test func oneTurnEndsOnlySoManyAndTellsThatMoreIsDue() {
        let desk = Desk { $0.workPerAdvance = 10 }
        desk.register("a", capacity: 1)
        for control in 0..<25 { desk.ask(Desk.perform(UInt32(control)), within: 500) }
        _ = desk.effects()
        desk.now += 500
        #expect(desk.advance())
        #expect(desk.effects().count { $0.contains("failed") } == 10)
        #expect(desk.advance())
        #expect(!desk.advance())
        #expect(desk.effects().count { $0.contains("failed") } == 15)
        #expect(desk.openCalls == 0)
    }

    @Test func aStopTakesEverythingBackAndFailsNothing() {
        let desk = Desk()
        desk.register("a", capacity: 2)
        for control in 0..<4 { desk.ask(Desk.value(UInt32(control))) }
        _ = desk.effects()
        desk.stop()
        #expect(desk.effects() == ["cancel #1 at a: stopping", "cancel #2 at a: stopping"])
        #expect(desk.openCalls == 0)
        #expect(desk.problem == nil)
    }
}
