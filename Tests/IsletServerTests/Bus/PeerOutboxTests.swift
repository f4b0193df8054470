import IsletServer
import Testing
import ZeroMQ

/// Pipes with room for so many messages, and what came through them.
private struct Pipes {
    var room: [String: Int] = [:]
    var taken: [String] = []

    mutating func take(_ client: String, _ message: [[UInt8]]) -> Bool {
        guard let left = room[client], left > 0 else { return false }
        room[client] = left - 1
        taken.append(client + String(decoding: message.joined(), as: UTF8.self))
        return true
    }
}

@Suite struct PeerOutboxTests {
    private typealias Outbox = PeerOutbox<String>

    private func message(_ text: String) -> [[UInt8]] { [[], Array(text.utf8)] }

    @Test func whatWaitsIsSentInOrderWhenThereIsRoom() {
        var outbox = Outbox()
        var pipes = Pipes()
        #expect(outbox.isEmpty && !outbox.holds("a"))
        for text in ["1", "2", "3"] { #expect(outbox.append(message(text), for: "a", over: nil, at: 0).isEmpty) }
        #expect(outbox.holds("a") && !outbox.holds("b"))
        #expect(outbox.bytes == 3)
        pipes.room["a"] = 2
        outbox.flush(at: 1) { client, message, _ in pipes.take(client, message) }
        #expect(pipes.taken == ["a1", "a2"])
        #expect(outbox.count(for: "a") == 1)
        _ = outbox.append(message("4"), for: "a", over: nil, at: 1)
        pipes.room["a"] = 9
        outbox.flush(at: 2) { client, message, _ in pipes.take(client, message) }
        #expect(pipes.taken == ["a1", "a2", "a3", "a4"])
        #expect(outbox.isEmpty && outbox.bytes == 0 && outbox.nextAttempt() == nil)
    }

    @Test func aPipeThatStaysFullIsTriedLessAndLess() {
        var outbox = Outbox()
        _ = outbox.append(message("1"), for: "a", over: nil, at: 1_000)
        var waits: [Int64] = []
        var now: Int64 = 1_000
        for _ in 0..<9 {
            guard let next = outbox.nextAttempt() else { break }
            waits.append(next - now)
            now = next
            outbox.flush(at: now) { _, _, _ in false }
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64, 64])
        // Nothing is tried before its time.
        outbox.flush(at: now) { _, _, _ in
            Issue.record("tried too early")
            return false
        }
    }

    @Test func aMessageFromTheClientBringsTheNextTryForward() {
        var outbox = Outbox()
        var pipes = Pipes()
        _ = outbox.append(message("1"), for: "a", over: nil, at: 0)
        for now in [1, 3, 7, 15] as [Int64] { outbox.flush(at: now) { _, _, _ in false } }
        #expect(outbox.heard(from: "a", descriptor: 7, at: 16) == nil)
        #expect(outbox.nextAttempt() == 16)
        pipes.room["a"] = 1
        outbox.flush(at: 16) { client, message, _ in pipes.take(client, message) }
        #expect(pipes.taken == ["a1"])
    }

    @Test func oneClientDoesNotHoldUpAnother() {
        var outbox = Outbox()
        var pipes = Pipes()
        _ = outbox.append(message("1"), for: "full", over: nil, at: 0)
        _ = outbox.append(message("1"), for: "free", over: nil, at: 0)
        pipes.room["free"] = 1
        outbox.flush(at: 1) { client, message, _ in pipes.take(client, message) }
        #expect(pipes.taken == ["free1"])
        #expect(outbox.holds("full") && !outbox.holds("free"))
    }

    @Test func aTurnTriesSoManyClientsAndTheOthersInTheNext() {
        var outbox = Outbox()
        let clients = (0..<100).map { "c\($0)" }
        for client in clients { _ = outbox.append(message("1"), for: client, over: nil, at: 0) }
        var seen: [String] = []
        for _ in 0..<2 {
            outbox.flush(at: 1) { client, _, _ in
                seen.append(client)
                return false
            }
        }
        #expect(seen.sorted() == clients.sorted())
    }

    @Test func aClientIsCutAfterTheMaximumOfMessages() {
        var outbox = Outbox()
        _ = outbox.heard(from: "a", descriptor: 7, at: 0)
        for _ in 0..<OutboxLimits().messages {
            #expect(outbox.append(message("x"), for: "a", over: nil, at: 0).isEmpty)
        }
        _ = outbox.heard(from: "a", descriptor: 7, at: 0)
        let cuts = outbox.append(message("x"), for: "a", over: nil, at: OutboxLimits().patience)
        #expect(cuts.map(\.client) == ["a"] && cuts.map(\.descriptor) == [7])
        #expect(outbox.isEmpty && outbox.bytes == 0 && outbox.nextAttempt() == nil)
    }

    @Test func aClientThatReadsMayHaveMoreWaitingForAMoment() {
        let limits = OutboxLimits()
        var outbox = Outbox()
        for _ in 0..<5 * limits.messages { #expect(outbox.append(message("x"), for: "a", over: nil, at: 0).isEmpty) }
        // It takes something each time, and more comes than it takes.
        var now: Int64 = 0
        for _ in 0..<10 {
            now += limits.patience - 1
            var room = 3
            outbox.flush(at: now) { _, _, _ in
                room -= 1
                return room >= 0
            }
            #expect(outbox.append(message("x"), for: "a", over: nil, at: now).isEmpty)
        }
        #expect(outbox.append(message("x"), for: "a", over: nil, at: now + limits.patience).map(\.client) == ["a"])
    }

    @Test func howeverWellAClientReadsThereIsABoundToWhatWaits() {
        let limits = OutboxLimits()
        var outbox = Outbox()
        for _ in 0..<limits.mostMessages { _ = outbox.append(message("x"), for: "a", over: nil, at: 0) }
        #expect(outbox.append(message("x"), for: "a", over: nil, at: 0).map(\.client) == ["a"])
    }

    @Test func aCutClientWhoseConnectionIsNotKnownGetsNothingUntilItIsShut() {
        var outbox = Outbox()
        for _ in 0..<OutboxLimits().messages { _ = outbox.append(message("x"), for: "a", over: nil, at: 0) }
        let later = OutboxLimits().patience
        #expect(outbox.append(message("x"), for: "a", over: nil, at: later).map(\.descriptor) == [nil])
        #expect(outbox.holds("a") && !outbox.isEmpty)
        #expect(outbox.append(message("later"), for: "a", over: nil, at: 1).isEmpty)
        outbox.flush(at: 1_000) { _, _, _ in
            Issue.record("a message went through after one was lost")
            return true
        }
        #expect(outbox.heard(from: "a", descriptor: nil, at: 2) == nil)
        #expect(outbox.heard(from: "a", descriptor: 9, at: 2) == 9)
        #expect(outbox.heard(from: "a", descriptor: 9, at: 2) == nil)
        #expect(outbox.isEmpty)
    }

    @Test func aClientIsCutForItsBytesButOneMessageIsKeptHoweverLongItIs() {
        var outbox = Outbox()
        let long = [[UInt8](repeating: 0, count: OutboxLimits().bytes)]
        #expect(outbox.append(long, for: "a", over: nil, at: 0).isEmpty)
        #expect(outbox.append(message("x"), for: "a", over: nil, at: 0).map(\.client) == ["a"])
        #expect(outbox.bytes == 0)
    }

    @Test func whereAllHoldTooMuchTheOneWithMostIsCut() {
        var outbox = Outbox()
        let share = OutboxLimits().totalBytes / 6
        for client in ["a", "b", "c", "d", "e"] {
            let size = share + (client == "c" ? 9 : 0)
            _ = outbox.append([[UInt8](repeating: 0, count: size)], for: client, over: nil, at: 0)
        }
        #expect(outbox.append([[UInt8](repeating: 0, count: share)], for: "f", over: nil, at: 0).map(\.client) == ["c"])
        #expect(outbox.bytes == share * 5)
        #expect(outbox.holds("f"))
    }

    /// What libzmq has of a large message.
    private func message(of bytes: Int, in held: HeldBytes) -> Message {
        let frame: [UInt8] = [0]
        return Message(copying: frame.span, weighing: bytes, in: held)
    }

    @Test func whatAPipeHoldsCountsOnceNothingHasLeftItForTooLong() {
        let limits = OutboxLimits()
        var outbox = Outbox()
        let held = outbox.held(for: "a", over: 7, at: 0)
        let unread = message(of: limits.bytes, in: held)
        #expect(outbox.gave("a", at: 0).isEmpty && outbox.nextAttempt() == nil)
        let more = message(of: 1, in: held)
        #expect(outbox.gave("a", at: 1_000).isEmpty && outbox.isEmpty && !outbox.holds("a"))
        #expect(outbox.nextAttempt() == limits.patience)
        #expect(outbox.cutCrowded(at: limits.patience - 1).isEmpty)
        let cuts = outbox.cutCrowded(at: limits.patience)
        #expect(cuts.map(\.client) == ["a"] && cuts.map(\.descriptor) == [7])
        #expect(outbox.nextAttempt() == nil)
        #expect(outbox.isHeavy(at: limits.patience) == false)
        #expect(unread.count + more.count == 2)
    }

    @Test func whoTakesSomethingOfALargePipeIsLeftAlone() {
        let limits = OutboxLimits()
        var outbox = Outbox()
        let held = outbox.held(for: "a", over: 7, at: 0)
        let unread = message(of: limits.bytes, in: held)
        let next = message(of: 1, in: held)
        do {
            let read = message(of: 1, in: held)
            #expect(!read.isEmpty && outbox.gave("a", at: 0).isEmpty)
        }
        #expect(outbox.cutCrowded(at: limits.patience).isEmpty)
        #expect(outbox.nextAttempt() == 2 * limits.patience)
        #expect(outbox.cutCrowded(at: 2 * limits.patience).map(\.client) == ["a"])
        #expect(unread.count == next.count)
    }

    @Test func whatWaitsHereAndWhatThePipeHoldsCountTogether() {
        let limits = OutboxLimits()
        var outbox = Outbox()
        let unread = message(of: limits.bytes, in: outbox.held(for: "a", over: 7, at: 0))
        _ = outbox.gave("a", at: 0)
        #expect(outbox.append(message("x"), for: "a", over: 7, at: 1).isEmpty)
        #expect(outbox.append(message("y"), for: "a", over: 7, at: limits.patience).isEmpty, "found full a moment ago")
        #expect(outbox.append(message("z"), for: "a", over: 7, at: 1 + limits.patience).map(\.client) == ["a"])
        #expect(outbox.isEmpty && outbox.bytes == 0 && !unread.isEmpty)
    }

    @Test func whereAllPipesHoldTooMuchWhoTakesNothingIsCutBeforeWhoHasMost() {
        let limits = OutboxLimits()
        var outbox = Outbox()
        let half = limits.totalBytes / 2
        let still = message(of: half / 4, in: outbox.held(for: "still", over: 7, at: 0))
        #expect(outbox.gave("still", at: 0).isEmpty)
        let now = limits.patience
        let large = message(of: half, in: outbox.held(for: "large", over: 8, at: now))
        #expect(outbox.gave("large", at: now).isEmpty)
        #expect(outbox.isHeavy(at: now) == true)
        let other = message(of: half, in: outbox.held(for: "other", over: 9, at: now))
        #expect(outbox.gave("other", at: now).map(\.client) == ["still"])
        let last = message(of: 1, in: outbox.held(for: "large", over: 8, at: now))
        #expect(outbox.gave("large", at: now).map(\.client) == ["large"])
        #expect([still.count, large.count, other.count] == Array(repeating: last.count, count: 3))
    }

    @Test func whatAConnectionsPipeHeldEndsWithIt() {
        let limits = OutboxLimits()
        var outbox = Outbox()
        let unread = message(of: limits.bytes + 1, in: outbox.held(for: "a", over: 7, at: 0))
        _ = outbox.gave("a", at: 0)
        outbox.connectionHasEnded(8, of: "a")
        #expect(outbox.isHeavy(at: 0) == true)
        outbox.connectionHasEnded(7, of: "a")
        #expect(outbox.isHeavy(at: 0) == false)
        #expect(outbox.cutCrowded(at: limits.patience).isEmpty && outbox.nextAttempt() == nil)
        // The next one of the name begins anew, also where the end of the one before is told late.
        let former = outbox.held(for: "b", over: 7, at: 0)
        #expect(outbox.held(for: "b", over: nil, at: 0) === former && outbox.held(for: "b", over: 7, at: 0) === former)
        #expect(outbox.held(for: "b", over: 9, at: 0) !== former && !unread.isEmpty)
    }

    @Test func whatWasReadIsNoLoadForLong() {
        let limits = OutboxLimits()
        var outbox = Outbox()
        do {
            let read = message(of: limits.locatingBytes + 1, in: outbox.held(for: "a", over: 7, at: 0))
            #expect(outbox.gave("a", at: 0).isEmpty && !read.isEmpty)
        }
        #expect(outbox.isHeavy(at: limits.lookInterval - 1) == true)
        #expect(outbox.isHeavy(at: limits.lookInterval) == false)
    }

    @Test func pipesThatHoldNothingAreForgotten() {
        var outbox = PeerOutbox<Int>()
        let first = outbox.held(for: 0, over: nil, at: 0)
        let kept = outbox.held(for: 1, over: nil, at: 0)
        let unread = message(of: 1, in: kept)
        for client in 2..<200 { _ = outbox.held(for: client, over: nil, at: 0) }
        #expect(outbox.held(for: 0, over: nil, at: 0) !== first)
        #expect(outbox.held(for: 1, over: nil, at: 0) === kept && !unread.isEmpty)
    }

    @Test func clientsThatAreCutAndNeverHeardOfAreBounded() {
        var limits = OutboxLimits()
        limits.messages = 1
        limits.patience = 0
        limits.cutClients = 3
        var outbox = PeerOutbox<Int>(limits: limits)
        for client in 0..<4 {
            _ = outbox.append([[1]], for: client, over: nil, at: 0)
            _ = outbox.append([[1]], for: client, over: nil, at: 0)
        }
        #expect((0..<4).map { outbox.holds($0) } == [false, true, true, true])
        #expect(outbox.bytes == 0)
    }

    @Test func whatWaitsEndsWithTheConnectionThatItIsFor() {
        var outbox = Outbox()
        _ = outbox.append(message("1"), for: "a", over: 7, at: 0)
        _ = outbox.append(message("1"), for: "b", over: 8, at: 0)
        outbox.connectionHasEnded(8, of: "a")
        #expect(outbox.count(for: "a") == 1)
        outbox.connectionHasEnded(7, of: "a")
        #expect(!outbox.holds("a") && outbox.count(for: "b") == 1)
        #expect(outbox.bytes == 1)
        outbox.flush(at: 1) { client, _, _ in client == "b" }
        #expect(outbox.isEmpty && outbox.bytes == 0 && outbox.nextAttempt() == nil)
    }

    @Test func whoeverSpeaksOverAnotherConnectionGetsNothingOfTheOneBefore() {
        var outbox = Outbox()
        _ = outbox.append(message("1"), for: "a", over: 7, at: 0)
        #expect(outbox.heard(from: "a", descriptor: 9, at: 1) == nil)
        #expect(outbox.isEmpty && outbox.bytes == 0)
        _ = outbox.append(message("2"), for: "a", over: 9, at: 1)
        // The end of the former one is told late.
        outbox.connectionHasEnded(7, of: "a")
        #expect(outbox.count(for: "a") == 1)
    }

    @Test func aConnectionThatIsFoundOutLaterIsTheOneThatItWaitedFor() {
        var outbox = Outbox()
        _ = outbox.append(message("1"), for: "a", over: nil, at: 0)
        outbox.connectionHasEnded(7, of: "a")
        #expect(outbox.heard(from: "a", descriptor: 8, at: 1) == nil)
        #expect(outbox.heard(from: "a", descriptor: nil, at: 1) == nil)
        #expect(outbox.count(for: "a") == 1)
        outbox.connectionHasEnded(8, of: "a")
        #expect(outbox.isEmpty)
    }
}
