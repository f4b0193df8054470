package import IsletCore

/// What `provider.list` tells of a provider; times in milliseconds.
package struct ProviderStatistics: Sendable {
    package enum State: Equatable, Sendable, BitwiseCopyable {
        case live
        /// It takes no new calls.
        case draining
        /// It failed too often, and gets no calls for so long from now.
        case open(for: Milliseconds)
        /// It failed too often, and gets one call to see whether it is well again.
        case halfOpen
    }

    package var reference: ProviderRef
    package var id: EntityID
    package var peer: [UInt8]
    /// The owner's numbers of its kinds, as it declared them.
    package var kinds: [UInt32]
    package var state: State
    package var capacity: Int
    package var inFlight: Int
    /// Calls that wait for its kinds, which others may get as well.
    package var waiting: Int
    /// Calls that were sent to it.
    package var calls: UInt64
    /// Calls that it failed, answered badly or did not answer in time.
    package var failures: UInt64
    /// Answers that came after the call was over.
    package var late: UInt64
    /// Answers to calls that were never made, or answered already.
    package var unknown: UInt64
    /// From sending a call to its answer or failure.
    package var latencies: LatencyHistogram
    package var registeredAt: Milliseconds
    package var lastHeard: Milliseconds
    /// Since when it fails so often that it gets no calls but those by which it is tried; nil where it does not.
    package var failingSince: Milliseconds?
    /// When it failed a call last; nil where it has answered one well since.
    package var failedAt: Milliseconds?

    /// It is a concern for so long after its last failure though nobody wants anything of it.
    private static let concern: Milliseconds = 300_000

    /// Whether it matters by now that it is still to be tried: only a call tells whether it is well again, and where nobody
    /// wants anything of it there may be none for days.
    package func isConcern(at now: Milliseconds) -> Bool {
        inFlight > 0 || waiting > 0 || failedAt.map { now - $0 <= Self.concern } ?? false
    }
}

/// What was counted of all providers since the start.
package struct ProviderTotals: Sendable {
    /// Calls that were sent.
    package internal(set) var calls: UInt64 = 0
    /// Calls that were answered well.
    package internal(set) var answered: UInt64 = 0
    /// Calls that a provider failed, answered badly or did not answer in time.
    package internal(set) var failures: UInt64 = 0
    /// Those of them that it failed or answered badly.
    package internal(set) var failed: UInt64 = 0
    /// Calls that were out when their provider was lost.
    package internal(set) var lost: UInt64 = 0
    /// Calls that were over without an answer because their time was, whether they waited or were out.
    package internal(set) var timedOut: UInt64 = 0
    /// From sending a call to its answer or failure.
    package var spans: SpanRecorder

    init(at now: Milliseconds) {
        spans = SpanRecorder(.milliseconds, at: now)
    }
}

extension ProviderTable {
    /// Calls that wait for a provider.
    package var waitingCalls: Int { waiting }
    /// Those of them that lose no time by it: values and timelines that wait as the next of their kinds, where these have
    /// a provider that may answer. Retries lose theirs.
    package var patientCalls: Int {
        kinds.indices.reduce(0) { count, place in
            let reads = kinds[place].reads
            guard reads > 0, outlook(of: UInt32(place)) != .hopeless else { return count }
            return count + max(0, reads - kinds[place].retries.count)
        }
    }
    /// Calls that providers have.
    package var callsInFlight: Int { openCalls - waiting }

    /// How long calls took.
    package mutating func spans(at time: Milliseconds) -> SpanReading { totals.spans.reading(at: time) }

    /// Whether somebody takes calls for a kind.
    package func isServed(_ kind: UInt32) -> Bool {
        kindPlaces[kind].map { kinds[Int($0)].open > 0 } ?? false
    }

    /// How many calls of a kind wait for one of its providers.
    package func waitingCalls(of kind: UInt32) -> Int { kindPlaces[kind].map { kinds[Int($0)].waiting } ?? 0 }

    /// Who provides a kind, in the order in which they declared it; also those that drain.
    package func providers(of kind: UInt32) -> [ProviderRef] {
        kindPlaces[kind].map { kinds[Int($0)].providers.map { reference(to: $0) } } ?? []
    }

    /// Whether somebody else than this one provides a kind; also one that drains.
    package func hasProvider(of kind: UInt32, otherThan id: EntityID) -> Bool {
        kindPlaces[kind].map { kinds[Int($0)].providers.contains { providers[Int($0)].id != id } } ?? false
    }

    /// The provider with an id.
    package func provider(_ id: EntityID) -> ProviderRef? {
        providerNumbers[id].map { reference(to: $0) }
    }

    /// The connection of a provider: see ``takeEffects(into:)`` for how long it is known.
    package func peer(of provider: ProviderRef) -> [UInt8]? {
        isKnown(provider) ? providers[Int(provider.number)].peer : nil
    }

    /// The id of a provider: see ``takeEffects(into:)`` for how long it is known.
    package func id(of provider: ProviderRef) -> EntityID? {
        isKnown(provider) ? providers[Int(provider.number)].id : nil
    }

    /// The owner's numbers of the kinds of a provider that is gone: see ``takeEffects(into:)`` for how long they are known.
    package func lostKinds(of provider: ProviderRef) -> [UInt32] {
        isKnown(provider) ? providers[Int(provider.number)].lostKinds : []
    }

    /// The ids of the providers behind one, in their order.
    package func ids(after id: EntityID?) -> [EntityID] {
        providerNumbers.keys.filter { each in id.map { $0 < each } ?? true }.sorted()
    }

    /// All providers, in the order of their numbers.
    package func allProviders() -> [ProviderRef] {
        providers.indices.filter { !providers[$0].isGone }.map { reference(to: UInt32($0)) }
    }

    /// What is known of a provider in the table.
    package func statistics(of reference: ProviderRef) -> ProviderStatistics? {
        guard isKnown(reference), !providers[Int(reference.number)].isGone else { return nil }
        let provider = providers[Int(reference.number)]
        return ProviderStatistics(
            reference: reference, id: provider.id, peer: provider.peer,
            kinds: provider.kinds.map { kinds[Int($0)].number }, state: state(of: provider),
            capacity: provider.capacity, inFlight: provider.calls.count,
            waiting: provider.kinds.reduce(0) { $0 + kinds[Int($1)].waiting }, calls: provider.sent,
            failures: provider.failures, late: provider.late, unknown: provider.unknown,
            latencies: provider.latencies, registeredAt: provider.registeredAt,
            lastHeard: lastHeard(of: reference.number), failingSince: provider.breaker.failingSince,
            failedAt: provider.breaker.failedAt)
    }

    private func isKnown(_ reference: ProviderRef) -> Bool {
        reference.number < UInt32(providers.count)
            && providers[Int(reference.number)].generation == reference.generation
    }

    private func state(of provider: Provider) -> ProviderStatistics.State {
        if provider.isDraining { return .draining }
        return switch provider.breaker.state {
        case .closed: .live
        case .open(let until): until > now ? .open(for: until - now) : .halfOpen
        case .halfOpen: .halfOpen
        }
    }
}
