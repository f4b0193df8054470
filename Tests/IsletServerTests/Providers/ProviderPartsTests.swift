import IsletCore
import IsletServer
import Testing

/// The small values that the table is made of.
@Suite struct ProviderPartsTests {
    @Test(arguments: [0, 1, 9, 10, 1_234_567_890_123, UInt64.max])
    func aCallIDComesBackFromItsText(value: UInt64) {
        #expect(CallID(text: CallID(value).description.utf8) == CallID(value))
    }

    @Test(arguments: [
        "", "00", "01", "-1", "+1", " 1", "1 ", "1.0", "x", "18446744073709551616", "99999999999999999999",
    ])
    func noOtherTextIsACallID(text: String) {
        #expect(CallID(text: text.utf8) == nil)
    }

    @Test func aBreakerOpensForTwiceAsLongEachTimeUpToItsLongest() {
        var breaker = CircuitBreaker(failures: 2, first: 1_000, longest: 30_000)
        var now: Milliseconds = 0
        _ = breaker.failed(CallID(1), at: now)
        #expect(breaker.state == .closed(failures: 1))
        var spans: [Milliseconds] = []
        for number in 2...8 {
            let call = CallID(UInt64(number))
            #expect(breaker.allowsCall(at: now))
            breaker.sent(call)
            let opened = breaker.failed(call, at: now)
            #expect(opened)
            guard let end = breaker.opensUntil else { break }
            spans.append(end - now)
            #expect(!breaker.allowsCall(at: end - 1))
            now = end
        }
        #expect(spans == [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
        breaker.sent(CallID(9))
        #expect(!breaker.allowsCall(at: now))
        breaker.succeeded()
        #expect(breaker.isClosed)
        _ = breaker.failed(CallID(10), at: now)
        _ = breaker.failed(CallID(11), at: now)
        #expect(breaker.opensUntil == now + 1_000)
    }

    @Test func aBreakerKnowsWhenACallFailedLastUntilSomethingIsAnswered() {
        var breaker = CircuitBreaker(failures: 1, first: 1_000, longest: 30_000)
        #expect(breaker.failedAt == nil)
        _ = breaker.failed(CallID(1), at: 0)
        #expect(breaker.failedAt == 0)
        breaker.sent(CallID(2), .action)
        _ = breaker.failed(CallID(2), at: 5_000)
        #expect(breaker.failedAt == 5_000, "an action beside the probe, which opens nothing for longer")
        breaker.succeeded()
        #expect(breaker.failedAt == nil)
    }

    @Test func aBreakerKnowsThatItsProbeFailedUntilSomethingIsAnswered() {
        var breaker = CircuitBreaker(failures: 1, first: 1_000, longest: 30_000)
        _ = breaker.failed(CallID(1), at: 0)
        #expect(breaker.probeFailedAt == nil)
        breaker.sent(CallID(2))
        _ = breaker.failed(CallID(1), at: 1_000)
        #expect(breaker.probeFailedAt == nil, "another one")
        _ = breaker.failed(CallID(2), at: 1_000)
        #expect(breaker.probeFailedAt == 1_000)
        breaker.sent(CallID(3))
        #expect(breaker.probeFailedAt == 1_000, "nobody knows yet")
        breaker.succeeded()
        #expect(breaker.probeFailedAt == nil)
    }

    @Test func aBreakerKnowsSinceWhenItFailsUntilSomethingIsAnswered() {
        var breaker = CircuitBreaker(failures: 2, first: 1_000, longest: 30_000)
        _ = breaker.failed(CallID(1), at: 100)
        #expect(breaker.failingSince == nil, "one failure opens nothing")
        _ = breaker.failed(CallID(2), at: 200)
        breaker.sent(CallID(3))
        _ = breaker.failed(CallID(3), at: 1_200)
        #expect(breaker.failingSince == 200, "its probe failed as well")
        breaker.sent(CallID(4))
        #expect(breaker.failingSince == 200, "half open")
        breaker.succeeded()
        #expect(breaker.failingSince == nil)
    }

    @Test func aBreakerRestsNoLongerThanTheFirstTimeOnceSomebodyBeginsToWait() {
        var breaker = CircuitBreaker(failures: 1, first: 1_000, longest: 30_000)
        _ = breaker.failed(CallID(1), at: 0)
        var (brought, now) = (breaker.hurry(at: 0), Milliseconds(1_000))
        #expect(!brought && breaker.opensUntil == 1_000)
        for call in 2...4 as ClosedRange<UInt64> {
            breaker.sent(CallID(call))
            _ = breaker.failed(CallID(call), at: now)
            now = breaker.opensUntil ?? 0
        }
        #expect(now == 15_000)
        brought = breaker.hurry(at: 9_000)
        #expect(brought && breaker.opensUntil == 10_000)
        breaker.sent(CallID(5))
        brought = breaker.hurry(at: 10_000)
        #expect(!brought)
        _ = breaker.failed(CallID(5), at: 10_000)
        #expect(breaker.opensUntil == 12_000)
    }

    @Test func callsSentBeforeABreakerOpenedSayNothingNewWhenTheyFail() {
        var breaker = CircuitBreaker(failures: 1, first: 1_000, longest: 30_000)
        let verdicts = [breaker.failed(CallID(1), at: 0), breaker.failed(CallID(2), at: 500)]
        #expect(verdicts == [true, false])
        #expect(breaker.opensUntil == 1_000)
        breaker.sent(CallID(4))
        _ = breaker.failed(CallID(3), at: 1_100)
        #expect(breaker.state == .halfOpen(probe: CallID(4)))
        breaker.withdrew(CallID(3))
        #expect(!breaker.allowsCall(at: 1_100))
        breaker.succeeded()
        #expect(breaker.isClosed)
    }

    @Test func aBreakerThatIsNotClosedLetsOneActionThroughAtATimeWhichClosesItOrChangesNothing() {
        var breaker = CircuitBreaker(failures: 1, first: 1_000, longest: 30_000)
        _ = breaker.failed(CallID(1), at: 0)
        let (opened, first) = (breaker.state, breaker.allowsCall(.action, at: 10))
        #expect(opened == .open(until: 1_000) && first && !breaker.allowsCall(at: 10))
        breaker.sent(CallID(2), .action)
        #expect(!breaker.allowsCall(.action, at: 10))
        let opens = breaker.failed(CallID(2), at: 20)
        #expect(!opens && breaker.state == opened && breaker.allowsCall(.action, at: 20))
        // It is not the probe either: that is another, and what becomes of it is as without the action.
        breaker.sent(CallID(3), .action)
        #expect(breaker.allowsCall(at: 1_000))
        breaker.sent(CallID(4))
        breaker.withdrew(CallID(3))
        #expect(breaker.allowsCall(.action, at: 1_000) && !breaker.allowsCall(at: 1_000))
        breaker.sent(CallID(5), .action)
        let opensAgain = breaker.failed(CallID(4), at: 1_100)
        #expect(opensAgain && breaker.opensUntil == 3_100 && !breaker.allowsCall(.action, at: 1_100))
        breaker.succeeded()
        #expect(breaker.isClosed && breaker.allowsCall(.action, at: 1_100))
        // One that was on its way when it closed counts as any other.
        let opensAnew = breaker.failed(CallID(5), at: 1_200)
        #expect(opensAnew && breaker.opensUntil == 2_200)
    }

    @Test func aQuestionIsLetThroughBesideAnActionAndTheProbe() {
        var breaker = CircuitBreaker(failures: 1, first: 1_000, longest: 30_000)
        _ = breaker.failed(CallID(1), at: 0)
        let opened = breaker.state
        breaker.sent(CallID(2), .action)
        #expect(breaker.allowsCall(.question, at: 10))
        breaker.sent(CallID(3), .question)
        #expect(!breaker.allowsCall(.question, at: 10) && !breaker.allowsCall(.action, at: 10))
        let opens = breaker.failed(CallID(3), at: 20)
        #expect(!opens && breaker.state == opened)
        #expect(breaker.allowsCall(.question, at: 20) && !breaker.allowsCall(.action, at: 20))
        breaker.sent(CallID(4), .question)
        #expect(breaker.allowsCall(at: 1_000), "it is not the probe")
        breaker.withdrew(CallID(4))
        #expect(breaker.allowsCall(.question, at: 1_000))
        breaker.succeeded()
        #expect(breaker.isClosed && breaker.allowsCall(.action, at: 1_000))
    }

    @Test func faultsCountWithinTheirSpan() {
        var window = FaultWindow(limit: 3, span: 100)
        let verdicts = [0, 50, 100, 149, 150, 160].map { window.note(at: $0) }
        #expect(verdicts == [false, false, false, true, true, true])
        var slow = FaultWindow(limit: 2, span: 100)
        let slowVerdicts = [0, 100, 200, 299].map { slow.note(at: $0) }
        #expect(slowVerdicts == [false, false, false, true])
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func quantilesAreRightToAnEighth(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil)
        var times: [Milliseconds] = []
        for _ in 0..<5_000 {
            let time = Milliseconds.random(in: 0...(1 << Int64.random(in: 1...17, using: &random)), using: &random)
            times.append(time)
            histogram.add(time)
        }
        times.sort()
        for share in [0.01, 0.5, 0.9, 0.99, 1] {
            let exact = times[max(0, Int((share * 5_000).rounded(.up)) - 1)]
            let told = histogram.quantile(share) ?? -1
            #expect(told >= exact && told <= exact + exact / 8, "seed \(seed), \(share): \(told) for \(exact)")
        }
        #expect(histogram.longest == times.last && histogram.count == 5_000)
        #expect(histogram.sum == times.reduce(0, +))
    }
}
