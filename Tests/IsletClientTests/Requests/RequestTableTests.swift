import IsletClient
import Testing

/// Requests: their numbers, their repetitions, their ends.
@Suite struct RequestTableTests {
    private var table = RequestTable(
        prefix: "t", client: "c", backoff: Backoff(first: .milliseconds(100), maximum: .seconds(1)))
    private var generator = SplitMix(state: 1)
    private let start = ContinuousClock.now
    private let command = Command("activity.heartbeat", ["key": .string("k")])

    private mutating func begin(timeout: Duration = .seconds(10)) throws -> (req: String, frame: [UInt8]) {
        try table.begin(command, timeout: timeout, now: start, using: &generator).get()
    }

    private func answer(_ req: String) -> [UInt8] {
        Array(#"{"req":"\#(req)","ok":true}"#.utf8)
    }

    @Test mutating func `numbers rise and every frame has its own`() throws {
        let first = try begin()
        let second = try begin()
        #expect([first.req, second.req] == ["t-1", "t-2"])
        #expect(
            String(decoding: first.frame, as: UTF8.self)
                == #"{"op":"activity.heartbeat","req":"t-1","client":"c","key":"k"}"#)
    }

    @Test mutating func `an answer ends its request and only that`() throws {
        _ = try begin()
        _ = try begin()
        guard case .finished(let req, .success) = table.received(answer("t-2"), now: start) else {
            Issue.record("not finished")
            return
        }
        #expect(req == "t-2")
        #expect(table.received(answer("t-2"), now: start) == .unknown)
        #expect(table.waits(req: "t-1"))
        #expect(!table.waits(req: "t-2"))
    }

    @Test(arguments: ["op", "req", "client"])
    mutating func `what stands in a frame beside the fields is no field`(name: String) {
        let twice = Command("activity.heartbeat", ["key": .string("k"), name: .string("mine")])
        guard case .failure(.invalid) = table.begin(twice, timeout: .seconds(1), now: start, using: &generator) else {
            Issue.record("it would stand twice")
            return
        }
        #expect(table.count == 0)
    }

    @Test mutating func `what is no answer belongs to nobody`() throws {
        _ = try begin()
        #expect(table.received(Array("nonsense".utf8), now: start) == .unknown)
        #expect(table.received(answer("other-1"), now: start) == .unknown)
        guard case .finished(_, .failure(.unreadable)) = table.received(Array(#"{"req":"t-1"}"#.utf8), now: start)
        else {
            Issue.record("an answer without ok is unreadable")
            return
        }
    }

    @Test(arguments: ["activity.list", "control.get", "widget.snapshot", "service.ping"])
    mutating func `a read is not sent again by a connection that stands before long`(op: String) throws {
        _ = try table.begin(Command(op), timeout: .seconds(60), now: start, using: &generator).get()
        let again = start + RequestTable.standingPatience
        #expect(table.nextWakeUp == again)
        #expect(table.due(now: again, using: &generator).count == 1)
    }

    /// A heartbeat whose frame has so many bytes.
    private func heartbeat(bytes: Int) -> Command {
        let rest = Command("activity.heartbeat", ["key": .string("")]).frame(req: "t-1", client: "c").count
        return Command("activity.heartbeat", ["key": .string(String(repeating: "k", count: bytes - rest))])
    }

    @Test(arguments: [(RequestTable.smallFrame, true), (RequestTable.smallFrame + 8, false)])
    mutating func `only a small change is sent again by a connection that stands`(bytes: Int, isSent: Bool) throws {
        _ = try table.begin(heartbeat(bytes: bytes), timeout: .seconds(60), now: start, using: &generator).get()
        #expect(table.due(now: start + .seconds(1), using: &generator).count == (isSent ? 1 : 0))
    }

    @Test mutating func `while much waits nothing is sent again by a connection that stands`() throws {
        let small = heartbeat(bytes: RequestTable.smallFrame - 10)
        let count = RequestTable.smallBacklog / RequestTable.smallFrame
        for _ in 0...count { _ = try table.begin(small, timeout: .seconds(60), now: start, using: &generator).get() }
        #expect(table.due(now: start + .seconds(1), using: &generator).count == count)
        // What was answered or given up waits no more.
        _ = table.received(answer("t-1"), now: start + .seconds(1))
        table.cancel(req: "t-2")
        for _ in 0..<2 {
            _ = try table.begin(small, timeout: .seconds(60), now: start + .seconds(1), using: &generator).get()
        }
        let sent = table.due(now: start + .seconds(2), using: &generator).compactMap { action -> String? in
            if case .send(let req, _) = action { req } else { nil }
        }
        #expect(sent.contains("t-\(count + 2)") && !sent.contains("t-\(count + 1)"), "\(sent)")
    }

    @Test mutating func `what left by a connection that was lost is sent again at once, in its order`() throws {
        let commands = [command, Command("activity.list"), heartbeat(bytes: 2_000)]
        var frames: [[UInt8]] = []
        for command in commands {
            frames.append(try table.begin(command, timeout: .seconds(60), now: start, using: &generator).get().frame)
        }
        _ = try begin()
        let busy = #"{"req":"t-4","ok":false,"error":{"code":"busy","retry":"later","retryAfter":5000}}"#
        _ = table.received(Array(busy.utf8), now: start)
        for number in 1...3 {
            let now = start + .milliseconds(20 * number)
            table.connectionWasLost(now: now)
            #expect(table.nextWakeUp == now)
            let sent = table.due(now: now, using: &generator).compactMap { action -> [UInt8]? in
                if case .send(_, let frame) = action { frame } else { nil }
            }
            #expect(sent == frames, "what is to be sent later is not sent now")
            #expect(table.due(now: now, using: &generator).isEmpty)
        }
    }

    /// Rounds of as many updates on a link that brings an answer each 29 ms and stands still once, for 600 ms: the updates of
    /// a round come when the ones before have ended.
    @Test mutating func `one stall of a slow connection is not repeated for ever`() throws {
        let (count, pace) = (150, Duration.milliseconds(29))
        let update = heartbeat(bytes: 3_500)
        var (now, free) = (start, start)
        var arriving: [(at: ContinuousClock.Instant, req: String)] = []
        var copies = 0
        func carry(_ req: String) {
            free = max(free, now) + pace
            arriving.append((free, req))
        }
        for round in 0..<6 {
            for _ in 0..<count {
                carry(try table.begin(update, timeout: .seconds(10), now: now, using: &generator).get().req)
            }
            if round == 0 {
                for index in arriving.indices where index >= 20 { arriving[index].at += .milliseconds(600) }
                free += .milliseconds(600)
            }
            while table.count > 0 {
                now = min(arriving.first?.at ?? table.nextWakeUp ?? now, table.nextWakeUp ?? now)
                while let first = arriving.first, first.at <= now {
                    arriving.removeFirst()
                    _ = table.received(answer(first.req), now: now)
                }
                for action in table.due(now: now, using: &generator) {
                    switch action {
                    case .send(let req, _):
                        copies += 1
                        carry(req)
                    case .timeOut(let req, _, _): Issue.record("\(req) was given up in round \(round)")
                    }
                }
            }
        }
        #expect(copies <= count, "\(copies) copies")
    }

    @Test mutating func `an answer to a further copy tells that the connection brings something`() throws {
        _ = try begin()
        let again = start + .milliseconds(100)
        #expect(table.due(now: again, using: &generator).count == 1)
        guard case .finished = table.received(answer("t-1"), now: again) else {
            Issue.record("not finished")
            return
        }
        let next = try table.begin(command, timeout: .seconds(10), now: again, using: &generator).get()
        #expect(table.received(answer("t-1"), now: again + .milliseconds(49)) == .unknown)
        #expect(table.due(now: again + .milliseconds(98), using: &generator).isEmpty)
        #expect(table.due(now: again + .milliseconds(149), using: &generator) == [.send(req: next.req, frame: next.frame)])
    }

    @Test mutating func `repetitions come later each time, with the same frame, until time is over`() throws {
        let frame = try begin(timeout: .seconds(5)).frame
        var times: [Duration] = []
        while let wakeUp = table.nextWakeUp {
            #expect(table.due(now: wakeUp - .milliseconds(1), using: &generator).isEmpty)
            let actions = table.due(now: wakeUp, using: &generator)
            times.append(wakeUp - start)
            let change = UnansweredChange(op: "activity.heartbeat", wasSent: false)
            if actions == [.timeOut(req: "t-1", after: .seconds(5), change: change)] { break }
            #expect(actions == [.send(req: "t-1", frame: frame)])
        }
        #expect(times.last == .seconds(5))
        #expect(times.count >= 6)
        #expect(times[0] >= .milliseconds(50) && times[0] <= .milliseconds(100))
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= .seconds(1) })
        #expect(table.count == 0)
        #expect(table.nextWakeUp == nil)
    }

    @Test mutating func `a change that is given up says whether an attempt has left, and a read is no change`() throws {
        let end = start + .seconds(1)
        _ = try begin(timeout: .seconds(1))
        _ = try begin(timeout: .seconds(1))
        _ = try table.begin(Command("service.ping"), timeout: .seconds(1), now: start, using: &generator).get()
        table.left(req: "t-2")
        #expect(table.changes.map(\.change.wasSent) == [false, true])
        let unsent = UnansweredChange(op: "activity.heartbeat", wasSent: false)
        let sent = UnansweredChange(op: "activity.heartbeat", wasSent: true)
        #expect(
            table.due(now: end, using: &generator) == [
                .timeOut(req: "t-1", after: .seconds(1), change: unsent),
                .timeOut(req: "t-2", after: .seconds(1), change: sent),
                .timeOut(req: "t-3", after: .seconds(1), change: nil),
            ])
    }

    @Test mutating func `busy postpones by what the service says`() throws {
        _ = try begin()
        let busy = Array(#"{"req":"t-1","ok":false,"error":{"code":"busy","retryAfter":3000}}"#.utf8)
        #expect(table.received(busy, now: start) == .postponed)
        #expect(table.due(now: start + .milliseconds(2_999), using: &generator).isEmpty)
        #expect(table.due(now: start + .seconds(3), using: &generator).count == 1)
    }

    @Test mutating func `busy for longer than there is time is the answer`() throws {
        _ = try begin(timeout: .seconds(2))
        let busy = Array(#"{"req":"t-1","ok":false,"error":{"code":"busy","retryAfter":3000}}"#.utf8)
        guard case .finished(_, .failure(let error)) = table.received(busy, now: start) else {
            Issue.record("not finished")
            return
        }
        #expect(error.code == .busy)
    }

    private func refusal(_ req: String) -> [UInt8] {
        Array(#"{"req":"\#(req)","ok":false,"error":{"code":"conflict","retry":"refresh"}}"#.utf8)
    }

    /// Begins one, and lets it be sent once more and the first copy be refused; what is sent then.
    private mutating func refuseFirstCopy() throws -> [RequestTable.Action] {
        _ = try begin()
        let again = start + .milliseconds(100)
        #expect(table.due(now: again, using: &generator).count == 1)
        #expect(table.received(refusal("t-1"), now: again) == .postponed)
        #expect(table.nextWakeUp == again)
        return table.due(now: again, using: &generator)
    }

    @Test mutating func `a change is not refused that a later copy of it has executed`() throws {
        _ = try refuseFirstCopy()
        guard case .finished("t-1", .success) = table.received(answer("t-1"), now: start + .milliseconds(110)) else {
            Issue.record("not finished")
            return
        }
        #expect(table.received(answer("t-1?"), now: start + .milliseconds(120)) == .unknown)
        #expect(table.count == 0)
    }

    @Test(arguments: ["t-1", "t-1?"])
    mutating func `a change is refused once each of its copies is, or a ping behind them is answered`(last: String) throws {
        let ping = Array(#"{"op":"service.ping","req":"t-1?"}"#.utf8)
        #expect(try refuseFirstCopy() == [.send(req: "t-1?", frame: ping)])
        #expect(table.waits(req: "t-1?"))
        let end = table.received(last == "t-1" ? refusal(last) : answer(last), now: start + .milliseconds(110))
        guard case .finished("t-1", .failure(let error)) = end else {
            Issue.record("not finished")
            return
        }
        #expect(error.code == .conflict)
        #expect(table.count == 0 && !table.waits(req: "t-1?"))
    }

    @Test mutating func `what was refused is not sent again, and whether a copy was executed stays unknown without an answer`() throws {
        _ = try refuseFirstCopy()
        var last: [RequestTable.Action] = []
        while let wakeUp = table.nextWakeUp {
            last = table.due(now: wakeUp, using: &generator)
            for case .send(let req, _) in last { #expect(req == "t-1?") }
        }
        guard case .timeOut("t-1", _, _) = last.first else {
            Issue.record("it has not ended")
            return
        }
    }

    @Test mutating func `a read is refused by the first answer`() throws {
        _ = try table.begin(
            Command("activity.get", ["key": .string("k")]), timeout: .seconds(10), now: start, using: &generator).get()
        table.connectionWasLost(now: start)
        #expect(table.due(now: start + .milliseconds(100), using: &generator).count == 1)
        guard case .finished("t-1", .failure) = table.received(refusal("t-1"), now: start + .milliseconds(100)) else {
            Issue.record("not finished")
            return
        }
    }

    @Test mutating func `a cancelled one is not sent again and not answered`() throws {
        _ = try begin()
        table.cancel(req: "t-1")
        #expect(table.due(now: start + .seconds(60), using: &generator).isEmpty)
        #expect(table.received(answer("t-1"), now: start) == .unknown)
    }

    @Test(arguments: [(64, true), (65, false), (128, false)])
    mutating func `what nests deeper than the service reads is not sent`(depth: Int, isSent: Bool) throws {
        let value = try #require(RawJSON(String(repeating: "[", count: depth) + String(repeating: "]", count: depth)))
        let begun = table.begin(Command("a.b", ["x": value]), timeout: .seconds(1), now: start, using: &generator)
        switch begun {
        case .success: #expect(isSent)
        case .failure(.invalid): #expect(!isSent)
        case .failure(let error): Issue.record("\(error)")
        }
        #expect(table.count == (isSent ? 1 : 0))
    }

    @Test mutating func `what falls due together goes in the order of its numbers`() throws {
        for _ in 1...12 { _ = try begin() }
        let actions = table.due(now: start + .milliseconds(100), using: &generator)
        let order = actions.compactMap { action -> String? in
            if case .send(let req, _) = action { req } else { nil }
        }
        #expect(order == (1...12).map { "t-\($0)" })
    }

    @Test(arguments: [16, 17])
    mutating func `what was lost with its message is sent again together, however often`(count: Int) throws {
        let begun = table.begin(
            message: Array(repeating: command, count: count), timeout: .seconds(900), now: start, using: &generator)
        let frames = try begun.map { try $0.get().frame }
        for _ in 1...5 {
            let now = try #require(table.nextWakeUp)
            let sent = table.due(now: now, using: &generator).compactMap { action -> [UInt8]? in
                if case .send(_, let frame) = action { frame } else { nil }
            }
            #expect(sent == frames)
        }
    }

    /// What is sent again while `count` requests that were begun together are answered in their order, one each `pace`.
    private mutating func repetitions(of count: Int, pace: Duration) throws -> Int {
        for _ in 0..<count { _ = try begin() }
        var repeated = 0
        for number in 1...count {
            let now = start + pace * number
            repeated += table.due(now: now, using: &generator).count
            _ = table.received(answer("t-\(number)"), now: now)
        }
        #expect(table.count == 0)
        return repeated
    }

    @Test mutating func `what only waits its turn behind others that are answered is not sent again`() throws {
        let repeated = try repetitions(of: 2_000, pace: .milliseconds(4))
        #expect(repeated == 0)
    }

    @Test mutating func `what was overtaken by an answer to a later one is sent again`() throws {
        let first = try begin()
        _ = try begin()
        _ = table.received(answer("t-2"), now: start + .milliseconds(90))
        #expect(
            table.due(now: start + .milliseconds(100), using: &generator)
                == [.send(req: first.req, frame: first.frame)])
    }

    @Test mutating func `once answers have ceased to come for as long as one may take, all that wait are sent again`() throws {
        for _ in 0..<10 { _ = try begin() }
        for number in 1...5 { _ = table.received(answer("t-\(number)"), now: start + .milliseconds(90)) }
        #expect(table.due(now: start + .milliseconds(139), using: &generator).isEmpty)
        #expect(table.due(now: start + .milliseconds(190), using: &generator).count == 5)
    }

    @Test mutating func `what wants no answer is refused, since there is none to wait for`() throws {
        let silent = Command("activity.heartbeat", ["key": .string("k"), "ack": .string("none")])
        let result = table.begin(silent, timeout: .seconds(1), now: start, using: &generator)
        guard case .failure(.invalid) = result else {
            Issue.record("it waits")
            return
        }
        #expect(table.count == 0)
    }

    @Test mutating func `a frame of the longest length is taken, and one byte more is refused`() throws {
        let bare = Command("service.ping", ["pad": .string("")]).frame(req: "t-1", client: nil).count
        for (extra, isTaken) in [(0, true), (1, false)] {
            let pad = String(repeating: "x", count: RequestTable.maximumFrame - bare + extra)
            let result = table.begin(
                Command("service.ping", ["pad": .string(pad)]), timeout: .seconds(1), now: start, using: &generator)
            let wasTaken = (try? result.get()) != nil
            #expect(wasTaken == isTaken)
        }
    }

    @Test mutating func `there is a limit`() throws {
        for _ in 0..<RequestTable.maximumCount { _ = try begin() }
        let last = table.begin(command, timeout: .seconds(1), now: start, using: &generator)
        #expect(throws: IsletError.overloaded(limit: RequestTable.maximumCount)) { _ = try last.get() }
    }
}
