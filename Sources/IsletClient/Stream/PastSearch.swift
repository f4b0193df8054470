/// Looks for the place in a stream from which on events are not older than a date.
///
/// A pure value. Events of one stream never go back in time, so that halving finds the place with few questions: each
/// is the first chunk of a replay.
package struct PastSearch: Sendable {
    /// What is to be done next.
    package enum Step: Sendable, Hashable {
        /// Ask for a replay from here, and hand its first chunk to ``received(_:)``.
        case ask(from: UInt64)
        /// The search has ended.
        case found(PastStart)
    }

    private let date: Int64
    /// All events up to this one are older, or are not kept.
    private var low: UInt64 = 0
    /// The next event after this one is not older, or there is none.
    private var high: UInt64
    private var asked: UInt64 = 0
    private var isCut = false

    /// Rows that a chunk has at most, by the contract: so few are asked for at once.
    private static let chunkRows: UInt64 = 256

    /// - Parameters:
    ///   - date: in milliseconds since 1970, of domain time.
    ///   - head: the stream's last event.
    package init(date: Int64, head: UInt64) {
        self.date = date
        high = head
    }

    /// The first question.
    package func begin() -> Step {
        low >= high ? .found(PastStart(seq: high)) : .ask(from: 0)
    }

    /// Takes in the first chunk that came of a question.
    ///
    /// - Throws: ``IsletError/refused(_:)``, ``IsletError/unreadable(_:)``.
    package mutating func received(_ chunk: BulkChunk) throws(IsletError) -> Step {
        if case .failed(let error) = chunk.end {
            guard error.code == .tooOld, let oldest = error.detail["oldest"]?.sequenceNumber, oldest > low + 1 else {
                throw .refused(error)
            }
            isCut = true
            low = oldest - 1
            return low >= high ? .found(PastStart(seq: low, isCut: true)) : ask(from: low)
        }
        var last: StreamEvent?
        for row in chunk.rows {
            guard let event = StreamEvent(topic: row.topic, bytes: row.bytes), event.seq > last?.seq ?? asked else {
                throw .unreadable("a replay whose events are not in order")
            }
            if event.at >= date {
                if let last { return .found(PastStart(seq: last.seq)) }
                if asked == low { return .found(PastStart(seq: low, isCut: isCut, firstAt: event.at)) }
                high = asked
                return next()
            }
            last = event
        }
        guard let last else {
            high = asked
            return next()
        }
        low = last.seq
        isCut = false
        return next()
    }

    private mutating func next() -> Step {
        guard low < high else { return .found(PastStart(seq: low)) }
        return ask(from: high - low <= Self.chunkRows ? low : low + (high - low) / 2)
    }

    private mutating func ask(from seq: UInt64) -> Step {
        asked = seq
        return .ask(from: seq)
    }
}

/// Where a stream is read from, for it to begin at a date.
package struct PastStart: Sendable, Hashable {
    /// The event before the first one.
    package let seq: UInt64
    /// Whether there were older events, possibly since the date, that are not kept any more.
    package let isCut: Bool
    /// The date of the oldest event that is kept, where that is the first one.
    package let firstAt: Int64?
    /// The stream's last event when this was looked for.
    package internal(set) var head: UInt64 = 0

    init(seq: UInt64, isCut: Bool = false, firstAt: Int64? = nil) {
        self.seq = seq
        self.isCut = isCut
        self.firstAt = firstAt
    }
}
