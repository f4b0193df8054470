import Synchronization
import ZeroMQ

/// Commands and their answers.
extension ConnectionLoop {
    /// Who is told of an answer.
    enum Waiter {
        case one(CheckedContinuation<Result<Answer, IsletError>, Never>)
        /// A place in a batch.
        case part(of: Batch, index: Int)
        /// The readers, which wait for whose the streams are.
        case owner
        /// The connection, which looks whether it leads anywhere.
        case probe
    }

    /// The answers of one message of many commands, until all are there.
    final class Batch {
        private var results: [Result<Answer, IsletError>?]
        private var missing: Int
        private let continuation: CheckedContinuation<[Result<Answer, IsletError>], Never>

        init(count: Int, continuation: CheckedContinuation<[Result<Answer, IsletError>], Never>) {
            results = Array(repeating: nil, count: count)
            missing = count
            self.continuation = continuation
        }

        /// Sets the answer of a place that had none.
        func complete(_ index: Int, _ result: Result<Answer, IsletError>) {
            results[index] = result
            missing -= 1
            if missing == 0 { continuation.resume(returning: results.map { $0 ?? .failure(.closed) }) }
        }
    }

    /// Sends a command and waits for its answer.
    func send(_ command: Command, timeout: Duration) async -> Result<Answer, IsletError> {
        guard !isClosed else { return .failure(.closed) }
        guard !Task.isCancelled else { return .failure(.cancelled) }
        switch begin(command, timeout: timeout) {
        case .failure(let error):
            return .failure(error)
        case .success(let (req, frame)):
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    waiters[req] = .one(continuation)
                    commands.send(.init(frames: [frame], requests: [req]))
                }
            } onCancel: {
                cancelLater([req])
            }
        }
    }

    /// Sends one message of many commands and waits for all answers, which have the commands' order.
    func send(batch: [Command], timeout: Duration) async -> [Result<Answer, IsletError>] {
        guard !batch.isEmpty else { return [] }
        guard !isClosed else { return batch.map { _ in .failure(.closed) } }
        guard !Task.isCancelled else { return batch.map { _ in .failure(.cancelled) } }
        let begun = requests.begin(message: batch, timeout: timeout, now: .now, using: &generator)
        let reqs = begun.compactMap { try? $0.get().req }
        let frames = begun.compactMap { try? $0.get().frame }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let results = Batch(count: batch.count, continuation: continuation)
                for (index, request) in begun.enumerated() {
                    switch request {
                    case .success(let (req, _)): waiters[req] = .part(of: results, index: index)
                    case .failure(let error): results.complete(index, .failure(error))
                    }
                }
                guard !frames.isEmpty else { return }
                commands.send(.init(frames: frames, requests: reqs))
            }
        } onCancel: {
            cancelLater(reqs)
        }
    }

    /// A cancelled task is not on the bus thread: it leaves a note.
    private nonisolated func cancelLater(_ requests: [String]) {
        cancelled.withLock { $0.append(contentsOf: requests) }
        thread.wake()
    }

    /// Runs between jobs, so that the waiters of what was cancelled are there already.
    func takeCancellations() {
        let unwanted = cancelled.withLock { list in
            defer { list = [] }
            return list
        }
        for req in unwanted {
            requests.cancel(req: req)
            complete(req, .failure(.cancelled))
        }
    }

    /// Takes what has come by the commands socket; true where there may be more.
    func receiveAnswers() -> Bool {
        for _ in 0..<Self.messagesPerTurn {
            guard let frames = commands.receive(into: &message) else { return false }
            commandsSilence = Self.shortestSilence
            for frame in frames {
                switch requests.received(frame, now: .now) {
                case .finished(let req, let result): complete(req, result)
                case .postponed, .unknown: break
                }
            }
        }
        return true
    }

    /// Sends again what got no answer, and gives up what had no answer for too long.
    func requestsDue(_ now: ContinuousClock.Instant) {
        if lossesOfCommands != commands.losses {
            lossesOfCommands = commands.losses
            requests.connectionWasLost(now: now)
        }
        var messages: [Outlet.Entry] = []
        var last: Batch?
        for action in requests.due(now: now, using: &generator) {
            switch action {
            case .send(let req, let frame):
                guard !commands.holds(req: req) else { break }
                requests.left(req: req)
                let batch = batch(of: req)
                // What came in one message goes in one again: a part of it must not wait while what was behind it goes.
                if let batch, batch === last {
                    messages[messages.count - 1].frames.append(frame)
                    messages[messages.count - 1].requests.append(req)
                } else {
                    messages.append(.init(frames: [frame], requests: [req]))
                }
                last = batch
            case .timeOut(let req, let timeout, let change):
                complete(req, .failure(.timedOut(after: timeout, change: change.map { asSent($0, req) })))
            }
        }
        for message in messages { commands.send(message) }
    }

    /// The message of many commands that a request came in.
    private func batch(of req: String) -> Batch? {
        guard case .part(let batch, _) = waiters[req] else { return nil }
        return batch
    }

    /// The ops of the changes that wait for their answers.
    func unansweredChanges() -> UnansweredChanges {
        var unanswered = UnansweredChanges()
        for (req, change) in requests.changes { unanswered.add(asSent(change, req)) }
        return unanswered
    }

    /// A change as its present attempt has it too: what waits here for a connection was not sent by it.
    private func asSent(_ change: UnansweredChange, _ req: String) -> UnansweredChange {
        UnansweredChange(op: change.op, wasSent: change.wasSent || !commands.holds(req: req))
    }

    func complete(_ req: String, _ result: Result<Answer, IsletError>) {
        switch waiters.removeValue(forKey: req) {
        case .one(let continuation): continuation.resume(returning: result)
        case .part(let batch, let index): batch.complete(index, result)
        case .owner: ownerAnswered(result)
        case .probe: probed(result)
        case nil: break
        }
    }

    func begin(_ command: Command, timeout: Duration) -> Result<(req: String, frame: [UInt8]), IsletError> {
        requests.begin(command, timeout: timeout, now: .now, using: &generator)
    }
}
