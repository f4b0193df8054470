import Synchronization
import Testing
import ZeroMQ

@Suite(.timeLimit(.minutes(2))) struct BusThreadStopTests {
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

    @Test func `any number of tasks may stop a thread, during its life and after`() async throws {
        let thread = try BusThread(name: "stops")
        await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await thread.stop() } }
        }
        await thread.stop()
    }

    @Test func `calls after the stop are still answered, one at a time`() async throws {
        let thread = try BusThread(name: "late")
        let counter = Counter(on: thread)
        await counter.increment()
        let threads = await counter.threadsSeen
        await thread.stop()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<2_000 { await counter.increment() } }
            }
        }
        #expect(await counter.value == 16_001)
        #expect(await counter.threadsSeen.isStrictSuperset(of: threads))
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
