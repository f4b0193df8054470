import IsletCore
import IsletServer
import Testing

/// Coming, going, declaring anew, and signs of life.
@Suite struct ProviderRegistrationTests {
    private typealias Desk = ProviderDesk

    private func peer(_ name: String) -> [UInt8] { Array(name.utf8) }

    @Test func theSameProviderAgainReplacesItsDeclarationAndKeepsItsCalls() {
        let desk = Desk()
        desk.register("a", kinds: [1, 2], capacity: 1)
        desk.ask(Desk.value(1), kind: 1)
        desk.ask(Desk.value(2), kind: 1)
        desk.ask(Desk.value(3), kind: 2)
        _ = desk.effects()
        guard case .again = desk.register("a", kinds: [1, 3, 3], capacity: 2) else {
            Issue.record("not known")
            return
        }
        #expect(desk.effects() == ["#2 value 2 to a within 1000"])
        #expect(desk.isServed(1) && !desk.isServed(2) && desk.isServed(3))
        desk.pass(0)
        #expect(desk.effects() == ["value 3 failed: noProvider"])
        #expect(desk.answer(1, by: "a") == .taken(Desk.value(1)))
        #expect(desk.problem == nil)
    }

    @Test func aSmallerCapacityTakesNothingBackAndSendsNothingUntilThereIsRoom() {
        let desk = Desk()
        desk.register("a", capacity: 3)
        for control in 1...4 { desk.ask(Desk.value(UInt32(control))) }
        _ = desk.effects()
        desk.register("a", capacity: 2)
        desk.answer(1, by: "a")
        #expect(desk.effects() == [])
        desk.answer(2, by: "a")
        #expect(desk.effects() == ["#4 value 4 to a within 1000"])
    }

    @Test func onAnotherConnectionItsValuesAreAskedForAgainAndItsActionsAreLost() {
        let desk = Desk()
        desk.register("a")
        desk.ask(Desk.value(1))
        desk.ask(Desk.perform(2))
        _ = desk.effects()
        guard case .again = desk.register("a", on: "new") else {
            Issue.record("not known")
            return
        }
        #expect(
            desk.effects() == [
                "perform 2 failed: providerLost", "#3 value 1 to a again within 1000", "dropped a: replaced",
            ])
        #expect(desk.answer(3, by: "a") == .notRegistered)
        #expect(desk.answer(1, by: "a", on: "new").isLate)
        #expect(desk.answer(3, by: "a", on: "new") == .taken(Desk.value(1)))
        #expect(desk.providerCount == 1)
        #expect(desk.problem == nil)
    }

    @Test func whoDrainsGetsNothingNewAndMayFinish() {
        let desk = Desk()
        desk.register("a", capacity: 1)
        desk.ask(Desk.value(1))
        desk.ask(Desk.value(2))
        _ = desk.effects()
        #expect(desk.drain("a"))
        #expect(!desk.drain("a", on: "b"))
        #expect(!desk.isServed(1))
        #expect(desk.providers(of: 1).count == 1)
        #expect(desk.ask(Desk.value(3)) == .noProvider)
        desk.pass(0)
        #expect(desk.effects() == ["value 2 failed: noProvider"])
        #expect(desk.answer(1, by: "a") == .taken(Desk.value(1)))
        // Registering again takes it back.
        desk.register("a")
        #expect(desk.ask(Desk.value(3)) == .accepted)
        #expect(desk.problem == nil)
    }

    @Test func whoLeavesIsForgotten() {
        let desk = Desk()
        desk.register("a")
        #expect(!desk.leave("a", on: "x"))
        #expect(desk.leave("a"))
        #expect(!desk.leave("a"))
        #expect(desk.effects() == ["dropped a: left"])
        #expect(desk.providerCount == 0)
        #expect(desk.nextWork == nil)
    }

    @Test func thePeerOfADroppedProviderIsKnownUntilTheEffectsAreTakenAgain() {
        let desk = Desk()
        guard case .registered(let reference) = desk.register("a") else { return }
        desk.leave("a")
        desk.register("b")
        #expect(desk.peer(of: reference) == peer("a"))
        #expect(desk.effects() == ["dropped a: left"])
        desk.register("c")
        #expect(desk.peer(of: reference) == peer("a") && desk.id(of: reference) == Desk.id("a"))
        #expect(desk.statistics(of: reference) == nil)
        _ = desk.effects()
        guard case .registered(let other) = desk.register("d") else { return }
        #expect(other.number == reference.number && other != reference)
        #expect(desk.peer(of: reference) == nil)
        #expect(desk.peer(of: other) == peer("d"))
    }

    @Test func pingsGoOutAndSilenceDrops() {
        let desk = Desk()
        desk.register("a")
        desk.pass(4_999)
        #expect(desk.allEffects() == [])
        desk.pass(1)
        #expect(desk.allEffects() == ["ping a"])
        desk.pass(3_000)
        desk.hear("a")
        desk.pass(14_999)
        #expect(desk.allEffects() == ["ping a", "ping a", "ping a"])
        desk.pass(1)
        #expect(desk.allEffects() == ["dropped a: silent"])
    }

    @Test func aProviderAtWorkIsPingedMoreOftenSoThatALostConnectionShows() {
        let desk = Desk()
        desk.register("a")
        desk.pass(1_000)
        desk.ask(Desk.perform(1), within: 60_000)
        _ = desk.effects()
        desk.pass(499)
        #expect(desk.allEffects() == [])
        desk.pass(1)
        #expect(desk.allEffects() == ["ping a"])
        desk.pass(500)
        #expect(desk.allEffects() == ["ping a"])
        desk.hear("a")
        #expect(desk.answer(1, by: "a") == .taken(Desk.perform(1)))
        // At rest again.
        desk.pass(4_999)
        #expect(desk.allEffects() == [])
        desk.pass(1)
        #expect(desk.allEffects() == ["ping a"])
    }

    @Test func theCallsOfASilentProviderAreLost() {
        let desk = Desk()
        desk.register("a")
        desk.ask(Desk.perform(1), within: 60_000)
        desk.pass(14_999)
        _ = desk.effects()
        desk.pass(1)
        #expect(desk.effects() == ["perform 1 failed: providerLost", "dropped a: silent"])
    }

    @Test(arguments: 0..<5) func anyMessageIsASignOfLife(sort: Int) {
        let desk = Desk { $0.breakerFailures = 100 }
        desk.register("a")
        for round in 1...6 {
            desk.ask(Desk.value(1), within: 60_000)
            _ = desk.effects()
            desk.pass(14_000)
            switch sort {
            case 0: desk.hear("a")
            case 1: desk.answer(round, by: "a")
            case 2: desk.fail(round, by: "a")
            case 3: desk.register("a")
            default: desk.answer(99, by: "a")
            }
            desk.cancel(Desk.value(1), .removed)
            _ = desk.effects()
        }
        #expect(desk.providerCount == 1)
    }

    @Test func whoeverBearsTheNameOfAConnectionThatEndedIsNoSignOfLifeUnlessItNamesTheProvider() {
        let desk = Desk()
        desk.register("a")
        desk.register("b")
        for name in ["a", "b"] { desk.cutOff(name, descriptor: name == "a" ? 9 : 10) }
        for _ in 1...2 {
            desk.pass(7_500)
            desk.hear("a")
            desk.hear("b")
            #expect(desk.pong("b"))
        }
        #expect(desk.allEffects().contains("dropped a: silent"))
        #expect(desk.providerCount == 1)
    }

    @Test func whoIsHeardOverANewConnectionOfTheSameNameKeepsItsCallsWhenItRegistersAgain() {
        let desk = Desk()
        desk.register("a")
        desk.ask(Desk.perform(1), within: 60_000)
        _ = desk.effects()
        desk.cutOff("a", descriptor: 9)
        #expect(desk.pong("a", over: 10))
        desk.registers("a", over: 10)
        guard case .again = desk.register("a") else {
            Issue.record("it was dropped")
            return
        }
        #expect(desk.effects() == [])
        #expect(desk.answer(1, by: "a") == .taken(Desk.perform(1)))
        #expect(desk.problem == nil)
    }

    @Test func aRegistrationLosesThoseOfItsConnectionAloneThatWereNotHeardSinceTheyWereCutOff() {
        let desk = Desk()
        for name in ["a", "b"] { desk.register(name, on: "x") }
        desk.register("c", on: "y")
        desk.cutOff("x", descriptor: 9)
        // Over which connection this came is not known: it may have been the one that has ended.
        #expect(desk.pong("a", on: "x"))
        desk.registers("x", over: 10)
        #expect(desk.effects() == ["dropped a: unreachable", "dropped b: unreachable"])
        for name in ["a", "b"] { desk.register(name, on: "x") }
        desk.cutOff("x", descriptor: 10)
        #expect(desk.pong("a", on: "x", over: 11))
        desk.registers("x", over: 11)
        #expect(desk.effects() == [] && desk.providerCount == 3)
        desk.registers("x", over: 12)
        #expect(desk.effects() == ["dropped a: unreachable", "dropped b: unreachable"])
        #expect(desk.problem == nil)
    }

    @Test(arguments: [10, nil] as [Int32?]) func thoseOfOneConnectionLiveByEachOtherOverTheNextOne(descriptor: Int32?) {
        let desk = Desk()
        desk.register("a", on: "x")
        desk.register("b", on: "x")
        desk.cutOff("x", descriptor: 9)
        for _ in 1...3 {
            desk.pass(7_500)
            #expect(desk.pong("a", on: "x", over: descriptor))
        }
        #expect(desk.effects() == [] && desk.providerCount == 2)
        #expect(desk.problem == nil)
    }

    @Test func aStallOfTheServiceIsNotHeldAgainstProviders() {
        let desk = Desk()
        desk.register("a")
        desk.pass(6_000)
        desk.now += 30_000
        desk.advance()
        #expect(desk.effects() == [])
        desk.pass(14_999)
        #expect(desk.effects() == [])
        desk.pass(1)
        #expect(desk.effects() == ["dropped a: silent"])
    }

    @Test func whatNobodyReadsIsNoSilence() {
        let desk = Desk()
        desk.register("a")
        desk.pass(6_000)
        desk.pass(30_000, isListening: false)
        #expect(desk.effects() == [])
        desk.pass(14_999)
        #expect(desk.effects() == [])
        desk.pass(1)
        #expect(desk.effects() == ["dropped a: silent"])
    }

    @Test func whoIsSilentAtAServiceThatReadsWhatOthersSayIsDroppedHoweverOftenItHasToPause() {
        let desk = Desk()
        desk.register("a")
        desk.register("b")
        for _ in 1...15 {
            #expect(desk.effects() == [])
            desk.pass(999, isListening: false)
            desk.now += 1
            desk.hear("b")
        }
        desk.advance(isListening: false)
        #expect(desk.effects() == ["dropped a: silent"])
    }

    @Test func twoProvidersOfOneConnectionLiveAndDieTogether() {
        let desk = Desk()
        desk.register("a", on: "x")
        desk.register("b", on: "x")
        for _ in 0..<4 {
            desk.pass(14_000)
            desk.hear("x")
        }
        #expect(desk.effects() == [])
        desk.unreachable("x")
        #expect(desk.effects() == ["dropped a: unreachable", "dropped b: unreachable"])
        desk.unreachable("x")
        #expect(desk.effects() == [])
        #expect(desk.problem == nil)
    }

    @Test func providersAndKindsHaveTheirBounds() {
        let desk = Desk {
            $0.maximumProviders = 2
            $0.maximumKindsPerProvider = 3
        }
        #expect(desk.register("a", kinds: [1, 2, 3, 4]) == .refused(.tooManyKinds))
        desk.register("a", kinds: [1, 2, 3])
        desk.register("b")
        #expect(desk.register("c") == .refused(.tooManyProviders))
        guard case .again = desk.register("b", on: "new") else {
            Issue.record("a known one was refused")
            return
        }
        desk.leave("a")
        guard case .registered = desk.register("c", capacity: .max) else {
            Issue.record("refused although there is room")
            return
        }
        #expect(desk.provider("c").flatMap { desk.statistics(of: $0)?.capacity } == 1_024)
    }

    @Test func othersOfAKindAreKnown() {
        let desk = Desk()
        desk.register("a")
        #expect(!desk.hasProvider(of: 1, otherThan: "a"))
        #expect(desk.hasProvider(of: 1, otherThan: "b"))
        desk.register("b")
        #expect(desk.hasProvider(of: 1, otherThan: "a"))
        #expect(!desk.hasProvider(of: 2, otherThan: "a"))
    }

    @Test func statisticsTellWhatAProviderDoes() {
        let desk = Desk { $0.breakerFailures = 2 }
        desk.register("a", kinds: [7, 8], capacity: 2)
        for control in 1...5 { desk.ask(Desk.value(UInt32(control)), kind: 7) }
        _ = desk.effects()
        desk.now += 30
        desk.answer(1, by: "a")
        _ = desk.effects()
        guard let reference = desk.provider("a") else { return }
        func statistics() -> ProviderStatistics? { desk.statistics(of: reference) }
        #expect(statistics()?.kinds == [7, 8])
        #expect(statistics()?.inFlight == 2 && statistics()?.waiting == 2 && statistics()?.calls == 3)
        #expect(statistics()?.latencies.quantile(0.5) == 30)
        #expect(statistics()?.state == .live)
        _ = desk.effects()
        desk.fail(2, by: "a")
        desk.fail(3, by: "a")
        #expect(statistics()?.failures == 2)
        #expect(statistics()?.state == .open(for: 1_000))
        desk.now += 1_000
        #expect(statistics()?.state == .open(for: 1_000))
        desk.pass(0)
        #expect(statistics()?.state == .halfOpen)
        desk.drain("a")
        #expect(statistics()?.state == .draining)
    }
}
