import IsletCore

/// What the table keeps of one provider.
struct Provider {
    let id: EntityID
    let peer: [UInt8]
    /// The connection's place in the table.
    let peerNumber: UInt32
    let generation: UInt32
    let registeredAt: Milliseconds
    /// The places of its kinds in the table.
    var kinds: [UInt32] = []
    /// The owner's numbers of the kinds that it served, once it is gone.
    var lostKinds: [UInt32] = []
    /// Its kind whose turn is next when a place is free.
    var nextKind = 0
    /// Whether a question comes before the reads of all kinds when a place is free: the last that it got was none.
    var isQuestionsTurn = true
    var capacity = 1
    /// It wants no new calls.
    var isDraining = false
    /// It is not in the table any more; the record stays until the owner has seen the effects.
    var isGone = false
    /// It met an overdue call, and gets more when that is gone.
    var isUnserved = false
    /// The connection over which it was heard has ended. Another one may bear the same name, with others behind it.
    var isCutOff = false
    /// When it was heard last, where it is cut off; else what is heard of its connection tells.
    var heardAt: Milliseconds = 0
    /// Its calls in flight, the oldest first.
    var calls = CallList()
    var breaker: CircuitBreaker
    var faults: FaultWindow
    /// When it answered a call last.
    var answeredAt: Milliseconds?
    /// Whether it let a call time out since.
    var isLate = false
    /// When it is pinged next, unless it has no calls then and was pinged lately.
    var pingAt: Milliseconds
    var pingedAt: Milliseconds
    /// Answers to calls of an earlier run of the service that it may still give without a fault.
    var strangersLeft = 0
    var sent: UInt64 = 0
    var failures: UInt64 = 0
    var late: UInt64 = 0
    var unknown: UInt64 = 0
    var latencies = LatencyHistogram()

    init(
        _ id: EntityID, peer: [UInt8], peerNumber: UInt32, generation: UInt32, at now: Milliseconds,
        _ limits: ProviderTable.Limits
    ) {
        self.id = id
        self.peer = peer
        self.peerNumber = peerNumber
        self.generation = generation
        registeredAt = now
        pingAt = now + limits.pingEvery
        pingedAt = now
        breaker = CircuitBreaker(
            failures: limits.breakerFailures, first: limits.breakerFirst, longest: limits.breakerLongest)
        faults = FaultWindow(limit: limits.faultLimit, span: limits.faultSpan)
    }

    /// Whether it may get a call now.
    func isAvailable(_ aside: CircuitBreaker.Aside? = nil, at now: Milliseconds) -> Bool {
        calls.count < capacity && !isDraining && breaker.allowsCall(aside, at: now)
    }

    /// Whether it may be tried by an action, though others of its kind are well: it ends its calls, if only with failures, and
    /// where nothing but actions is asked of it nothing else tries it.
    func isTriedByActions(at now: Milliseconds) -> Bool { !isLate && breaker.awaitsProbe(at: now) }

    /// Whether it has failed a probe since others began to wait, and answered nothing for so long, or nothing ever.
    func answersNothing(since start: Milliseconds, for span: Milliseconds, at now: Milliseconds) -> Bool {
        guard let failedAt = breaker.probeFailedAt, failedAt > start else { return false }
        return answeredAt.map { now - max($0, start) >= span } ?? true
    }
}

/// The calls of one kind that wait, and who takes them.
struct ProvidedKind {
    /// The owner's number.
    let number: UInt32
    /// The numbers of its providers, in the order in which they declared it.
    var providers: [UInt32] = []
    /// How many of them take calls, that is, do not drain.
    var open = 0
    var actions = CallList()
    /// Retries, each of which must not go to one of the providers.
    var retries = CallList()
    /// Values and options.
    var values = CallList()
    /// How many questions wait, whichever of the lists they are in.
    var questions = 0
    /// How many values and timelines of what is placed wait, whichever of the lists they are in.
    var reads = 0
    /// How many of them ask for something that did not fail the last time…
    var freshReads = 0
    /// …and since when there are such.
    var freshSince = Milliseconds.min
    /// Calls that wait or are in flight.
    var calls = 0
    /// Nobody takes its calls; what waits is failed, in pieces.
    var isOrphan = false
    /// More reads wait than may; these are given back, in pieces.
    var isCrowded = false

    init(number: UInt32) {
        self.number = number
    }

    var waiting: Int { actions.count + retries.count + values.count }
}

/// A connection: where its providers are heard.
struct ProviderPeer {
    let routingID: [UInt8]
    var lastHeard: Milliseconds
    var providers = 0
    /// The descriptor of the connection over which its providers were heard, where that is known and has not ended.
    var connection: Int32?
}

/// Who may not register for a while.
struct ProviderBan {
    let id: EntityID
    let peer: [UInt8]
    let until: Milliseconds
}
