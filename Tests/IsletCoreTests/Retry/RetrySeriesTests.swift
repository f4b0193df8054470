import IsletCore
import Testing

@Suite struct RetrySeriesTests {
    @Test func atOrBelowTheHighestForgottenNumberNothingIsExecuted() {
        var harness = RetryHarness()
        for number in 1...20 { harness.execute("c7-\(number)") }
        harness.forgetAll()
        #expect(harness.check("c7-20") == .unknown)
        #expect(harness.check("c7-1") == .unknown)
        #expect(harness.check("c7-0") == .unknown)
        #expect(harness.check("c7-020") == .unknown)
        #expect(harness.check("c7-21") == .new)
    }

    @Test(arguments: [
        ("n-1763700000123456789", "n-1763700000123456790"), ("o-000000000001763700000123456", "o-1763700000123457"),
        ("p-18446744073709551614", nil),
    ] as [(String, String?)])
    func aNumberHasAsManyDigitsAsSixtyFourBitsHold(req: String, next: String?) {
        var harness = RetryHarness()
        harness.execute(req)
        harness.forgetAll()
        #expect(harness.check(req) == .unknown)
        if let next { #expect(harness.check(next) == .new) }
    }

    @Test func theNumberIsOfOneClientAndOneStem() {
        var harness = RetryHarness()
        for number in 1...20 { harness.execute("c7-\(number)") }
        harness.forgetAll()
        #expect(harness.check("c7-20", client: 2) == .new)
        #expect(harness.check("c8-20") == .new)
        #expect(harness.check("20") == .new)
        #expect(harness.check("c7-20x") == .new)
    }

    @Test func whatIsStillRememberedIsAnsweredAlthoughALaterOneIsForgotten() throws {
        var harness = RetryHarness()
        let claim = harness.claim("n4")
        let ticket = harness.window.begin(try #require(claim), req: Array("n4".utf8).span)
        for number in 5...9 { harness.execute("n\(number)") }
        harness.forgetAll()
        harness.window.finish(ticket, answer: Array("late".utf8).span, batch: 1, at: harness.now)
        #expect(harness.check("n4") == .answered("late"))
        #expect(harness.check("n3") == .unknown)
    }

    @Test func aRefusedCommandThatComesAgainLaterDoesNotSpoilTheSeries() {
        var harness = RetryHarness()
        for number in [1, 2, 3, 5, 6, 4, 7, 8, 9, 10] { harness.execute("n\(number)") }
        harness.forgetAll()
        #expect(harness.check("n10") == .unknown)
    }

    @Test func aCounterThatRepeatsWhatACrashLeftUnansweredKeepsItsProtection() {
        var harness = RetryHarness()
        // After each crash the twenty that were on their way come again, the newest first.
        for crash in 0..<5 {
            for number in (1...20).reversed() { harness.execute("c7-\(crash * 20 + number)") }
        }
        harness.forgetAll()
        for number in 1...100 { #expect(harness.check("c7-\(number)") == .unknown) }
        #expect(harness.check("c7-101") == .new)
    }

    @Test(arguments: [(65_535, RetryHarness.Verdict.unknown), (65_536, .new)])
    func aCounterMayFallBackByLessThanAWindowOfAnswers(distance: Int, verdict: RetryHarness.Verdict) {
        var harness = RetryHarness()
        for round in 0..<4 {
            harness.execute("n\(round * 1_000_000 + 1 + distance)")
            harness.execute("n\(round * 1_000_000 + 1)")
        }
        harness.forgetAll()
        #expect(harness.check("n2000001") == verdict)
    }

    @Test func numbersThatDoNotRiseLeaveNoTrace() {
        var harness = RetryHarness()
        for number in [4_711_000, 100_000, 9_000_000, 17, 6_000_000, 230_000] { harness.execute("order-\(number)") }
        harness.forgetAll()
        #expect(harness.check("order-500000") == .new)
        #expect(harness.check("order-9000000") == .new)
    }

    @Test func twoCountersUnderOneNameDoNotShutEachOtherOut() {
        var harness = RetryHarness()
        for number in 1...20 {
            harness.execute("n\(number)")
            harness.execute("n\(1_000_000 + number)")
        }
        harness.forgetAll()
        #expect(harness.check("n21") == .new)
        #expect(harness.check("n1000021") == .new)
    }

    @Test func moreDigitsThanANumberHasAreNoNumber() {
        var harness = RetryHarness()
        harness.execute("n18446744073709551616")
        harness.execute("n18446744073709551613")
        harness.forgetAll()
        #expect(harness.check("n18446744073709551616") == .new)
        #expect(harness.check("n99999999999999999999") == .new)
        #expect(harness.check("n18446744073709551614") == .new)
        #expect(harness.check("n18446744073709551613") == .unknown)
    }

    @Test func aClientKeepsTheStemsThatItUsedLast() {
        var harness = RetryHarness()
        for stem in ["a", "b", "c", "d"] { harness.execute("\(stem)1") }
        harness.execute("a2")
        harness.execute("e1")
        harness.forgetAll()
        #expect(harness.check("a2") == .unknown)
        #expect(harness.check("e1") == .unknown)
        // b was unused for longest when e came.
        #expect(harness.check("b1") == .new)
    }

    @Test func idleClientsAreBoundedAndTheLongestIdleGoesFirst() {
        var harness = RetryHarness()
        let clients = UInt64(RetryWindow.maximumIdleClients) + 1
        for client in 0..<clients { harness.execute("n1", client: client) }
        harness.forgetAll()
        #expect(harness.check("n1", client: 0) == .new)
        #expect(harness.check("n1", client: 1) == .unknown)
        #expect(harness.check("n1", client: clients - 1) == .unknown)
        // One that comes back is not idle any more, and is the last to go.
        harness.execute("n2", client: 1)
        harness.execute("n1", client: clients)
        harness.forgetAll()
        #expect(harness.check("n1", client: 1) == .unknown)
        #expect(harness.check("n1", client: 2) == .new)
    }

    @Test func aFrameHashIsStableAndDependsOnEveryByte() {
        // Journals hold it, so it must stay what it is; the numbers come from another program.
        #expect(RetryHarness.hash("").value == 7_628_262_051_143_270_792)
        let ping = RetryHarness.hash("{\"op\":\"service.ping\",\"req\":\"c7-184\"}")
        #expect(ping.value == 4_725_010_331_306_317_656)
        var seen: Set<FrameHash> = []
        for length in 0..<70 {
            let frame = (0..<length).map { UInt8($0) }
            seen.insert(FrameHash(of: frame.span))
            for position in 0..<length {
                var other = frame
                other[position] ^= 0x80
                seen.insert(FrameHash(of: other.span))
            }
        }
        #expect(seen.count == 70 + 70 * 69 / 2)
    }
}
