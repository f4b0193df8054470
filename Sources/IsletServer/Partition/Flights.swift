import IsletCore
package import IsletJournal

/// A batch on its way through the journal, with everything that leaves when it is committed.
package final class Flight {
    package fileprivate(set) var batch = JournalBatch(number: 0)
    package internal(set) var outbound = OutboundMessages()
    /// What its events want of providers.
    var calls = WantedCalls()

    fileprivate init() {}
}

/// Where an app's stream stands.
struct StreamMark {
    var seq: UInt64 = 0
    /// The listed entities and their digest.
    var entities = 0
    var digest = Digest()
}

/// What was handed to the journal and what may leave, in order.
///
///     board ──▶ depart ──▶ land(through:) ──▶ nextLanded ──▶ reuse
///        └────▶ hold ──▶ takeHeld, when there is room on the disk again
///
/// One batch is in the air; its answers wait with it. Flights are used again, so that a turn allocates nothing once it is
/// warm.
struct Flights {
    private var inAir: [Flight] = []
    /// When the last one departed, in monotonic milliseconds.
    private var departedAt: Milliseconds = 0
    /// The domain time at which the batch departed that is in the air, or was since ``takeDeparture()``; nil: none was.
    private var flownSince: Instant?
    /// What had been filled each time when the disk became full, and is not handed over yet.
    private var held: [Flight] = []
    private var landed: [Flight] = []
    private var spare: [Flight] = []
    /// Whether the journal waits for room on the disk.
    var isDiskFull = false
    /// The bytes that were free when it did.
    var freeBytes = 0

    /// All batches up to this number are committed.
    private(set) var committedThrough: UInt64 = 0
    /// Where the streams stand by then, by app; an app that is not there stands at nothing.
    private var committedMarks: [StreamMark] = []

    /// The journal would take another batch, which would only wait behind this one; here it can be filled further. Fewer
    /// and larger commits cost 7 % less of the service's time.
    private static let maximumInAir = 1
    /// At most this many used flights are kept.
    private static let maximumSpare = 2

    /// Whether another batch may be handed over.
    var mayDepart: Bool { inAir.count { !$0.batch.isEmpty } < Self.maximumInAir }
    /// For how many milliseconds the batch in the air has been there; nil: another may be handed over.
    func flightTime(at time: Milliseconds) -> Milliseconds? { mayDepart ? nil : time - departedAt }
    /// Whether nothing is on its way: what the engine shows is committed.
    var areLanded: Bool { inAir.isEmpty && held.isEmpty }

    /// Takes a batch and its messages, and leaves used ones in their place.
    mutating func board(_ batch: inout JournalBatch, _ outbound: inout OutboundMessages) -> Flight {
        let flight = board(&outbound)
        swap(&flight.batch, &batch)
        return flight
    }

    /// Takes messages that need no batch.
    mutating func board(_ outbound: inout OutboundMessages) -> Flight {
        let flight = spare.popLast() ?? Flight()
        swap(&flight.outbound, &outbound)
        return flight
    }

    mutating func depart(_ flight: Flight, at time: TurnTime) {
        inAir.append(flight)
        departedAt = time.monotonic
        flownSince = flownSince ?? time.domain
    }

    /// The domain time at which the batch departed that is in the air, or was since ``takeDeparture()``; nil: none was.
    var departure: Instant? { flownSince }

    /// The same, asked for the last time of a batch that is in the air no more.
    mutating func takeDeparture() -> Instant? {
        defer { if mayDepart { flownSince = nil } }
        return flownSince
    }

    mutating func hold(_ flight: Flight) { held.append(flight) }

    mutating func takeHeld() -> Flight? { held.isEmpty ? nil : held.removeFirst() }

    /// What waits for a commit.
    var waiting: [Flight] { inAir + held }

    /// The one that leaves once a batch is committed; nil where that is not handed over yet.
    func waiting(for number: UInt64) -> Flight? {
        inAir.first { $0.batch.number >= number } ?? held.first { $0.batch.number >= number }
    }

    /// What is held is given up.
    mutating func takeAllHeld() -> [Flight] {
        defer { held.removeAll() }
        return held
    }

    /// It may leave now.
    mutating func land(_ flight: Flight) {
        note(flight)
        landed.append(flight)
    }

    /// Where an app's stream stands by what is committed.
    func mark(of app: AppID) -> StreamMark {
        Int(app) < committedMarks.count ? committedMarks[Int(app)] : StreamMark()
    }

    private mutating func note(_ flight: Flight) {
        for row in flight.batch.rows {
            let app = Int(row.stream)
            if app >= committedMarks.count {
                committedMarks.append(contentsOf: repeatElement(StreamMark(), count: app + 1 - committedMarks.count))
            }
            committedMarks[app] = StreamMark(
                seq: row.lastSeq, entities: row.entities, digest: Digest(value: row.digest))
        }
    }

    /// It may leave as soon as what departed before it has landed.
    mutating func follow(_ flight: Flight) {
        flight.batch.reset(number: inAir.last?.batch.number ?? 0)
        if inAir.isEmpty { land(flight) } else { inAir.append(flight) }
    }

    /// All batches up to this number are committed.
    mutating func land(through number: UInt64) {
        committedThrough = number
        while let first = inAir.first, first.batch.number <= number { land(inAir.removeFirst()) }
    }

    /// All batches up to this number were committed by an earlier process, which left the streams there.
    mutating func begin(after number: UInt64, at marks: [StreamMark]) {
        committedThrough = number
        committedMarks = marks
    }

    /// Whether a message to a peer waits for a commit or for room.
    func carryMessages(to peer: Peer) -> Bool { waiting.contains { $0.outbound.hasMessage(to: peer) } }

    /// Whether something may leave.
    var hasLanded: Bool { !landed.isEmpty }

    /// What is not sent yet goes to some peers no more.
    func removeMessages(to peers: Set<Peer>) {
        for flight in inAir + held + landed { flight.outbound.removeMessages(to: peers) }
    }

    mutating func nextLanded() -> Flight? { landed.isEmpty ? nil : landed.removeFirst() }

    /// What it held was sent.
    mutating func reuse(_ flight: Flight) {
        guard spare.count < Self.maximumSpare else { return }
        flight.batch.reset(number: 0)
        flight.outbound.removeAll()
        flight.calls.removeAll()
        spare.append(flight)
    }
}
