import Synchronization

extension BusThread {
    /// The thread's whole life.
    func run() {
        owner.store(currentThread(), ordering: .relaxed)
        var idle = Poller()
        let idleWakeSlot = idle.add(descriptor: signal.descriptor)
        var batch: [UnownedJob] = []
        var hosted: Hosted?

        while true {
            signal.lower()
            let (installation, stopRequested) = takeInbox(&batch)
            runAll(&batch)
            if let installation {
                precondition(hosted == nil, "a bus thread hosts one loop")
                hosted = installation()
            }
            if stopRequested { break }
            if let hosted {
                guard turn(hosted.loop, hosted.wakeSlot, &idle, idleWakeSlot) else { break }
            } else {
                _ = wait(.whenReady, &idle, idleWakeSlot)
            }
        }

        if let hosted { finish(hosted.loop) }
        hosted = nil
        end(&batch)
    }

    /// Takes what other threads left; `batch`, which is empty, becomes their next array.
    private func takeInbox(_ batch: inout [UnownedJob]) -> (Installation?, stopRequested: Bool) {
        inbox.withLock { inbox in
            swap(&batch, &inbox.jobs)
            return (inbox.installation.take(), inbox.stopRequested)
        }
    }

    /// The loop's turn and the wait after it, in one entry into its isolation. Returns false for the end.
    private func turn(
        _ loop: some BusLoop, _ wakeSlot: Poller.Slot, _ idle: inout Poller, _ idleWakeSlot: Poller.Slot
    ) -> Bool {
        let next: NextTurn? = loop.assumeIsolated { loop in
            let next = loop.turn()
            switch next {
            case .stop: return nil
            case .whenWoken: return next
            case .immediately, .within, .whenReady: return wait(next, &loop.poller, wakeSlot) ? .immediately : nil
            }
        }
        guard let next else { return false }
        if case .whenWoken = next { return wait(next, &idle, idleWakeSlot) }
        return true
    }

    private func finish(_ loop: some BusLoop) {
        loop.assumeIsolated { $0.finish() }
    }

    /// Waits for what `next` says, or for jobs, among them those that were enqueued on this thread without a signal.
    ///
    /// - Returns: false if the loop's context was shut down, which ends the thread too.
    private func wait(_ next: NextTurn, _ poller: inout Poller, _ wakeSlot: Poller.Slot) -> Bool {
        let milliseconds: Int? =
            switch next {
            case _ where inbox.withLock({ !$0.jobs.isEmpty }): 0
            case .immediately, .stop: 0
            case .within(let milliseconds), .whenWoken(let milliseconds): max(0, milliseconds)
            case .whenReady: nil
            }
        do throws(ZeroMQError) {
            try poller.wait(milliseconds: milliseconds)
        } catch {
            return false
        }
        if poller.isReadable(wakeSlot) { signal.drain() }
        return true
    }

    /// Runs jobs until none are left, then lets late ones run elsewhere and tells who waits for the end.
    private func end(_ batch: inout [UnownedJob]) {
        while true {
            if let waiters = endIfEmpty() {
                for waiter in waiters { waiter.resume() }
                return
            }
            let (installation, _) = takeInbox(&batch)
            runAll(&batch)
            // Asked for while the thread was ending: made for the asker's sake, and finished at once.
            if let hosted = installation?() { finish(hosted.loop) }
        }
    }

    /// Ends the thread's ownership if nobody left anything; the tasks that wait for it, or nil.
    private func endIfEmpty() -> [CheckedContinuation<Void, Never>]? {
        inbox.withLock { inbox in
            guard inbox.jobs.isEmpty, inbox.installation == nil else { return nil }
            inbox.phase = .ended
            owner.store(0, ordering: .relaxed)
            return exchange(&inbox.stopWaiters, with: [])
        }
    }
}
