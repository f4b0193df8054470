import IsletClient
import Testing

/// Pulls: how many at once, how long, and which message belongs to which.
@Suite struct PullTableTests {
    private var table = PullTable()
    private let start = ContinuousClock.now

    private func owner(_ app: String) -> PullTable.Owner { .init(reader: 1, app: app) }

    private func frames(_ actions: [PullTable.Action]) -> [String] {
        actions.compactMap { action in
            switch action {
            case .send(_, let frame), .credit(let frame), .cancel(_, let frame): String(decoding: frame, as: UTF8.self)
            case .timeOut: nil
            }
        }
    }

    @Test mutating func `a pull is asked for with credit`() {
        _ = table.request(.snapshot(prefix: nil), for: owner("a"), notBefore: start)
        _ = table.request(.replay(from: 7), for: owner("b"), notBefore: start)
        _ = table.request(.digest(prefix: "c/x/"), for: owner("c"), notBefore: start)
        #expect(
            frames(table.due(now: start)) == [
                #"{"op":"bulk.snapshot","req":"p-1","app":"a","credit":4}"#,
                #"{"op":"bulk.replay","req":"p-2","app":"b","from":7,"credit":4}"#,
                #"{"op":"bulk.digest","req":"p-3","app":"c","prefix":"c/x/"}"#,
            ])
        #expect(frames(table.credit(owner("a"))) == [#"{"op":"bulk.credit","req":"p-1","credit":1}"#])
    }

    @Test mutating func `what is to be sent of a pull is of use for as long as that is wanted`() {
        _ = table.request(.replay(from: 7), for: owner("a"), notBefore: start)
        let asked = table.due(now: start)
        #expect(asked.map { if case .send(let req, _) = $0 { table.wants(req: req) } else { false } } == [true])
        let given = table.due(now: start + PullTable.silence)
        #expect(frames(given) == [#"{"op":"bulk.cancel","req":"p-1"}"#])
        #expect(!table.wants(req: "p-1"))
    }

    @Test mutating func `four run at once and the others follow`() {
        for app in ["a", "b", "c", "d", "e", "f"] {
            _ = table.request(.snapshot(prefix: nil), for: owner(app), notBefore: start)
        }
        #expect(table.due(now: start).count == 4)
        #expect(table.due(now: start).isEmpty)
        let end = Array(#"{"req":"p-2","epoch":"e","end":true,"seq":1}"#.utf8)
        guard case .chunk(let finished, _) = table.received([end], now: start) else {
            Issue.record("not a chunk")
            return
        }
        #expect(finished == owner("b"))
        #expect(frames(table.due(now: start)).first?.contains(#""app":"e""#) == true)
    }

    @Test mutating func `another pull of the same stream takes the place of the one before`() {
        _ = table.request(.replay(from: 1), for: owner("a"), notBefore: start)
        _ = table.due(now: start)
        let actions = table.request(.snapshot(prefix: nil), for: owner("a"), notBefore: start)
        #expect(frames(actions) == [#"{"op":"bulk.cancel","req":"p-1"}"#])
        let late = Array(#"{"req":"p-1","epoch":"e","end":true,"seq":1}"#.utf8)
        #expect(table.received([late], now: start) == .unknown)
    }

    @Test mutating func `silence ends a pull and chunks hold that up`() {
        _ = table.request(.snapshot(prefix: nil), for: owner("a"), notBefore: start)
        _ = table.due(now: start)
        let chunk = Array(#"{"req":"p-1","epoch":"e"}"#.utf8)
        let later = start + PullTable.silence - .milliseconds(1)
        _ = table.received([chunk], now: later)
        #expect(table.due(now: later + .milliseconds(2)).isEmpty)
        #expect(table.nextWakeUp == later + PullTable.silence)
        let actions = table.due(now: later + PullTable.silence)
        #expect(actions.first == .timeOut(owner("a"), isDigest: false))
        #expect(table.count == 0)
    }

    @Test mutating func `by a slow connection what comes of one pull holds up the end of all`() {
        for app in ["a", "b"] { _ = table.request(.replay(from: 1), for: owner(app), notBefore: start) }
        _ = table.due(now: start)
        _ = table.request(.replay(from: 2), for: owner("b"), notBefore: start)
        _ = table.due(now: start)
        var now = start
        // What is left of one that was given up counts as well.
        for req in ["p-1", "p-1", "p-2", "p-2"] {
            now += PullTable.silence - .seconds(1)
            _ = table.received([Array(#"{"req":"\#(req)","epoch":"e"}"#.utf8)], now: now)
            #expect(table.due(now: now).isEmpty, "after \(now - start)")
        }
        #expect(table.wants(req: "p-3"))
        let actions = table.due(now: now + PullTable.silence)
        #expect(actions.contains(.timeOut(owner("a"), isDigest: false)))
        #expect(actions.contains(.timeOut(owner("b"), isDigest: false)))
    }

    @Test mutating func `a lost connection ends what was asked for on it`() {
        for app in ["a", "b"] { _ = table.request(.replay(from: 1), for: owner(app), notBefore: start) }
        _ = table.request(.digest(prefix: "a/x/"), for: owner("a"), notBefore: start)
        _ = table.request(.replay(from: 1), for: owner("c"), notBefore: start + .seconds(1))
        _ = table.due(now: start)
        let lost = table.connectionLost { $0 == "p-2" }
        #expect(lost == [.timeOut(owner("a"), isDigest: false), .timeOut(owner("a"), isDigest: true)])
        let kept = ["p-1", "p-2", "p-3", "p-4"].map { table.wants(req: $0) }
        #expect(kept == [false, true, false, true], "one was not sent, and one has not begun")
    }

    @Test mutating func `of a peek one chunk is asked for`() {
        _ = table.request(.replay(from: 7), for: .init(reader: -1, app: "a"), notBefore: start)
        #expect(
            frames(table.due(now: start)) == [#"{"op":"bulk.replay","req":"p-1","app":"a","from":7,"credit":1}"#])
    }

    @Test mutating func `a chunk that came before is nobody's, and after a lost one the pull is of no use`() {
        _ = table.request(.snapshot(prefix: nil), for: owner("a"), notBefore: start)
        _ = table.due(now: start)
        let chunks = (0...2).map { Array(#"{"req":"p-1","chunk":\#($0),"epoch":"e"}"#.utf8) }
        guard case .chunk = table.received([chunks[0]], now: start) else {
            Issue.record("not a chunk")
            return
        }
        #expect(table.received([chunks[0]], now: start) == .unknown)
        #expect(table.received([chunks[2]], now: start) == .chunksLost(owner("a")))
    }

    @Test mutating func `a pull waits for its time`() {
        _ = table.request(.snapshot(prefix: nil), for: owner("a"), notBefore: start + .seconds(1))
        #expect(table.due(now: start).isEmpty)
        #expect(table.nextWakeUp == start + .seconds(1))
        #expect(table.due(now: start + .seconds(1)).count == 1)
    }

    @Test mutating func `an answer to a digest is a digest`() {
        _ = table.request(.digest(prefix: "a/"), for: owner("a"), notBefore: start)
        _ = table.due(now: start)
        let answer = Array(#"{"req":"p-1","epoch":"e","seq":5,"entities":2,"digest":"00000000000000ff"}"#.utf8)
        let mark = Watermark(position: StreamPosition(epoch: "e", seq: 5), entities: 2, digest: 255)
        #expect(table.received([answer], now: start) == .digest(owner("a"), mark))
    }

    @Test mutating func `messages that are none of the contract are nobody's`() {
        _ = table.request(.snapshot(prefix: nil), for: owner("a"), notBefore: start)
        _ = table.due(now: start)
        for frames in [["x"], [], [#"{"req":"p-1"}"#, "topic"], [#"{"req":"p-1","end":true}"#], [#"{"a":1}"#]] {
            #expect(table.received(frames.map { Array($0.utf8) }, now: start) == .unknown, "\(frames)")
        }
    }
}
