import Synchronization

extension BusThread {
    /// Takes a job for the thread; after the thread's end, runs it here (see the type).
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isLateRunner = inbox.withLock { inbox in
            inbox.jobs.append(job)
            guard inbox.phase == .ended, !inbox.hasLateRunner else { return false }
            inbox.hasLateRunner = true
            return true
        }
        if isLateRunner {
            runLateJobs()
        } else if !isCurrent {
            signal.raise()
        }
    }

    /// Lets `assumeIsolated` succeed in code that the thread calls outside of any job, such as a loop's turn (SE-0471).
    package func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    /// Traps unless called on the thread (SE-0424).
    package func checkIsolated() {
        precondition(isCurrent, "not on the bus thread")
    }

    /// Runs the jobs of an ended thread on the calling one until there are none. Only one thread does so at a time, so
    /// the executor is still serial; the inbox's lock orders one after the other.
    private func runLateJobs() {
        var batch: [UnownedJob] = []
        owner.store(currentThread(), ordering: .relaxed)
        while true {
            let isDone = inbox.withLock { inbox in
                if inbox.jobs.isEmpty {
                    owner.store(0, ordering: .relaxed)
                    inbox.hasLateRunner = false
                    return true
                }
                swap(&batch, &inbox.jobs)
                return false
            }
            if isDone { return }
            runAll(&batch)
        }
    }

    /// Runs the jobs of `batch` in order and empties it.
    func runAll(_ batch: inout [UnownedJob]) {
        let executor = unsafe asUnownedSerialExecutor()
        for job in batch { unsafe job.runSynchronously(on: executor) }
        batch.removeAll(keepingCapacity: batch.count <= Self.keptCapacity)
    }

    /// The number of jobs whose room is kept for the next burst.
    private static let keptCapacity = 4_096
}
