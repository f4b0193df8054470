import IsletServer
import Testing

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
        outbox.flush(at: 1) { pipes.take($0, $1) }
        #expect(pipes.taken == ["a1", "a2"])
        #expect(outbox.count(for: "a") == 1)
        _ = outbox.append(message("4"), for: "a", over: nil, at: 1)
        pipes.room["a"] = 9
        outbox.flush(at: 2) { pipes.take($0, $1) }
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
            outbox.flush(at: now) { _, _ in false }
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64, 64])
        // Nothing is tried before its time.
        outbox.flush(at: now) { _, _ in
            Issue.record("tried too early")
            return false
        }
    }

    @Test func aMessageFromTheClientBringsTheNextTryForward() {
        var outbox = Outbox()
        var pipes = Pipes()
        _ = outbox.append(message("1"), for: "a", over: nil, at: 0)
        for now in [1, 3, 7, 15] as [Int64] { outbox.flush(at: now) { _, _ in false } }
        #expect(outbox.heard(from: "a", descriptor: 7, at: 16) == nil)
        #expect(outbox.nextAttempt() == 16)
        pipes.room["a"] = 1
        outbox.flush(at: 16) { pipes.take($0, $1) }
        #expect(pipes.taken == ["a1"])
    }

    @Test func oneClientDoesNotHoldUpAnother() {
        var outbox = Outbox()
        var pipes = Pipes()
        _ = outbox.append(message("1"), for: "full", over: nil, at: 0)
        _ = outbox.append(message("1"), for: "free", over: nil, at: 0)
        pipes.room["free"] = 1
        outbox.flush(at: 1) { pipes.take($0, $1) }
        #expect(pipes.taken == ["free1"])
        #expect(outbox.holds("full") && !outbox.holds("free"))
    }

    @Test func aTurnTriesSoManyClientsAndTheOthersInTheNext() {
        var outbox = Outbox()
        let clients = (0..<100).map { "c\($0)" }
        for client in clients { _ = outbox.append(message("1"), for: client, over: nil, at: 0) }
        var seen: [String] = []
        for _ in 0..<2 {
            outbox.flush(at: 1) { client, _ in
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
            outbox.flush(at: now) { _, _ in
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
        outbox.flush(at: 1_000) { _, _ in
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
        outbox.flush(at: 1) { client, _ in client == "b" }
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
