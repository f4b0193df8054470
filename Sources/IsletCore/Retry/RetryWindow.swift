/// What makes a retry safe: the first answers to (`client`, `req`) pairs, for a while (contract, "Retries").
///
/// The owner asks ``check(client:req:frameHash:)`` before it executes a command that has both fields, and gives
/// ``remember(_:req:answer:batch:at:)`` each answer with `ok:true`; refusals are not remembered. Bounds: a time in
/// domain time, a number per client, and bytes in all, whichever comes first; the oldest go.
///
/// What is forgotten leaves a trace where a client counts up: at or below the highest forgotten number of the same stem
/// nothing is executed, because it may have been before. Numbers that often fall by 65 536 or more do not rise, and
/// leave none. Traces are bounded too: ``maximumIdleClients`` clients without a remembered answer, four stems each; the
/// longest unused go.
///
/// An answer costs its bytes, those of `req`, and about 90 more.
package struct RetryWindow: ~Copyable {
    /// The three bounds.
    package struct Limits: Equatable, Sendable {
        /// How long an answer is remembered, in domain time.
        package var span: Milliseconds
        package var answersPerClient: Int
        package var bytes: Int

        package init(span: Milliseconds, answersPerClient: Int, bytes: Int) {
            self.span = span
            self.answersPerClient = answersPerClient
            self.bytes = bytes
        }

        /// The contract's: 10 minutes, 65 536 per client, 256 MiB in all.
        package static let standard = Limits(span: 600_000, answersPerClient: 65_536, bytes: 256 << 20)
    }

    /// What is known of a pair.
    package enum Check: Sendable, BitwiseCopyable {
        /// Nothing: execute it, and remember it with the claim if the answer is `ok:true`.
        case new(RetryClaim)
        /// It was executed: give this answer again, not before its batch is committed.
        case answered(RememberedAnswer)
        /// It is being executed: the duplicate waits for the ticket's answer.
        case inFlight(RetryTicket)
        /// Another command came under this `req` before: `requestReused`.
        case reused
        /// It may have been executed and is forgotten: `outcomeUnknown`.
        case unknown
    }

    /// At most this many clients without a remembered answer are known for the numbers that are forgotten.
    package static let maximumIdleClients = 65_536
    /// A longer answer is not kept; a duplicate of its command gets `outcomeUnknown`.
    package static let maximumAnswerBytes = 64 << 10
    /// At most this many answers are forgotten for their age in one turn.
    package static let maximumForgottenPerTurn = 1_024
    /// What an entry takes beside its bytes: the record in its cell and its part of the index.
    static let entryBytes = MemoryLayout<RetryEntry>.stride + 24

    let limits: Limits
    var entries = Slab<RetryEntry>()
    var clients = Slab<RetryClient>()
    var payloads = PayloadStore()
    /// From client and `req` to the entry.
    var index = SlotIndex()
    var clientIndex = SlotIndex()
    var oldest: Slot = .max
    var newest: Slot = .max
    var oldestIdle: Slot = .max
    var newestIdle: Slot = .max
    var idleClients = 0
    /// Clients whose traces changed; each once.
    var changedTraces: [EntityID] = []
    /// While answers are restored: through which batch each client's trace has counted them; 0 where it does not say so.
    var countedThrough: [EntityID: UInt64] = [:]
    /// Which are not forgotten for their age alone.
    package var hold = RetryHold()
    /// Whether anybody writes the traces down.
    package var recordsTraces = false

    package init(limits: Limits = .standard) {
        self.limits = limits
    }

    /// How many pairs are remembered or in flight.
    package var count: Int { entries.count }

    /// The batch of the oldest answer that is remembered; nil where none is. Nothing of the batches before it is needed
    /// any more once the traces are written.
    package var oldestBatch: UInt64? { oldest == .max ? nil : entries[oldest].batch }

    /// The bytes that count toward the limit.
    package var heldBytes: Int { payloads.storedBytes + entries.count * Self.entryBytes }

    /// What is known of a pair.
    ///
    /// - Parameters:
    ///   - req: At most 64 bytes, as decoders ensure.
    ///   - frameHash: Of all bytes of the command's frame.
    package func check(client: EntityID, req: Span<UInt8>, frameHash: FrameHash) -> Check {
        let claim = RetryClaim(client: client, req: req, frameHash: frameHash)
        if let slot = find(claim, req) {
            let entry = entries[slot]
            guard entry.frameHash == frameHash else { return .reused }
            let reference = entries.reference(to: slot)
            switch entry.state {
            case .inFlight: return .inFlight(RetryTicket(entry: reference))
            case .answered: return .answered(RememberedAnswer(entry: reference, batch: entry.batch))
            case .answerNotKept: return .unknown
            }
        }
        if let number = claim.number, let slot = findClient(client), clients[slot].isAtOrBelowForgotten(number) {
            return .unknown
        }
        return .new(claim)
    }

    /// Remembers the `ok:true` answer of a command that was new.
    ///
    /// - Parameters:
    ///   - claim: Of the check in the same turn; nothing may have been remembered for the pair since.
    ///   - batch: The batch whose commit makes the answer true.
    ///   - now: Domain time.
    package mutating func remember(
        _ claim: RetryClaim, req: Span<UInt8>, answer: Span<UInt8>, batch: UInt64, at now: Instant
    ) {
        let keptAnswer = answer.count <= Self.maximumAnswerBytes ? answer : answer.extracting(first: 0)
        let slot = insert(claim, bytes: store(req, keptAnswer), reqCount: req.count)
        executed(claim.number, at: slot, batch: batch)
        answered(slot, isKept: answer.count <= Self.maximumAnswerBytes, batch: batch, at: now)
    }

    /// Marks a new command as being executed, for one whose answer comes in a later turn.
    ///
    /// Those in flight are bounded by the commands that wait, not here.
    package mutating func begin(_ claim: RetryClaim, req: Span<UInt8>) -> RetryTicket {
        let slot = insert(claim, bytes: store(req, req.extracting(first: 0)), reqCount: req.count)
        clients[entries[slot].client].inFlight += 1
        return RetryTicket(entry: entries.reference(to: slot))
    }

    /// Remembers the `ok:true` answer of a command in flight.
    package mutating func finish(_ ticket: RetryTicket, answer: Span<UInt8>, batch: UInt64, at now: Instant) {
        let slot = slot(of: ticket)
        clients[entries[slot].client].inFlight -= 1
        let isKept = answer.count <= Self.maximumAnswerBytes
        let old = entries[slot].bytes
        let req = payloads.withBytes(old) { [UInt8]($0) }
        if isKept {
            payloads.remove(old)
            entries[slot].bytes = store(req.span, answer)
        }
        executed(RetryNumber(req.span), at: slot, batch: batch)
        answered(slot, isKept: isKept, batch: batch, at: now)
    }

    /// Forgets a command in flight that was refused, so that it may come again.
    package mutating func abandon(_ ticket: RetryTicket) {
        let slot = slot(of: ticket)
        let client = entries[slot].client
        clients[client].inFlight -= 1
        remove(slot)
        releaseIfIdle(client)
    }

    /// Calls `body` with the bytes of a remembered answer; nil where it has been forgotten since the check.
    package func withAnswer<Result>(_ answer: RememberedAnswer, _ body: (Span<UInt8>) -> Result) -> Result? {
        guard entries.isCurrent(answer.entry) else { return nil }
        let entry = entries[answer.entry.slot]
        return payloads.withBytes(entry.bytes) { bytes in
            body(bytes.bindMemory(to: UInt8.self).span.extracting(Int(entry.reqCount)...))
        }
    }

    /// A client's number counts with its answer and not before, so that what is written of it through a batch is neither
    /// more nor less than what the answers of the batches up to it make.
    private mutating func executed(_ number: RetryNumber?, at slot: Slot, batch: UInt64) {
        guard let number else { return }
        let client = entries[slot].client
        if !countedThrough.isEmpty, let through = countedThrough[clients[client].id], batch <= through { return }
        clients[client].executed(number)
    }

    private func slot(of ticket: RetryTicket) -> Slot {
        precondition(
            entries.isCurrent(ticket.entry) && entries[ticket.entry.slot].state == .inFlight,
            "a ticket is used once")
        return ticket.entry.slot
    }

    private mutating func insert(_ claim: RetryClaim, bytes: PayloadHandle, reqCount: Int) -> Slot {
        let client = takeClient(claim)
        let slot = entries.insert(
            RetryEntry(
                client: client, frameHash: claim.frameHash, reqCount: UInt8(reqCount), state: .inFlight, at: .never,
                batch: 0, bytes: bytes))
        index.insert(claim.keyHash, slot)
        return slot
    }

    private mutating func answered(_ slot: Slot, isKept: Bool, batch: UInt64, at now: Instant) {
        let client = entries[slot].client
        entries[slot].state = isKept ? .answered : .answerNotKept
        entries[slot].at = now
        entries[slot].batch = batch
        link(slot, client)
        if clients[client].answers > UInt32(clamping: limits.answersPerClient) { forget(clients[client].oldest) }
        while heldBytes > limits.bytes, oldest != .max { forget(oldest) }
    }

    private mutating func store(_ req: Span<UInt8>, _ answer: Span<UInt8>) -> PayloadHandle {
        payloads.insert(count: req.count + answer.count) { target in
            req.withUnsafeBytes { target.copyMemory(from: $0) }
            answer.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: target[req.count...]).copyMemory(from: $0)
            }
        }
    }
}

/// A pair that was new at a check; ``RetryWindow/remember(_:req:answer:batch:at:)`` takes it.
package struct RetryClaim: Sendable, BitwiseCopyable {
    let client: EntityID
    let frameHash: FrameHash
    let keyHash: UInt64
    let number: RetryNumber?

    init(client: EntityID, req: Span<UInt8>, frameHash: FrameHash) {
        self.client = client
        self.frameHash = frameHash
        keyHash = RetryWindow.keyHash(client, req)
        number = RetryNumber(req)
    }
}

/// A command in flight.
package struct RetryTicket: Hashable, Sendable, BitwiseCopyable {
    let entry: SlotRef
}

/// An answer that is remembered.
package struct RememberedAnswer: Sendable, BitwiseCopyable {
    let entry: SlotRef
    /// The batch whose commit makes it true.
    package let batch: UInt64
}
