/// Whether the streams of a connection are those of the service that takes its commands.
///
/// The three addresses may be of different services by mistake. So what comes first by the subscriptions, and first by the
/// bulk connection, must name the epoch that `service.info` does. A new history may begin between two answers: only what
/// differs again and again, where both were asked anew, is another service's. What differs later is a new history of this
/// one.
///
/// A pure value; time is passed in.
package struct StreamOwnership: Sendable {
    /// By which connection something has come.
    package enum Stream: Sendable, Hashable {
        case events, bulk
    }

    /// What became of the question for the epoch.
    package enum Owner: Sendable, Hashable {
        case epoch(String)
        /// The service is too old to name it, or does not take the question.
        case unnamed
        /// No answer came in time.
        case unanswered
    }

    /// What is to be done with what has come.
    package enum Verdict: Sendable, Hashable {
        /// It may be taken in.
        case own
        /// It must be asked for again once more is known.
        case unknown
        /// It is another service's.
        case foreign
    }

    /// Epochs that differ so often are of two services.
    package static let maximumDifferences = 3
    /// How long what has come waits for whose it is: then it goes on without, as commands are not answered.
    package static let patience = Duration.seconds(3)

    /// What was not compared yet.
    private var unproven: Set<Stream>
    /// The epoch that the service has named since the last difference.
    private var owner: String?
    private var isAsking = false
    private var differences = 0
    /// Until when something waits; nil while nothing does.
    package private(set) var deadline: ContinuousClock.Instant?

    /// - Parameter isWanted: whether it is to be looked at; where not, all is taken at its word.
    package init(isWanted: Bool) {
        unproven = isWanted ? [.events, .bulk] : []
    }

    /// Whether what comes this way need not be compared any more.
    package func isProven(_ stream: Stream) -> Bool {
        !unproven.contains(stream)
    }

    /// Whether the service is to be asked for its epoch, now; ``informed(_:)`` then tells what came of it.
    package mutating func ask() -> Bool {
        guard !unproven.isEmpty, owner == nil, !isAsking else { return false }
        isAsking = true
        return true
    }

    /// The service has named its epoch, or has not.
    package mutating func informed(_ answer: Owner) {
        isAsking = false
        switch answer {
        case .epoch(let epoch):
            owner = epoch
            deadline = nil
        case .unnamed: settle()
        // Whatever comes next asks again.
        case .unanswered: break
        }
    }

    /// Compares the epoch that something names; nil: it names none, as the service is too old.
    package mutating func judge(_ stream: Stream, epoch: String?, now: ContinuousClock.Instant) -> Verdict {
        guard !isProven(stream) else { return .own }
        guard let epoch else {
            settle()
            return .own
        }
        guard let owner else {
            deadline = deadline ?? now + Self.patience
            return .unknown
        }
        guard epoch != owner else {
            unproven.remove(stream)
            differences = 0
            return .own
        }
        self.owner = nil
        differences += 1
        guard differences < Self.maximumDifferences else {
            differences = 0
            return .foreign
        }
        deadline = now + Self.patience
        return .unknown
    }

    /// Whether what waits goes on without.
    package mutating func due(now: ContinuousClock.Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        settle()
        return true
    }

    private mutating func settle() {
        unproven = []
        deadline = nil
    }
}
