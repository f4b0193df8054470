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

    @Test mutating func `repetitions come later each time, with the same frame, until time is over`() throws {
        let frame = try begin(timeout: .seconds(5)).frame
        var times: [Duration] = []
        while let wakeUp = table.nextWakeUp {
            #expect(table.due(now: wakeUp - .milliseconds(1), using: &generator).isEmpty)
            let actions = table.due(now: wakeUp, using: &generator)
            times.append(wakeUp - start)
            if actions == [.timeOut(req: "t-1", after: .seconds(5))] { break }
            #expect(actions == [.send(req: "t-1", frame: frame)])
        }
        #expect(times.last == .seconds(5))
        #expect(times.count >= 6)
        #expect(times[0] >= .milliseconds(50) && times[0] <= .milliseconds(100))
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= .seconds(1) })
        #expect(table.count == 0)
        #expect(table.nextWakeUp == nil)
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

    @Test mutating func `a cancelled one is not sent again and not answered`() throws {
        _ = try begin()
        table.cancel(req: "t-1")
        #expect(table.due(now: start + .seconds(60), using: &generator).isEmpty)
        #expect(table.received(answer("t-1"), now: start) == .unknown)
    }

    @Test mutating func `what falls due together goes in the order of its numbers`() throws {
        for _ in 1...12 { _ = try begin() }
        let actions = table.due(now: start + .milliseconds(100), using: &generator)
        let order = actions.compactMap { action -> String? in
            if case .send(let req, _) = action { req } else { nil }
        }
        #expect(order == (1...12).map { "t-\($0)" })
    }

    @Test mutating func `there is a limit`() throws {
        for _ in 0..<RequestTable.maximumCount { _ = try begin() }
        let last = table.begin(command, timeout: .seconds(1), now: start, using: &generator)
        #expect(throws: IsletError.overloaded(limit: RequestTable.maximumCount)) { _ = try last.get() }
    }
}
