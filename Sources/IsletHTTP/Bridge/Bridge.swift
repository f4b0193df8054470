import IsletClient
import IsletServer
import Synchronization

/// The way from HTTP to the service: an ordinary client of its sockets, connected with the first request that needs it.
///
/// Commands and events go by a connection each, so that many events delay no answer.
final class Bridge: Sendable {
    /// The service that is shown.
    struct Shown: Sendable {
        var card: ServiceCard
        var inspection: Inspection
    }

    /// What a connection is for.
    private enum Purpose {
        case commands
        case events
    }

    private enum Phase {
        case starting
        case serving(Shown, [Purpose: Task<RawConnection, any Error>])
        /// Nothing new is taken; what was sent still gets its answers.
        case stopping([Task<RawConnection, any Error>])
    }

    private let phase = Mutex(Phase.starting)

    /// The service serves from now on.
    func begin(_ card: ServiceCard, _ inspection: Inspection) {
        phase.withLock { phase in
            guard case .starting = phase else { return }
            phase = .serving(Shown(card: card, inspection: inspection), [:])
        }
    }

    /// Refuses everything that comes later.
    func stop() {
        phase.withLock { phase in
            switch phase {
            case .starting: phase = .stopping([])
            case .serving(_, let open): phase = .stopping(Array(open.values))
            case .stopping: break
            }
        }
    }

    /// Gives up what still waits for the service, after ``stop()``.
    func close() async {
        let open = phase.withLock { phase in
            guard case .stopping(let open) = phase else { return [Task<RawConnection, any Error>]() }
            phase = .stopping([])
            return open
        }
        for opening in open { await (try? opening.value)?.close() }
    }

    /// Whether it was stopped.
    var isStopping: Bool {
        phase.withLock { phase in
            if case .stopping = phase { true } else { false }
        }
    }

    /// The service that is shown.
    var shown: Shown {
        get throws(BridgeError) {
            try phase.withLock { phase throws(BridgeError) in
                switch phase {
                case .starting: throw .starting
                case .serving(let shown, _): return shown
                case .stopping: throw .stopping
                }
            }
        }
    }

    private func connection(for purpose: Purpose) async throws(BridgeError) -> RawConnection {
        let opening = try phase.withLock { phase throws(BridgeError) in
            switch phase {
            case .starting: throw .starting
            case .stopping: throw .stopping
            case .serving(let shown, var open):
                if let opening = open[purpose] { return opening }
                let service = shown.card.endpoints
                let opening = Task {
                    try await RawConnection.open(
                        Endpoints(commands: service.commands, events: service.events, bulk: service.bulk))
                }
                open[purpose] = opening
                phase = .serving(shown, open)
                return opening
            }
        }
        do {
            return try await opening.value
        } catch {
            // The next request tries again.
            phase.withLock { phase in
                guard case .serving(let shown, var open) = phase else { return }
                open[purpose] = nil
                phase = .serving(shown, open)
            }
            throw .failed("\(error)")
        }
    }

    /// Sends a frame to the service and gives its answer.
    func exchange(_ frame: [UInt8], timeout: Duration) async throws(BridgeError) -> [UInt8] {
        let connection = try await connection(for: .commands)
        do {
            return try await connection.exchange(frame, timeout: timeout)
        } catch .closed {
            // It may have been sent.
            throw .unanswered
        } catch {
            throw BridgeError(error)
        }
    }

    /// Follows the topics that begin with a prefix.
    func follow(
        _ prefix: String, _ take: @escaping @Sendable (RawDelivery) -> Void
    ) async throws(BridgeError) -> RawSubscription {
        let connection = try await connection(for: .events)
        do {
            return try await connection.follow(prefix, take)
        } catch {
            throw BridgeError(error)
        }
    }
}

/// Why there is no answer from the service.
enum BridgeError: Error, Equatable {
    case starting
    case stopping
    /// Too much waits for answers already.
    case busy
    /// No answer came in time.
    case timedOut
    /// No answer came before the stop.
    case unanswered
    case failed(String)

    init(_ error: IsletError) {
        self =
            switch error {
            case .timedOut: .timedOut
            case .overloaded: .busy
            case .closed, .cancelled: .stopping
            case .refused, .endpoint, .invalid, .unreadable, .notConfigured: .failed("\(error)")
            }
    }
}
