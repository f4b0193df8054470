package import IsletCore

/// Which provider gets which call, and when a call is over. A value: its owner performs the effects.
///
///     request ──▶ waits ──▶ in flight ──▶ answered
///        │          │           ├──▶ failed, lost ──▶ retried once (values, elsewhere) or over
///        │          ├───────────┴──▶ timed out: over
///        └──────────┼──▶ no provider: over
///                   └──▶ given back (values, where a provider answers again): its owner asks for it when there is room
///
/// Rules:
///
/// 1. The least loaded available provider gets a call, the one registered first among equals. Available: it has a place
///    free, does not drain, and its breaker lets the call through, which of actions and of questions it does at any time, one
///    by one, where no provider of their kind has a closed one that has not failed them; else an action may be a probe, where
///    all of these are busy.
/// 2. While a provider is available, nothing waits that it could take. What waits is in order: actions before retries
///    before values within a kind, and a provider serves its kinds in turn, but every other time a question first, whose time
///    runs while it waits. Only what a provider is tried by is the last value that did not fail the last time, where there is
///    one.
/// 3. The deadline of an action or a question counts from the request, so that waiting counts; that of a value or timeline of
///    what is placed from when it is sent first, and from the request only where its providers answer nothing. The owner asks
///    for those only while ``hasRoomForReads(of:)``.
/// 4. An action is sent at most once. A value or options call that its provider lost, or failed in a way that may be
///    retried, is sent once more, to another provider, within its deadline.
/// 5. A call ends once: with an answer, one ``Effect/failed(_:_:wasSent:)``, one ``Effect/givenBack(_:isAwaited:)``, or its
///    cancellation.
/// 6. A provider has a call in flight once its owner says that it was sent (``delivered(_:)``). One that was not goes
///    to the next provider when this one goes, drains or gives up its kind, as if it had never been given to this one:
///    it is no attempt, and nothing is held against anybody.
///
/// Times are real monotonic milliseconds, which never go back. Nothing that a provider sends can trap. Once warm, a call
/// allocates nothing.
package struct ProviderTable: ~Copyable {
    let limits: Limits

    var numbers: CallNumbers
    var calls = CallPool()
    /// Of the calls that wait or are in flight, by purpose.
    var byPurpose = SlotIndex()
    /// The deadlines of the calls that wait or are in flight, by slot.
    var deadlines: TimerWheel
    /// Calls that are over and may still be answered, the oldest first; all are kept equally long.
    var late = CallList()
    /// Late calls up to this position were forgotten before their time; until the time beside it one of them is late.
    var forgotten: (through: UInt64, until: Milliseconds) = (0, .min)

    var providers: [Provider] = []
    var providerNumbers: [EntityID: UInt32] = [:]
    /// Numbers without a provider.
    var freeProviders: [UInt32] = []
    /// Providers that are gone, and of whom effects tell that the owner has not taken, or has taken last.
    var gone: (untaken: [UInt32], taken: [UInt32]) = ([], [])
    /// When each provider has to be looked at: ping, silence, breaker.
    var attention = IndexedHeap()

    var peers: [ProviderPeer] = []
    var peerNumbers: [[UInt8]: UInt32] = [:]
    var freePeers: [UInt32] = []
    /// How many providers are cut off.
    var cutOffs = 0
    /// Nobody could be heard before this time.
    var listeningSince: Milliseconds
    /// When the owner took a message last, or would have.
    var listenedAt: Milliseconds

    var kinds: [ProvidedKind] = []
    var kindPlaces: [UInt32: UInt32] = [:]
    var freeKinds: [UInt32] = []
    /// Kinds that lost their last provider while calls waited.
    var orphans: [UInt32] = []

    /// Kinds with more reads that wait than may, now that one of their providers answers.
    var crowded: [UInt32] = []

    /// Providers that may get calls and met an overdue one.
    var unserved: [UInt32] = []

    /// What providers said of calls that they failed and that are sent once more, by slot; and of those that are over since
    /// and of which the owner was not told yet.
    var reasons: (kept: [UInt32: [UInt8]], told: [Purpose: [UInt8]]) = ([:], [:])

    var bans: [ProviderBan] = []
    var effects: [Effect] = []
    /// Up to this place the effects hold no ends of calls.
    private var endsTaken = 0
    /// How many calls wait.
    var waiting = 0
    /// What was counted of all providers, those that are gone among them.
    package internal(set) var totals: ProviderTotals
    /// The latest time that came in.
    private(set) var now: Milliseconds

    /// - Parameters:
    ///   - base: a random number, by which the calls of this run differ from those of earlier ones.
    ///   - now: where real monotonic time stands.
    package init(limits: Limits = Limits(), base: UInt64, at now: Milliseconds) {
        precondition(
            limits.maximumCalls + limits.lateCalls + limits.maximumCapacity <= CallNumbers.maximumSlots,
            "a call's number has room for its slot")
        self.limits = limits
        self.now = now
        totals = ProviderTotals(at: now)
        numbers = CallNumbers(base: base)
        deadlines = TimerWheel(start: Instant(now))
        listeningSince = now
        listenedAt = now
    }

    /// Calls that wait or are in flight.
    package var openCalls: Int { calls.count - late.count }
    /// Providers in the table.
    package var providerCount: Int { providerNumbers.count }
    /// Whether there is something for the owner to do.
    package var hasEffects: Bool { !effects.isEmpty }

    /// When ``advance(to:)`` has something to do; nil when nothing is to come.
    package func nextWork() -> Milliseconds? {
        guard orphans.isEmpty, unserved.isEmpty, crowded.isEmpty else { return now }
        let call = deadlines.nextWork()
        switch (call.isSet, attention.first?.key) {
        case (true, let provider?): return min(call.milliseconds, provider)
        case (true, nil): return call.milliseconds
        case (false, let provider): return provider
        }
    }

    /// Moves what there is to do into `batch`, in order, and takes the batch's room in its place.
    ///
    /// The references in it stay good for ``peer(of:)`` and ``id(of:)`` until the next time, also those of providers that
    /// are gone.
    package mutating func takeEffects(into batch: inout [Effect]) {
        batch.removeAll(keepingCapacity: true)
        swap(&batch, &effects)
        endsTaken = 0
        freeProviders.append(contentsOf: gone.taken)
        gone.taken.removeAll(keepingCapacity: true)
        swap(&gone.taken, &gone.untaken)
    }

    /// Moves the ends of calls into `batch`, in order, and leaves everything else for ``takeEffects(into:)``.
    ///
    /// What a provider said may have ended calls that are of consequence for whatever comes next, be it a registration.
    package mutating func takeEnds(into batch: inout [Effect]) {
        batch.removeAll(keepingCapacity: true)
        var kept = endsTaken
        for index in endsTaken..<effects.count {
            let effect = effects[index]
            switch effect {
            case .failed, .givenBack: batch.append(effect)
            case .send, .cancel, .ping, .dropped:
                effects[kept] = effect
                kept += 1
            }
        }
        effects.removeLast(effects.count - kept)
        endsTaken = kept
    }

    /// Takes the time of an input.
    mutating func clock(_ time: Milliseconds) {
        now = max(now, time)
    }
}
