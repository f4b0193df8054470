/// Answers reads of stored events, on a thread of its own.
///
/// `@unchecked Sendable`: what is not behind the monitor is used by its thread alone.
final class ReadWorker: @unchecked Sendable {
    private struct Queue {
        /// At most ``JournalRead/maximumInFlight`` with the one that is being answered.
        var waiting: [JournalRead] = []
        var inFlight = 0
        var isClosing = false
    }

    private let queue = Monitor(Queue())
    private let report: JournalReport
    private let fate: JournalFate
    private var history: EventHistory

    init(store: Store, fate: JournalFate, report: @escaping JournalReport) {
        history = EventHistory(names: store.names, options: store.options, segments: store.segments)
        self.fate = fate
        self.report = report
        fate.onFailure { [queue] in queue.change { $0.isClosing = true } }
    }

    func read(_ request: JournalRead) {
        queue.change { queue in
            precondition(queue.inFlight < JournalRead.maximumInFlight, "too many reads in flight")
            queue.inFlight += 1
            queue.waiting.append(request)
        }
    }

    /// Asks the thread to answer what waits and to end.
    func close() {
        queue.change { $0.isClosing = true }
    }

    /// The thread's function.
    func run() {
        while !fate.hasFailed {
            let request = queue.wait { queue -> JournalRead?? in
                if !queue.waiting.isEmpty { return .some(queue.waiting.removeFirst()) }
                return queue.isClosing ? .some(nil) : nil
            }
            guard let request else { return }
            let outcome = history.answer(request)
            queue.change { $0.inFlight -= 1 }
            report(.read(JournalReadResult(id: request.id, outcome: outcome)))
        }
    }
}
