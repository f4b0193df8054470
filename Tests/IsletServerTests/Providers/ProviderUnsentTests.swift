import IsletCore
import IsletServer
import Testing

/// What a provider was to get and never got.
@Suite struct ProviderUnsentTests {
    @Test func anActionThatWasNotSentGoesToTheNextProvider() {
        let desk = ProviderDesk()
        desk.register("a")
        desk.ask(ProviderDesk.perform(1))
        desk.register("b")
        desk.leave("a")
        #expect(desk.effects().contains("#2 perform 1 to b within 1000"))
        #expect(desk.isInFlight(2) && !desk.isInFlight(1))
        #expect(desk.problem == nil)
    }

    @Test func whatWasNotSentKeepsItsTurn() {
        let desk = ProviderDesk()
        desk.register("a", capacity: 2)
        desk.ask(ProviderDesk.value(1))
        desk.ask(ProviderDesk.perform(2))
        desk.ask(ProviderDesk.value(3))
        desk.leave("a")
        #expect(desk.ends().isEmpty)
        desk.register("b", capacity: 1)
        let effects = desk.effects().filter { $0.hasSuffix("within 1000") && $0.contains("to b") }
        #expect(effects == ["#3 perform 2 to b within 1000"])
        desk.answer(3, by: "b")
        #expect(desk.effects() == ["#4 value 1 to b within 1000"])
        desk.answer(4, by: "b")
        #expect(desk.effects() == ["#5 value 3 to b within 1000"])
        #expect(desk.problem == nil)
    }

    @Test func whatNobodyTakesAnyMoreHasNoProvider() {
        let desk = ProviderDesk()
        desk.register("a")
        desk.ask(ProviderDesk.perform(1))
        desk.leave("a")
        #expect(desk.ends().isEmpty)
        desk.advance()
        #expect(desk.ends() == ["perform 1 failed: noProvider"])
        #expect(desk.openCalls == 0 && desk.problem == nil)
    }

    @Test func aProviderThatDrainsGetsNothingAnyMore() {
        let desk = ProviderDesk()
        desk.register("a")
        desk.register("b")
        desk.ask(ProviderDesk.value(1))
        desk.drain("a")
        #expect(desk.effects().last == "#2 value 1 to b within 1000")
        #expect(desk.problem == nil)
    }

    @Test func aKindThatIsGivenUpIsNotAskedAbout() {
        let desk = ProviderDesk()
        desk.register("a", kinds: [1, 2])
        desk.register("b", kinds: [1])
        desk.ask(ProviderDesk.value(1))
        desk.register("a", kinds: [2])
        #expect(desk.effects().last == "#2 value 1 to b within 1000")
        #expect(desk.problem == nil)
    }

    @Test func aCallThatWasNotSentIsTakenBackInSilenceAndCountsForNobody() {
        let desk = ProviderDesk()
        desk.register("a")
        desk.ask(ProviderDesk.value(1))
        let result = desk.cancel(ProviderDesk.value(1), .superseded)
        #expect(result == .waiting)
        let calls = desk.provider("a").flatMap { desk.statistics(of: $0)?.calls }
        #expect(calls == 0 && desk.openCalls == 0 && desk.problem == nil)
    }

    @Test func whatALossEndsIsKnownBeforeTheNextRegistration() {
        let desk = ProviderDesk()
        desk.register("a")
        desk.ask(ProviderDesk.value(1))
        #expect(desk.effects().count == 1)
        desk.leave("a")
        #expect(desk.ends() == ["value 1 failed: noProvider"])
        #expect(desk.ends().isEmpty)
        desk.register("b")
        #expect(desk.ask(ProviderDesk.value(1)) == .accepted)
        #expect(desk.effects() == ["dropped a: left", "#2 value 1 to b within 1000"])
    }
}
