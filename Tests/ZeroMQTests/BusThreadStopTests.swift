import Synchronization
import Testing
import ZeroMQ

@Suite(.timeLimit(.minutes(10))) struct BusThreadStopTests {
    @Test func `after stop the thread is gone`() async throws {
        let name = "gone-\(UInt16.random(in: .min ... .max))"
        let thread = try BusThread(name: name)
        await Counter(on: thread).increment()
        #expect(threadNames().contains(name))
        await thread.stop()
        #expect(!threadNames().contains(name))
    }

    @Test func `stop closes the loop's sockets`() async throws {
        let context = try ZeroMQContext()
        let thread = try BusThread(name: "sockets")
        let echo = try await thread.host { thread throws(ZeroMQError) in try Echo(on: thread, context: context) }
        let next = try makeSocket(.router, context)
        #expect(throws: ZeroMQError.addressInUse) { try next.bind(echo.endpoint) }
        await thread.stop()
        try next.bindSoon(echo.endpoint)
    }

    @Test func `jobs that wait at the stop still run`() async throws {
        let thread = try BusThread(name: "remaining")
        let counter = Counter(on: thread)
        let release = try WakeSignal()
        let entered = Event()
        async let blocking: Void = counter.block(until: release, entered: entered)
        try await entered.wait()
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { await counter.increment() } }
            thread.requestStop()
            release.raise()
        }
        try await blocking
        await thread.stop()
        #expect(await counter.value == 100)
    }

    @Test func `a stop that is asked for while a job runs is not lost`() async throws {
        let thread = try BusThread(name: "not-lost")
        let loop = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread) { _ in .whenReady }
        }
        let release = try WakeSignal()
        let entered = Event()
        async let blocking: Void = Counter(on: thread).block(until: release, entered: entered)
        try await entered.wait()
        thread.requestStop()
        release.raise()
        try await loop.finished.wait()
        try await blocking
        await thread.stop()
    }

    @Test func `any number of tasks may stop a thread, during its life and after`() async throws {
        let thread = try BusThread(name: "stops")
        await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await thread.stop() } }
        }
        await thread.stop()
    }

    @Test func `calls after the stop are still answered`() async throws {
        let thread = try BusThread(name: "late")
        let counter = Counter(on: thread)
        await counter.increment()
        let threads = await counter.threadsSeen
        await thread.stop()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { await counter.increment() } }
            }
        }
        #expect(await counter.value == 8_001)
        #expect(await counter.threadsSeen.isStrictSuperset(of: threads))
    }

    /// Two other bus threads bring late jobs, so that they would really run at once if they could.
    @Test func `calls after the stop wait for one another`() async throws {
        let thread = try BusThread(name: "late-serial")
        let counter = Counter(on: thread)
        await thread.stop()
        let first = Counter(on: try BusThread(name: "first-caller"))
        let second = Counter(on: try BusThread(name: "second-caller"))
        let release = try WakeSignal()
        let entered = Event()
        async let blocking: Void = first.block(counter, until: release, entered: entered)
        try await entered.wait()

        let begun = Event()
        async let waiting: Void = second.increment(counter, begun: begun)
        try await begun.wait()
        await second.increment()
        // The second thread has brought its late job and goes on; the job waits for the one that is running.
        #expect(counter.valueSeen.load(ordering: .acquiring) == 0)

        release.raise()
        try await blocking
        await waiting
        #expect(counter.valueSeen.load(ordering: .acquiring) == 1)
        await first.thread.stop()
        await second.thread.stop()
    }

    @Test func `an actor on the thread may stop it`() async throws {
        let thread = try BusThread(name: "from-inside")
        let counter = Counter(on: thread)
        await counter.stopItsThread()
        await counter.increment()
        #expect(await counter.value == 1)
    }

    @Test func `a turn may end the thread`() async throws {
        let thread = try BusThread(name: "by-turn")
        let loop = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread) { loop in loop.turns < 3 ? .immediately : .stop }
        }
        try await loop.finished.wait()
        await thread.stop()
        #expect(await loop.turns == 3)
        #expect(await loop.isFinished)
    }

    @Test func `a shut down context ends the thread`() async throws {
        let context = try ZeroMQContext()
        let thread = try BusThread(name: "context")
        let loop = try await thread.host { thread throws(ZeroMQError) in
            try ScriptedLoop(on: thread, socketOf: context) { _ in .whenReady }
        }
        context.shutdown()
        try await loop.finished.wait()
        await thread.stop()
    }

    @Test func `a thread and its actors are freed after the stop`() async throws {
        weak var freed: BusThread?
        weak var freedLoop: ScriptedLoop?
        do {
            let thread = try BusThread(name: "freed")
            let loop = try await thread.host { thread throws(ZeroMQError) in
                try ScriptedLoop(on: thread) { _ in .whenReady }
            }
            (freed, freedLoop) = (thread, loop)
            await thread.stop()
            #expect(await loop.isFinished)
        }
        #expect(freedLoop == nil)
        #expect(freed == nil)
    }
}
