package import IsletCore

/// Whether a provider that keeps failing gets calls.
///
///     closed ──failures in a row──▶ open ──its time is over──▶ half open ──the probe answered──▶ closed
///                                    ▲                             └──the probe failed──▶ open, for twice as long
///
/// In half open one call is let through, the probe. Calls that were sent before it opened may still end: one that
/// answers closes it, one that fails says nothing new.
///
/// For an action, and for a question, somebody waits, and what failed before may have been about something else: so while
/// it is not closed one of each is let through at once, beside whatever else may be. Answered, it closes the breaker;
/// failed, it leaves everything as it was, and opens nothing for longer.
package struct CircuitBreaker: Sendable, BitwiseCopyable {
    package enum State: Equatable, Sendable, BitwiseCopyable {
        /// All calls are let through; so many failed since the last that was answered.
        case closed(failures: Int)
        /// None but those beside it are, until this time.
        case open(until: Milliseconds)
        /// One is, and those beside it; the probe, where it is on its way.
        case halfOpen(probe: CallID?)
    }

    /// What is let through though it is not closed, one of each at a time: they do not wait for each other either.
    package enum Aside: Sendable, BitwiseCopyable {
        case action, question
    }

    package private(set) var state = State.closed(failures: 0)
    /// The action that is on its way though it is not closed…
    private var action: CallID?
    /// …and the question.
    private var question: CallID?
    /// When a probe failed last; nil where something was answered since: else it does not look as if the next one will do
    /// better.
    package private(set) var probeFailedAt: Milliseconds?
    /// When it opened, though it may have let calls through since; nil where it is closed.
    package private(set) var failingSince: Milliseconds?
    /// When a call failed last, be that the probe or none; nil where something was answered since.
    package private(set) var failedAt: Milliseconds?
    private let failureLimit: Int
    private let longest: Milliseconds
    private let first: Milliseconds
    /// For how long it opens the next time.
    private var span: Milliseconds

    /// - Parameters:
    ///   - failures: so many in a row open it.
    ///   - first: for how long it opens the first time, in milliseconds; each time without an answer twice as long.
    ///   - longest: but not longer than this.
    package init(failures: Int, first: Milliseconds, longest: Milliseconds) {
        failureLimit = failures
        self.first = first
        self.longest = longest
        span = first
    }

    /// Whether a call may be sent; one that needs not be a probe, or one that does.
    package func allowsCall(_ aside: Aside? = nil, at now: Milliseconds) -> Bool {
        switch (state, aside) {
        case (.closed, _): true
        case (_, .action): action == nil
        case (_, .question): question == nil
        case (.open(let until), nil): until <= now
        case (.halfOpen(let probe), nil): probe == nil
        }
    }

    /// Whether it has rested and is to be tried.
    package func awaitsProbe(at now: Milliseconds) -> Bool { !isClosed && allowsCall(at: now) }

    /// Whether nothing is known against the provider.
    package var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// When the state changes by itself.
    package var opensUntil: Milliseconds? {
        if case .open(let until) = state { until } else { nil }
    }

    /// A call was sent, which ``allowsCall(_:at:)``.
    package mutating func sent(_ call: CallID, _ aside: Aside? = nil) {
        switch state {
        case .closed: break
        case .open, .halfOpen:
            switch aside {
            case .action: action = call
            case .question: question = call
            case nil: state = .halfOpen(probe: call)
            }
        }
    }

    /// A call was answered.
    package mutating func succeeded() {
        state = .closed(failures: 0)
        (action, question) = (nil, nil)
        probeFailedAt = nil
        failingSince = nil
        failedAt = nil
        span = first
    }

    /// A call failed or was not answered in time.
    ///
    /// - Returns: whether this opened it.
    package mutating func failed(_ call: CallID, at now: Milliseconds) -> Bool {
        failedAt = now
        if endsAside(call) { return false }
        switch state {
        case .closed(let failures) where failures + 1 < failureLimit:
            state = .closed(failures: failures + 1)
            return false
        case .halfOpen(let probe) where probe != call:
            return false
        case .open:
            return false
        case .closed, .halfOpen:
            if isClosed { failingSince = now } else { probeFailedAt = now }
            state = .open(until: now + span)
            span = min(span * 2, longest)
            return true
        }
    }

    /// Somebody begins to wait for what it does not let through: it rests no longer than the first time, and twice as
    /// long the next. However long it rests by now, that was for the sake of others.
    ///
    /// - Returns: whether it lets a call through earlier.
    package mutating func hurry(at now: Milliseconds) -> Bool {
        span = min(span, 2 * first, longest)
        guard case .open(let until) = state, until > now + first else { return false }
        state = .open(until: now + first)
        return true
    }

    /// A call was taken back: it says nothing of the provider, and another may be the probe.
    package mutating func withdrew(_ call: CallID) {
        if endsAside(call) { return }
        if state == .halfOpen(probe: call) { state = .halfOpen(probe: nil) }
    }

    /// Whether a call that is over was one beside it; another may take its place.
    private mutating func endsAside(_ call: CallID) -> Bool {
        if action == call {
            action = nil
        } else if question == call {
            question = nil
        } else {
            return false
        }
        return true
    }
}
