/// Answers reads of stored events, on a thread of its own, in turns: one that has to open many segments keeps the others
/// waiting for the opening of one.
///
/// `@unchecked Sendable`: what is not behind the monitor is used by its thread alone.
final class ReadWorker: @unchecked Sendable {
    private struct Queue {
        /// At most ``JournalRead/maximumInFlight`` with the one that is being answered.
        var waiting: [ReadUnderWay] = []
        var inFlight = 0
        var wasTrimmed = false
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
            queue.waiting.append(ReadUnderWay(request))
        }
    }

    /// A segment was trimmed: as long as it is open, its bytes stay on the disk.
    func segmentWasTrimmed() {
        queue.change { $0.wasTrimmed = true }
    }

    /// Asks the thread to end. What waits is not answered, as nobody gets it any more.
    func close() {
        queue.change { $0.isClosing = true }
    }

    private enum Job {
        case closeTrimmed
        case goOn(ReadUnderWay)
        case end
    }

    /// The thread's function.
    func run() {
        while !fate.hasFailed {
            switch takeJob() {
            case .closeTrimmed: history.closeTrimmed()
            case .goOn(var read):
                guard let outcome = history.advance(&read) else {
                    let read = read
                    queue.change { $0.waiting.append(read) }
                    continue
                }
                queue.change { $0.inFlight -= 1 }
                report(.read(JournalReadResult(id: read.request.id, outcome: outcome)))
            case .end: return
            }
        }
    }

    private func takeJob() -> Job {
        queue.wait { queue -> Job? in
            if queue.isClosing { return .end }
            if queue.wasTrimmed {
                queue.wasTrimmed = false
                return .closeTrimmed
            }
            return queue.waiting.isEmpty ? nil : .goOn(queue.waiting.removeFirst())
        }
    }
}
