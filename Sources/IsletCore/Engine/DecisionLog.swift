/// What a ``DecisionLog`` remembers.
package protocol DecisionEntry: Sendable {
    /// The entity that it is about.
    var id: EntityID { get }
    /// The app of that entity.
    var app: AppID { get }
    /// The event that it made.
    var event: (seq: UInt64, revision: UInt32)? { get }
}

/// What a decision came to, with the names of its family's events.
package enum DecisionOutcome<EventName: Sendable>: Sendable {
    /// It made a transition or replaced content: the event's sequence number and revision.
    case applied(name: EventName, seq: UInt64, revision: UInt32)
    /// It became one with what waits already: executed, but without an event.
    case merged
    case ignored(IgnoreReason)
    case refused

    /// The event that it made.
    package var event: (seq: UInt64, revision: UInt32)? {
        if case .applied(_, let seq, let revision) = self { (seq, revision) } else { nil }
    }

    /// The same with other names of the events.
    package func named<Name>(_ name: (EventName) -> Name) -> DecisionOutcome<Name> {
        switch self {
        case .applied(let event, let seq, let revision): .applied(name: name(event), seq: seq, revision: revision)
        case .merged: .merged
        case .ignored(let reason): .ignored(reason)
        case .refused: .refused
        }
    }
}

extension DecisionOutcome: Equatable where EventName: Equatable {}
extension DecisionOutcome: BitwiseCopyable where EventName: BitwiseCopyable {}

/// One decision about one activity, for `explain`.
package struct Decision: DecisionEntry, BitwiseCopyable {
    package typealias Outcome = DecisionOutcome<ActivityEventName>

    package var id: EntityID
    package var app: AppID
    package var at: Instant
    package var rule: Rule
    package var outcome: Outcome
    package var from: ActivityState?
    package var to: ActivityState
    package var cause: Cause?
    package var client: EntityID?
    package var req: InlineText

    package var event: (seq: UInt64, revision: UInt32)? { outcome.event }
}

/// At most 64 bytes of text without a heap allocation.
package struct InlineText: Sendable, BitwiseCopyable {
    package static let maximumCount = 64
    private var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
    package private(set) var count: UInt8 = 0

    package init() {}

    package init(_ range: FrameRange, of frame: Span<UInt8>) {
        let kept = FrameRange(offset: Int(range.offset), count: min(Int(range.count), InlineText.maximumCount))
        count = UInt8(kept.count)
        withUnsafeMutableBytes(of: &words) {
            frame.copy(kept, to: UnsafeMutableRawBufferPointer(rebasing: $0[0..<Int(kept.count)]))
        }
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[0..<Int(count)])) }
    }
}

/// The last decisions about all entities of a family, oldest first; a bounded ring.
package struct DecisionLog<Entry: DecisionEntry>: ~Copyable {
    /// How many decisions are kept.
    package static var capacity: Int { 32_768 }
    private var ring: [Entry] = []
    /// A part of each entry's id, so that a search reads a quarter of a mebibyte and not all entries.
    private var signs: [UInt64] = []
    private var next = 0

    package init() {}

    package mutating func append(_ decision: Entry) {
        if ring.count < DecisionLog.capacity {
            ring.append(decision)
            signs.append(decision.id.low)
        } else {
            ring[next] = decision
            signs[next] = decision.id.low
            next = (next + 1) % DecisionLog.capacity
        }
    }

    /// The newest kept decisions about an entity, oldest first: at most `count`, and none from before it was made, since its id
    /// may have been another's.
    package func newest(_ count: Int, about id: EntityID, of app: AppID) -> [Entry] {
        var found: [Entry] = []
        var position = next
        for _ in ring.indices where found.count < count {
            position = (position == 0 ? ring.count : position) - 1
            guard signs[position] == id.low, ring[position].id == id, ring[position].app == app else { continue }
            found.append(ring[position])
            if ring[position].event?.revision == 1 { break }
        }
        found.reverse()
        return found
    }
}
