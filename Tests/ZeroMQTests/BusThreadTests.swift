import Synchronization
import Testing
import ZeroMQ

@Suite(.timeLimit(.minutes(10))) struct BusThreadTests {
    @Test func `the documented echo answers a dealer over tcp`() async throws {
        let context = try ZeroMQContext()
        let thread = try BusThread(name: "echo")
        let echo = try await thread.host { thread throws(ZeroMQError) in try Echo(on: thread, context: context) }
        let dealer = try makeSocket(.dealer, context)
        try dealer.connect(echo.endpoint)
        for round in 0..<1_000 {
            try dealer.sendMessage([utf8("hello \(round)")])
            #expect(try dealer.receiveMessage() == [utf8("hello \(round)")])
        }
        await thread.stop()
    }

    @MainActor
    @Test func `a thread that the main actor starts does not inherit its isolation`() async throws {
        let main = currentThread()
        let thread = try BusThread(name: "from-main")
        let counter = Counter(on: thread)
        await counter.increment()
        #expect(await counter.threadsSeen.contains(main) == false)
        await thread.stop()
    }

    @Test func `calls from many tasks all run, one at a time and on one thread`() async throws {
        let thread = try BusThread(name: "calls")
        let counter = Counter(on: thread)
        await withTaskGroup { group in
            for _ in 0..<16 {
                group.addTask { for _ in 0..<1_000 { await counter.increment() } }
            }
        }
        #expect(await counter.value == 16_000)
        #expect(await counter.threadsSeen.count == 1)
        await thread.stop()
    }

    @Test func `the loop runs isolated to its actor, on the thread of the actor's jobs`() async throws {
        let thread = try BusThread(name: "isolated")
        let seen = Mutex<[UInt]>([])
        let loop = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread) { loop in
                loop.assumeIsolated { _ in seen.withLock { $0.append(currentThread()) } }
                return .whenReady
            }
        }
        try await loop.turned.wait()
        let counter = Counter(on: thread)
        await counter.increment()
        #expect(Set(seen.withLock { $0 }) == (await counter.threadsSeen))
        await thread.stop()
    }

    @Test func `isolation is not assumed elsewhere`() async throws {
        await #expect(processExitsWith: .failure) {
            let thread = try BusThread(name: "elsewhere")
            assume(Counter(on: thread))
        }
    }

    @Test func `the thread is current only for what runs on it`() async throws {
        let thread = try BusThread(name: "current")
        let loop = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread) { loop in loop.thread.isCurrent ? .whenReady : .stop }
        }
        try await loop.turned.wait()
        #expect(!thread.isCurrent)
        #expect(await !loop.isFinished)
        await thread.stop()
    }

    @Test func `wakes from other threads bring turns, and a burst brings few`() async throws {
        let thread = try BusThread(name: "wakes")
        let loop = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread) { _ in .whenReady }
        }
        let counter = Counter(on: thread)
        let release = try WakeSignal()
        let entered = Event()
        async let blocking: Void = counter.block(until: release, entered: entered)
        try await entered.wait()
        let before = Mutex(0)
        async let reading: Void = {
            let turns = await loop.turns
            before.withLock { $0 = turns }
        }()
        for _ in 0..<10_000 { thread.wake() }
        release.raise()
        try await blocking
        await reading
        // Each of these calls can bring a turn of its own; the ten thousand wakes bring one or two.
        #expect(await loop.turns - before.withLock { $0 } <= 5)
        await thread.stop()
    }

    @Test func `no wake is lost between a look and the wait after it`() async throws {
        let thread = try BusThread(name: "lost-wakes")
        let sent = Atomic<Int>(0)
        let seen = Atomic<Int>(0)
        let answered = try WakeSignal()
        _ = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread) { _ in
                let value = sent.load(ordering: .acquiring)
                if seen.exchange(value, ordering: .acquiringAndReleasing) != value { answered.raise() }
                return .whenReady
            }
        }
        for round in 1...20_000 {
            sent.store(round, ordering: .releasing)
            thread.wake()
            try waitBlocking(for: answered)
            answered.lower()
            answered.drain()
            #expect(seen.load(ordering: .acquiring) == round)
        }
        await thread.stop()
    }

    @Test func `a job that a turn makes runs without anything else happening`() async throws {
        let thread = try BusThread(name: "own-jobs")
        let done = Event()
        _ = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread) { loop in
                if loop.turns == 2 { loop.happenLater(done) }
                return loop.turns < 2 ? .within(milliseconds: 1) : .whenReady
            }
        }
        try await done.wait()
        await thread.stop()
    }

    @Test func `a turn comes when its time is over, and hardly before`() async throws {
        let thread = try BusThread(name: "timed")
        let start = ContinuousClock.now
        let loop = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread) { _ in
                let rest = 50 - Int((ContinuousClock.now - start) / .milliseconds(1))
                return rest > 0 ? .within(milliseconds: rest) : .stop
            }
        }
        try await loop.finished.wait()
        #expect(ContinuousClock.now - start >= .milliseconds(49))
        #expect(await loop.turns <= 5, "the time, a wake-up of the start, and the rounding of each")
        await thread.stop()
    }

    @Test func `turns that want to go on at once still let jobs in`() async throws {
        let thread = try BusThread(name: "busy")
        _ = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread) { _ in .immediately }
        }
        let counter = Counter(on: thread)
        for _ in 0..<100 { await counter.increment() }
        #expect(await counter.value == 100)
        await thread.stop()
    }

    @Test func `an error of the loop's initialiser comes to the host's caller, who may try again`() async throws {
        let context = try ZeroMQContext()
        let thread = try BusThread(name: "again")
        let taken = try makeSocket(.router, context)
        try taken.bind("inproc://taken")
        await #expect(throws: ZeroMQError.addressInUse) {
            _ = try await thread.host { thread throws(ZeroMQError) in
                try Socket(.router, in: context).bind("inproc://taken")
                return try Echo(on: thread, context: context)
            }
        }
        let echo = try await thread.host { thread throws(ZeroMQError) in try Echo(on: thread, context: context) }
        #expect(echo.endpoint.hasPrefix("tcp://"))
        await thread.stop()
    }
}

/// Claims, from anywhere, to be isolated to `counter`.
private func assume(_ counter: Counter) {
    counter.assumeIsolated { _ in }
}
