import IsletCore
import Testing

/// A window together with the texts that a test speaks in.
struct RetryHarness: ~Copyable {
    var window: RetryWindow
    var now = Instant(1_000_000)

    init(limits: RetryWindow.Limits = .standard) {
        window = RetryWindow(limits: limits)
    }

    enum Verdict: Equatable {
        case new
        case answered(String)
        case inFlight
        case reused
        case unknown
    }

    static func client(_ number: UInt64) -> EntityID { EntityID(high: 0xC11E, low: number) }

    static func hash(_ frame: String) -> FrameHash { FrameHash(of: Array(frame.utf8).span) }

    func check(_ req: String, frame: String? = nil, client: UInt64 = 1) -> Verdict {
        let hash = RetryHarness.hash(frame ?? "frame of \(req)")
        switch window.check(client: RetryHarness.client(client), req: Array(req.utf8).span, frameHash: hash) {
        case .new: return .new
        case .answered(let answer):
            let text = window.withAnswer(answer) { span in
                span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            }
            return .answered(text ?? "forgotten")
        case .inFlight: return .inFlight
        case .reused: return .reused
        case .unknown: return .unknown
        }
    }

    func claim(_ req: String, client: UInt64 = 1) -> RetryClaim? {
        let hash = RetryHarness.hash("frame of \(req)")
        let check = window.check(client: RetryHarness.client(client), req: Array(req.utf8).span, frameHash: hash)
        guard case .new(let claim) = check else { return nil }
        return claim
    }

    /// Executes a command that is new; false where it is not.
    @discardableResult
    mutating func execute(_ req: String, answer: String? = nil, client: UInt64 = 1, batch: UInt64 = 1) -> Bool {
        guard let claim = claim(req, client: client) else { return false }
        let answer = Array((answer ?? "answer to \(req)").utf8)
        window.remember(claim, req: Array(req.utf8).span, answer: answer.span, batch: batch, at: now)
        return true
    }

    /// Lets the whole window pass.
    mutating func forgetAll() {
        now = now + 600_000
        while window.forgetExpired(at: now) {}
    }
}

@Suite struct RetryWindowTests {
    @Test func theSamePairGetsTheFirstAnswerAgain() {
        var harness = RetryHarness()
        #expect(harness.check("a") == .new)
        harness.execute("a", answer: "{\"ok\":true}")
        #expect(harness.check("a") == .answered("{\"ok\":true}"))
        #expect(harness.check("a") == .answered("{\"ok\":true}"))
    }

    @Test func aPairIsOfOneClientAndOneReq() {
        var harness = RetryHarness()
        harness.execute("a", client: 1)
        #expect(harness.check("a", client: 2) == .new)
        #expect(harness.check("b", client: 1) == .new)
        #expect(harness.check("", client: 1) == .new)
    }

    @Test func otherBytesUnderTheSameReqAreToldApart() {
        var harness = RetryHarness()
        harness.execute("a")
        #expect(harness.check("a", frame: "frame of a ") == .reused)
        #expect(harness.check("a", frame: "") == .reused)
        #expect(harness.check("a", frame: "frame of a") == .answered("answer to a"))
    }

    @Test func anAnswerNamesTheBatchThatMakesItTrue() {
        var harness = RetryHarness()
        harness.execute("a", batch: 42)
        let check = harness.window.check(
            client: RetryHarness.client(1), req: Array("a".utf8).span, frameHash: RetryHarness.hash("frame of a"))
        guard case .answered(let answer) = check else {
            Issue.record("not answered")
            return
        }
        #expect(answer.batch == 42)
    }

    @Test func aDuplicateOfOneInFlightIsRecognisedUntilItIsAnswered() throws {
        var harness = RetryHarness()
        let claim = harness.claim("a")
        let ticket = harness.window.begin(try #require(claim), req: Array("a".utf8).span)
        #expect(harness.check("a") == .inFlight)
        #expect(harness.check("a", frame: "other") == .reused)
        harness.forgetAll()
        #expect(harness.check("a") == .inFlight)
        harness.window.finish(ticket, answer: Array("done".utf8).span, batch: 1, at: harness.now)
        #expect(harness.check("a") == .answered("done"))
        harness.forgetAll()
        #expect(harness.window.count == 0)
    }

    @Test func aCommandInFlightThatWasRefusedMayComeAgain() throws {
        var harness = RetryHarness()
        let claim = harness.claim("a1")
        let ticket = harness.window.begin(try #require(claim), req: Array("a1".utf8).span)
        harness.window.abandon(ticket)
        #expect(harness.check("a1") == .new)
        #expect(harness.window.count == 0)
        #expect(harness.window.heldBytes == 0)
    }

    @Test func anAnswerIsForgottenAfterTenMinutesOfDomainTime() {
        var harness = RetryHarness()
        harness.execute("a")
        harness.now = harness.now + 1
        harness.execute("b")
        harness.now = harness.now + 599_998
        harness.window.forgetExpired(at: harness.now)
        #expect(harness.check("a") == .answered("answer to a"))
        #expect(harness.window.nextExpiry() == harness.now + 1)
        harness.window.forgetExpired(at: harness.now + 1)
        #expect(harness.check("a") == .new)
        #expect(harness.check("b") == .answered("answer to b"))
        harness.window.forgetExpired(at: harness.now + 2)
        #expect(harness.check("b") == .new)
        #expect(harness.window.nextExpiry() == nil)
        #expect(harness.window.heldBytes == 0)
    }

    /// A full disk holds batches back for hours, and who waits sends the command again.
    @Test func noneIsForgottenWithinTenMinutesOfAHeldCommit() {
        var harness = RetryHarness()
        harness.execute("a7")
        let begun = harness.now
        harness.now = harness.now + 1_200_000
        harness.window.keepAll(at: harness.now, since: begun + 599_999)
        harness.window.forgetExpired(at: harness.now)
        #expect(harness.check("a7") == .answered("answer to a7"))
        harness.execute("b")
        // Whoever reads answers back after a restart must go back to before they were given.
        #expect(harness.window.roundDate(at: harness.now) == begun + 600_000)
        #expect(harness.window.nextExpiry() == harness.now + 600_000)
        harness.window.forgetExpired(at: harness.now + 599_999)
        for req in ["a7", "b"] { #expect(harness.check(req) == .answered("answer to \(req)")) }
        harness.window.forgetExpired(at: harness.now + 600_000)
        #expect(harness.check("a7") == .unknown && harness.check("b") == .new)
        // And then all is as before.
        harness.now = harness.now + 700_000
        harness.execute("d")
        harness.window.forgetExpired(at: harness.now + 599_999)
        #expect(harness.check("d") == .answered("answer to d"))
        harness.window.forgetExpired(at: harness.now + 600_000)
        #expect(harness.check("d") == .new)
    }

    @Test func aHoldIsOfWhatWasRememberedWhenItBegan() {
        var harness = RetryHarness()
        harness.execute("a")
        let first = harness.now
        harness.now = harness.now + 300_000
        harness.window.keepAll(at: harness.now, since: harness.now)
        #expect(harness.window.hold == RetryHold(after: first + -300_000, until: first + 900_000))
        harness.window.keepAll(at: harness.now + 100_000, since: harness.now)
        #expect(harness.window.hold == RetryHold(after: first + -300_000, until: first + 1_000_000))
        // Another begins when it is over.
        harness.window.keepAll(at: first + 1_000_000, since: first + 1_000_000)
        #expect(harness.window.hold == RetryHold(after: first + 400_000, until: first + 1_600_000))
        // A start reads more than was remembered.
        harness.window.forgetExpired(at: first + 1_000_000)
        #expect(harness.check("a") == .new)
    }

    /// However long nobody was there: who waited for an answer sends again.
    @Test func aStartRemembersForAWholeWindowWhatWasRememberedAtTheEnd() {
        var harness = RetryHarness()
        let first = harness.now
        harness.execute("a7")
        harness.now = harness.now + 1
        harness.execute("b")
        harness.window.startAgain(at: first + 86_400_000, after: first + 600_000)
        #expect(harness.check("a7") == .unknown)
        harness.window.forgetExpired(at: first + 86_999_999)
        #expect(harness.check("b") == .answered("answer to b"))
        harness.window.forgetExpired(at: first + 87_000_000)
        #expect(harness.check("b") == .new)
        var held = RetryHarness()
        held.execute("c")
        held.window.hold = RetryHold(after: first + -1, until: first + 2_000_000)
        held.window.startAgain(at: first + 3_000_000, after: first + 1_900_000)
        #expect(held.check("c") == .answered("answer to c"))
        #expect(held.window.hold == RetryHold(after: first + -1, until: first + 3_600_000))
        // A clock that stands: nothing passed.
        var standing = RetryHarness()
        standing.execute("d")
        standing.window.startAgain(at: first + 599_999, after: first + 599_999)
        #expect(standing.window.hold == RetryHold() && standing.check("d") == .answered("answer to d"))
    }

    @Test func whatIsKeptLongerIsBoundedAsEver() {
        var harness = RetryHarness(limits: RetryWindow.Limits(span: 600_000, answersPerClient: 2, bytes: 1 << 20))
        harness.window.keepAll(at: harness.now, since: harness.now)
        for req in ["a", "b", "c"] { harness.execute(req) }
        #expect(harness.check("a") == .new && harness.window.count == 2)
    }

    @Test func forgettingIsBoundedAndSaysWhetherThereIsMore() {
        var harness = RetryHarness()
        let total = RetryWindow.maximumForgottenPerTurn * 2 + 1
        for index in 0..<total { harness.execute("x\(index)y") }
        let end = harness.now + 600_000
        let afterOne = harness.window.forgetExpired(at: end)
        #expect(afterOne)
        #expect(harness.window.count == total - RetryWindow.maximumForgottenPerTurn)
        let afterTwo = harness.window.forgetExpired(at: end)
        #expect(afterTwo)
        let afterThree = harness.window.forgetExpired(at: end)
        #expect(!afterThree)
        #expect(harness.window.count == 0)
    }

    @Test func oneClientHasAMaximumAndLosesItsOwnOldest() {
        var harness = RetryHarness(limits: RetryWindow.Limits(span: 600_000, answersPerClient: 3, bytes: 1 << 20))
        harness.execute("other", client: 2)
        for name in ["a", "b", "c", "d"] { harness.execute(name) }
        #expect(harness.check("a") == .new)
        #expect(harness.check("b") == .answered("answer to b"))
        #expect(harness.check("d") == .answered("answer to d"))
        #expect(harness.check("other", client: 2) == .answered("answer to other"))
    }

    @Test func allTogetherHaveABoundInBytesAndLoseTheOldestOfAll() {
        let bytes = 256 << 10
        var harness = RetryHarness(limits: RetryWindow.Limits(span: 600_000, answersPerClient: 65_536, bytes: bytes))
        for index in 0..<5_000 {
            harness.execute("q\(index)-", client: UInt64(index % 7))
            #expect(harness.window.heldBytes <= bytes)
        }
        #expect(harness.window.count > 1_000)
        let oldest = 5_000 - harness.window.count
        #expect(harness.check("q\(oldest - 1)-", client: UInt64((oldest - 1) % 7)) == .new)
        #expect(harness.check("q\(oldest)-", client: UInt64(oldest % 7)) == .answered("answer to q\(oldest)-"))
    }

    @Test func anAnswerThatIsTooLongIsNotKeptAndItsCommandNotRepeated() throws {
        var harness = RetryHarness()
        let long = String(repeating: "x", count: RetryWindow.maximumAnswerBytes)
        harness.execute("fits", answer: long)
        #expect(harness.check("fits") == .answered(long))
        harness.execute("long", answer: long + "x")
        #expect(harness.check("long") == .unknown)
        #expect(harness.check("long", frame: "other") == .reused)
        let claim = harness.claim("later")
        let ticket = harness.window.begin(try #require(claim), req: Array("later".utf8).span)
        harness.window.finish(ticket, answer: Array((long + "x").utf8).span, batch: 1, at: harness.now)
        #expect(harness.check("later") == .unknown)
    }

    @Test func aPairThatWasUsedAgainIsRestoredWithItsSecondAnswer() throws {
        var harness = RetryHarness()
        let start = harness.now
        for (req, at) in [("a", 0), ("b", 1), ("c7", 2), ("a", 600_000)] as [(String, Int64)] {
            let (answer, text) = (Array("at \(at)".utf8), Array(req.utf8))
            var image = ImageWriter()
            guard let claim = RetryHarness().claim(req) else { continue }
            RetryWindow.write(claim, req: text.span, answer: answer.span, to: &image)
            try harness.window.restoreAnswer(image.bytes.span, batch: 1, at: start + at)
        }
        #expect(harness.check("a") == .answered("at 600000"))
        harness.window.forgetExpired(at: start + 600_002)
        #expect(harness.check("a") == .answered("at 600000"))
        #expect(harness.check("b") == .new)
        #expect(harness.check("c7") == .unknown)
        harness.window.forgetExpired(at: start + 1_200_000)
        #expect(harness.check("a") == .new)
        #expect(harness.window.count == 0)
        #expect(harness.window.heldBytes == 0)
    }

    /// What is written of client 1 through a batch.
    private static func trace(_ harness: borrowing RetryHarness, through batch: UInt64 = 3) -> [UInt8] {
        var writer = ImageWriter()
        let isKnown = harness.window.writeTrace(of: RetryHarness.client(1), through: batch, to: &writer)
        #expect(isKnown)
        return writer.bytes
    }

    /// What is made of that, and of the answers that the journal has.
    private static func restored(
        _ trace: [UInt8], _ answers: [(req: String, batch: UInt64)] = [], lastBatch: UInt64 = 3
    ) throws -> RetryHarness {
        var harness = RetryHarness()
        harness.window.recordsTraces = true
        let key = RetryWindow.traceKey(RetryHarness.client(1))
        let isTrace = try harness.window.restoreTrace(key.span, trace.span, lastBatch: lastBatch)
        #expect(isTrace)
        for (req, batch) in answers {
            var image = ImageWriter()
            guard let claim = RetryHarness().claim(req) else { continue }
            RetryWindow.write(claim, req: Array(req.utf8).span, answer: Array("ok".utf8).span, to: &image)
            try harness.window.restoreAnswer(image.bytes.span, batch: batch, at: harness.now)
        }
        harness.window.restoringEnds()
        return harness
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func aTraceCountsTheAnswersThroughItsBatchAndRecoveryThoseBehindIt(through: UInt64) throws {
        var harness = RetryHarness()
        harness.execute("a100000", batch: 1)
        harness.forgetAll()
        var written = Self.trace(harness, through: 1)
        let answers: [(req: String, batch: UInt64)] = [("b70001", 2), ("a100001", 2), ("b2", 3), ("c9", 3)]
        for (req, batch) in answers {
            harness.execute(req, batch: batch)
            if batch <= through { written = Self.trace(harness, through: through) }
        }
        let again = try Self.restored(written, answers)
        #expect(Self.trace(again) == Self.trace(harness))
        #expect(again.window.changedTraceCount == 0)
    }

    @Test func aTraceThatCountsLostBatchesIsWrittenAgain() throws {
        var harness = RetryHarness()
        harness.execute("a1", batch: 1)
        harness.forgetAll()
        let again = try Self.restored(Self.trace(harness, through: 4), lastBatch: 3)
        #expect(again.window.changedTraceCount == 1)
        #expect(again.check("a1") == .unknown)
    }

    @Test func aTraceOfAnEarlierReleaseIsReadAndWrittenAgain() throws {
        var harness = RetryHarness()
        harness.execute("a1", batch: 1)
        harness.forgetAll()
        harness.execute("a2", batch: 2)
        // Its layout had no batch, so nothing says that it has not counted the last answer.
        var again = try Self.restored([1] + Self.trace(harness).dropFirst(9), [("a2", 2), ("b1", 3)])
        #expect(again.window.changedTraceCount == 1)
        #expect(again.check("a1") == .unknown)
        #expect(again.check("a2") == .answered("ok"))
        again.forgetAll()
        for req in ["a1", "a2", "b1"] { #expect(again.check(req) == .unknown) }
        #expect(again.check("a3") == .new)
        #expect(again.check("b2") == .new)
    }

    /// Traces come back in the order of their keys, whenever they were written.
    @Test func afterARestartTheClientThatIsUnusedForLongestIsForgottenFirst() throws {
        var harness = RetryHarness()
        harness.execute("n1")
        harness.forgetAll()
        var again = RetryHarness()
        let last = UInt64(RetryWindow.maximumIdleClients)
        for client in 1...last {
            // The third was used before all others, and the first after all others but the last.
            let through = client == 3 ? 4 : client == 1 ? 9 : client == last ? 10 : 8
            let key = RetryWindow.traceKey(RetryHarness.client(client))
            _ = try again.window.restoreTrace(key.span, Self.trace(harness, through: UInt64(through)).span, lastBatch: 10)
        }
        again.window.restoringEnds()
        for (newcomer, forgotten) in [(last + 1, 3), (last + 2, 2), (last + 3, 4)] as [(UInt64, UInt64)] {
            #expect(again.check("n1", client: forgotten) == .unknown)
            again.execute("n1", client: newcomer)
            again.forgetAll()
            #expect(again.check("n1", client: forgotten) == .new)
        }
        #expect(again.check("n1", client: 1) == .unknown)
        #expect(again.check("n1", client: last) == .unknown)
    }

    @Test func aCommandInFlightCountsOnceItHasItsAnswer() {
        var harness = RetryHarness()
        harness.execute("a1", batch: 1)
        harness.forgetAll()
        let before = Self.trace(harness)
        guard let claim = harness.claim("b1") else {
            Issue.record("b1 is new")
            return
        }
        let ticket = harness.window.begin(claim, req: Array("b1".utf8).span)
        #expect(Self.trace(harness) == before)
        harness.window.finish(ticket, answer: Array("ok".utf8).span, batch: 2, at: harness.now)
        #expect(Self.trace(harness) != before)
    }

    @Test(arguments: [31, 32, 33] as [UInt64])
    func itAgreesWithADictionary(seed: UInt64) {
        var random = RetryRandom(state: seed)
        let limits = RetryWindow.Limits(span: 5_000, answersPerClient: 40, bytes: 1 << 20)
        var harness = RetryHarness(limits: limits)
        // In order of age; requests end in a letter, so that nothing is left of the forgotten ones.
        var model: [(client: UInt64, req: String, at: Instant)] = []
        for step in 0..<30_000 {
            harness.now = harness.now + Int64(random.next(40))
            if random.next(4) == 0 {
                while harness.window.forgetExpired(at: harness.now) {}
                model.removeAll { harness.now - $0.at >= 5_000 }
            }
            let client = UInt64(random.next(6))
            let req = "r\(random.next(150))z"
            let isKnown = model.contains { $0.client == client && $0.req == req }
            let verdict = harness.check(req, client: client)
            let frame = harness.check(req, frame: "another", client: client)
            guard verdict == (isKnown ? .answered("answer to \(req)") : .new), frame == (isKnown ? .reused : .new)
            else {
                Issue.record("seed \(seed), step \(step): \(verdict), \(frame)")
                return
            }
            if !isKnown {
                harness.execute(req, client: client)
                model.append((client, req, harness.now))
                let own = model.indices.filter { model[$0].client == client }
                if own.count > 40 { model.remove(at: own[0]) }
            }
            #expect(harness.window.count == model.count)
        }
    }
}

/// A small generator, the same on every machine.
struct RetryRandom {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
