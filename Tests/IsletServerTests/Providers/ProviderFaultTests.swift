import IsletCore
import IsletServer
import Testing

/// Answers that are late, doubled, wrong or never asked for.
@Suite struct ProviderFaultTests {
    private typealias Desk = ProviderDesk

    /// A desk on which provider `a` may be blamed for calls that were never made.
    private func desk(_ change: (inout ProviderTable.Limits) -> Void = { _ in }) -> Desk {
        let desk = Desk(change)
        desk.register("a", capacity: 1)
        for _ in 0..<6 {
            desk.pass(10_000)
            desk.hear("a")
        }
        _ = desk.allEffects()
        return desk
    }

    @Test func anAnswerAfterTheDeadlineIsLateOnceAndThenUnknown() {
        let desk = Desk()
        desk.register("a")
        desk.ask(Desk.value(1))
        _ = desk.effects()
        desk.pass(1_000)
        _ = desk.effects()
        #expect(desk.answer(1, by: "a").isLate)
        #expect(desk.answer(1, by: "a") == .unknownCall)
        let statistics = desk.provider("a").flatMap { desk.statistics(of: $0) }
        #expect(statistics?.late == 1)
        #expect(statistics?.unknown == 1)
        #expect(statistics?.failures == 1)
    }

    @Test func anAnswerToACancelledCallIsLateForAMinute() {
        let desk = Desk()
        desk.register("a")
        for control in 1...2 { desk.ask(Desk.value(UInt32(control))) }
        _ = desk.effects()
        for control in 1...2 { desk.cancel(Desk.value(UInt32(control)), .removed) }
        desk.now += 599_999
        #expect(desk.answer(1, by: "a").isLate)
        desk.now += 1
        #expect(desk.answer(2, by: "a") == .unknownCall)
    }

    @Test func aLateAnswerDoesNotReachTheCallThatHasItsPlaceNow() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.ask(Desk.value(1))
        _ = desk.effects()
        desk.cancel(Desk.value(1), .superseded)
        desk.ask(Desk.value(1))
        _ = desk.effects()
        #expect(desk.answer(1, by: "a").isLate)
        #expect(desk.answer(2, by: "a") == .taken(Desk.value(1)))
        // Nor does a second answer to a call whose record is used again.
        desk.ask(Desk.value(1))
        _ = desk.effects()
        #expect(desk.answer(2, by: "a") == .unknownCall)
        #expect(desk.answer(3, by: "a") == .taken(Desk.value(1)))
    }

    @Test func moreLateCallsThanAreKeptAreNoFaultEither() {
        let desk = desk { $0.lateCalls = 10 }
        for number in 1...100 {
            desk.ask(Desk.value(1))
            #expect(desk.effects().last?.hasPrefix("#\(number)") == true)
            #expect(desk.cancel(Desk.value(1), .superseded) == .inFlight)
        }
        _ = desk.effects()
        for number in 1...100 { #expect(desk.answer(number, by: "a").isLate) }
        #expect(desk.effects() == [])
        #expect(desk.problem == nil)
    }

    @Test func aCallOfAnotherProviderIsUnknownAndStaysOpen() {
        let desk = Desk()
        desk.register("a")
        desk.register("b")
        desk.ask(Desk.value(1))
        _ = desk.effects()
        #expect(desk.answer(1, by: "b") == .unknownCall)
        #expect(desk.answer(1, by: "a", on: "b") == .notRegistered)
        #expect(desk.answer(1, by: "c") == .notRegistered)
        #expect(desk.answer(1, by: "a") == .taken(Desk.value(1)))
    }

    @Test func aBadAnswerFailsTheCallAndIsAFault() {
        let desk = Desk()
        desk.register("a")
        desk.register("b")
        desk.ask(Desk.value(1))
        _ = desk.effects()
        #expect(desk.reject(1, by: "a") == .taken(Desk.value(1)))
        #expect(desk.effects() == ["value 1 failed: badAnswer"])
        #expect(desk.reject(1, by: "a") == .unknownCall)
    }

    @Test func sixteenFaultsInAMinuteDropAProviderAndBanIt() {
        let desk = desk()
        desk.register("b", capacity: 2)
        desk.ask(Desk.value(1))
        #expect(desk.effects() == ["#1 value 1 to a within 1000"])
        for _ in 1...15 { #expect(desk.answer(99, by: "a") == .unknownCall) }
        #expect(desk.effects() == [])
        #expect(desk.answer(99, by: "a") == .unknownCall)
        // The others are not touched, and one of them takes over.
        #expect(desk.effects() == ["#2 value 1 to b again within 1000", "dropped a: faults"])
        #expect(desk.answer(1, by: "a") == .notRegistered)
        desk.now += 20_000
        desk.hear("b")
        #expect(desk.register("a") == .refused(.banned(retryAfter: 40_000)))
        #expect(desk.register("a", on: "x") == .refused(.banned(retryAfter: 40_000)))
        #expect(desk.register("y", on: "a") == .refused(.banned(retryAfter: 40_000)))
        desk.now += 40_000
        guard case .registered = desk.register("a") else {
            Issue.record("still banned")
            return
        }
    }

    @Test func faultsThatAreFarApartDropNobody() {
        let desk = desk()
        for _ in 1...60 {
            desk.pass(4_001)
            #expect(desk.answer(99, by: "a") == .unknownCall)
        }
        #expect(desk.effects() == [])
    }

    @Test func badAnswersAloneDropAProviderToo() {
        let desk = Desk { $0.breakerFailures = 100 }
        desk.register("a")
        for number in 1...16 {
            desk.ask(Desk.value(UInt32(number)))
            _ = desk.effects()
            desk.reject(number, by: "a")
        }
        #expect(desk.effects() == ["value 16 failed: badAnswer", "dropped a: faults"])
    }

    @Test func callsOfAnEarlierRunOfTheServiceAreNoFaultsOfAProviderThatJustCame() {
        let desk = Desk()
        desk.register("a", capacity: 30)
        // As many as it may have had.
        for _ in 1...30 { #expect(desk.answer(99, by: "a") == .unknownCall) }
        #expect(desk.effects() == [])
        for _ in 1...16 { #expect(desk.answer(99, by: "a") == .unknownCall) }
        #expect(desk.effects() == ["dropped a: faults"])
    }

    @Test func callsThatWereAnsweredAreFaultsFromTheStart() {
        let desk = Desk()
        desk.register("a", capacity: 30)
        desk.ask(Desk.value(1))
        _ = desk.effects()
        desk.answer(1, by: "a")
        for _ in 1...16 { desk.answer(1, by: "a") }
        #expect(desk.effects() == ["dropped a: faults"])
    }

    @Test func theCallsOfAProviderThatWasLostAreLateWhenItComesBack() {
        let desk = Desk()
        desk.register("a", capacity: 20)
        for control in 1...20 { desk.ask(Desk.value(UInt32(control)), within: 60_000) }
        _ = desk.effects()
        desk.pass(15_000)
        #expect(desk.effects().last == "dropped a: silent")
        desk.register("a", on: "new")
        for number in 1...20 { #expect(desk.answer(number, by: "a", on: "new").isLate) }
        #expect(desk.effects() == [])
    }

    @Test func noMoreBansAreKeptThanTheirBound() {
        let desk = Desk {
            $0.faultLimit = 1
            $0.maximumBans = 2
        }
        for name in ["a", "b", "c"] {
            desk.register(name, capacity: 1)
            for _ in 1...2 { desk.answer(99, by: name) }
        }
        #expect(desk.effects().count == 3)
        guard case .registered = desk.register("a"), case .refused(.banned) = desk.register("b"),
            case .refused(.banned) = desk.register("c")
        else {
            Issue.record("other bans than the last two")
            return
        }
    }
}
