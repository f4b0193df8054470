import Glibc
import Synchronization
import Testing
import ZeroMQ

/// Signals that the handler of this suite has taken; a handler can reach only globals.
private let signalsTaken = Atomic<Int>(0)

@Suite(.serialized, .timeLimit(.minutes(10))) struct InterruptTests {
    private let context: ZeroMQContext

    init() throws {
        context = try ZeroMQContext()
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in signalsTaken.add(1, ordering: .relaxed) }
        try #require(sigaction(SIGUSR1, &action, nil) == 0)
    }

    @Test(arguments: [nil, Int(patience.components.seconds) * 1_000])
    func `a wait that signals interrupt goes on until something is ready`(milliseconds: Int?) throws {
        let ready = try WakeSignal()
        let target = WaitingThread { () throws(ZeroMQError) in
            var poller = Poller()
            _ = poller.add(descriptor: ready.descriptor)
            return try poller.wait(milliseconds: milliseconds) == 1
        }
        #expect(try target.interruptedResult { ready.raise() })
    }

    @Test func `a wait that signals interrupt ends in time`() throws {
        let target = WaitingThread { () throws(ZeroMQError) in
            var poller = Poller()
            let start = ContinuousClock.now
            return try poller.wait(milliseconds: 100) == 0 && ContinuousClock.now - start >= .milliseconds(99)
        }
        #expect(try target.interruptedResult(signals: .max))
    }

    @Test func `a receive that signals interrupt goes on until there is a message`() throws {
        let context = context
        let sender = try makeSocket(.pair, context)
        try sender.bind("inproc://interrupted")
        let target = WaitingThread { () throws(ZeroMQError) in
            let receiver = try Socket(.pair, in: context)
            try receiver.connect("inproc://interrupted")
            var message = Message()
            return try receiver.receive(into: &message, dontWait: false) && message.bytes == utf8("at last")
        }
        #expect(try target.interruptedResult { try sender.sendMessage([utf8("at last")]) })
    }

    @Test func `a bus thread that signals interrupt loses nothing`() async throws {
        let context = context
        let thread = try BusThread(name: "interrupted")
        let echo = try await thread.host { thread throws(ZeroMQError) in try Echo(on: thread, context: context) }
        let target = await Counter(on: thread).letSignalsIn()
        let dealer = try makeSocket(.dealer, context)
        try dealer.connect(echo.endpoint)
        let before = signalsTaken.load(ordering: .relaxed)
        for round in 0..<1_000 {
            pthread_kill(target, SIGUSR1)
            try dealer.sendMessage([utf8("\(round)")])
            pthread_kill(target, SIGUSR1)
            #expect(try dealer.receiveMessage() == [utf8("\(round)")])
        }
        #expect(signalsTaken.load(ordering: .relaxed) > before)
        await thread.stop()
    }
}

/// A thread that waits in libzmq while the test sends it signals.
private final class WaitingThread: Sendable {
    private let body: @Sendable () throws(ZeroMQError) -> Bool
    private let result = Mutex<Result<Bool, ZeroMQError>?>(nil)

    init(_ body: @escaping @Sendable () throws(ZeroMQError) -> Bool) {
        self.body = body
    }

    /// Runs the body on its own thread under a rain of signals, and `release` once it has felt so many.
    ///
    /// - Returns: what the body returned; throws what it threw.
    func interruptedResult(signals: Int = 20, release: () throws -> Void = {}) throws -> Bool {
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { raw in
                guard let raw else { return nil }
                let target = Unmanaged<WaitingThread>.fromOpaque(raw).takeUnretainedValue()
                unblockSignals()
                let outcome: Result<Bool, ZeroMQError>
                do throws(ZeroMQError) { outcome = .success(try target.body()) } catch { outcome = .failure(error) }
                target.result.withLock { $0 = outcome }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
        try #require(code == 0)
        let before = signalsTaken.load(ordering: .relaxed)
        while result.withLock({ $0 == nil }), signalsTaken.load(ordering: .relaxed) - before < signals {
            pthread_kill(thread, SIGUSR1)
            sched_yield()
        }
        try release()
        pthread_join(thread, nil)
        #expect(signalsTaken.load(ordering: .relaxed) > before)
        let outcome = try #require(result.withLock { $0 })
        return try outcome.get()
    }
}

/// Lets SIGUSR1 interrupt the calling thread; the threads of the test runner, and their children, begin without.
func unblockSignals() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGUSR1)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
}
