import IsletCore
import IsletJournal
package import IsletProtocol

/// What leaves once the present batch is committed: answers, chunks and what is published beside events, in order.
///
/// One buffer of bytes and a list of parts; filling it allocates nothing once it has grown.
package struct OutboundMessages: ~Copyable {
    package enum Destination: UInt8 {
        case commands
        case bulk
        case events
    }

    /// One frame to send.
    package struct Part {
        package var destination: Destination
        /// Whether another part of the same message follows.
        package var more: Bool
        var offset: Int
        var count: Int

        package var range: Range<Int> { offset..<offset + count }
    }

    package var writer = JSONWriter(capacity: 1 << 18)
    package private(set) var parts: [Part] = []
    /// When the messages came in whose answers are here and tell of changes.
    private(set) var receipts: [Receipt] = []

    /// The parts of messages that answer no change, in order.
    private var reads: [Range<Int>] = []

    /// At most so many `req` are known to be of commands that were executed before; with more, all may be.
    private static let maximumExecutedBefore = 16_384

    /// The `req` of messages with a command that was executed before the batch with which they leave: one that came
    /// again, or whose answer waited for another one of its message.
    private var executedBefore: Set<[UInt8]> = []

    /// Messages that were received in one turn.
    struct Receipt {
        /// Nanoseconds of real time.
        var at: Int64
        var count: Int
    }

    package init() {
        parts.reserveCapacity(4_096)
        receipts.reserveCapacity(64)
    }

    /// Notes that the answer to a message is here that was received at this time.
    @inline(__always)
    mutating func answered(receivedAt time: Int64) {
        if let last = receipts.indices.last, receipts[last].at == time {
            receipts[last].count += 1
        } else {
            receipts.append(Receipt(at: time, count: 1))
        }
    }

    var isEmpty: Bool { parts.isEmpty }

    /// Where the next frame's bytes begin; what is written to `writer` from here on is the frame.
    mutating func beginFrame() -> Int {
        writer.beginDocument()
        return writer.count
    }

    /// Adds what was written since `start` as a part.
    mutating func endFrame(from start: Int, to destination: Destination, more: Bool) {
        add(start..<writer.count, to: destination, more: more)
    }

    /// Adds bytes that stand in the buffer already.
    mutating func add(_ range: Range<Int>, to destination: Destination, more: Bool) {
        parts.append(Part(destination: destination, more: more, offset: range.lowerBound, count: range.count))
    }

    /// Adds a frame of these bytes.
    mutating func add(copying bytes: Span<UInt8>, to destination: Destination, more: Bool) {
        let start = beginFrame()
        writer.plainBytes(bytes)
        endFrame(from: start, to: destination, more: more)
    }

    /// Adds a frame of these bytes.
    mutating func add(copying bytes: [UInt8], to destination: Destination, more: Bool) {
        add(copying: bytes.span, to: destination, more: more)
    }

    /// Adds a whole answer.
    ///
    /// - Parameter batch: The one with which it leaves.
    mutating func add(_ answer: PendingAnswer, with batch: UInt64) {
        if answer.hasChange, answer.showsFirst < batch, let (frame, req) = answer.firstReq {
            noteExecutedBefore(frame.span.extracting(req.indices))
        }
        for frame in answer.route { add(copying: frame, to: answer.destination, more: true) }
        for frame in answer.frames {
            if let frame { add(copying: frame, to: answer.destination, more: true) }
        }
        endMessage()
    }

    /// A command was executed before the batch with which its answer leaves.
    mutating func noteExecutedBefore(_ req: Span<UInt8>) {
        guard executedBefore.count < Self.maximumExecutedBefore else { return }
        executedBefore.insert(req.withUnsafeBytes { Array($0) })
    }

    /// Whether a command of the message with these frames may have been, so that nobody may say that it was not.
    func mayBeExecutedBefore(_ message: [[UInt8]]) -> Bool {
        executedBefore.count >= Self.maximumExecutedBefore
            || message.contains { frame in
                PendingAnswer.req(of: frame).map { executedBefore.contains(Array(frame[$0.indices])) } ?? false
            }
    }

    /// Marks the last part as the end of its message.
    mutating func endMessage() {
        precondition(!parts.isEmpty, "a message has a part")
        parts[parts.count - 1].more = false
    }

    /// Notes that the message which ends here, and whose first part that is, answers no change.
    @inline(__always)
    mutating func readAnswered(from first: Int) { reads.append(first..<parts.count) }

    /// Takes out the messages that answer no change.
    mutating func takeReads() -> [[Part]] {
        let taken = reads.map { Array(parts[$0]) }
        for range in reads.reversed() { parts.removeSubrange(range) }
        reads.removeAll()
        return taken
    }

    /// Takes out the messages to some peers.
    mutating func removeMessages(to peers: Set<Peer>) {
        let former = reads
        reads.removeAll(keepingCapacity: true)
        var (first, kept, read) = (0, 0, 0)
        while first < parts.count {
            var end = first + 1
            while parts[end - 1].more, end < parts.count { end += 1 }
            let isRead = read < former.count && former[read].lowerBound == first
            if isRead { read += 1 }
            if !peers.contains(peer(of: parts[first])) {
                if isRead { reads.append(kept..<kept + end - first) }
                for index in first..<end {
                    parts[kept] = parts[index]
                    kept += 1
                }
            }
            first = end
        }
        parts.removeSubrange(kept...)
    }

    /// Whether a message to a peer is among them.
    func hasMessage(to peer: Peer) -> Bool {
        parts.indices.contains { ($0 == 0 || !parts[$0 - 1].more) && self.peer(of: parts[$0]) == peer }
    }

    private func peer(of part: Part) -> Peer {
        Peer(
            destination: part.destination,
            routingID: writer.withSpan { bytes in bytes.extracting(part.range).withUnsafeBytes { Array($0) } })
    }

    /// Room for so many parts is kept, however few there were.
    private static let keptParts = 8_192

    /// Removes what was written and is in no message, if there is none.
    mutating func removeUnwanted() {
        guard isEmpty else { return }
        writer.removeAll()
        receipts.removeAll(keepingCapacity: true)
    }

    mutating func removeAll() {
        writer.removeAll()
        if !executedBefore.isEmpty { executedBefore.removeAll() }
        parts.removeAll(givingBackBeyond: Self.keptParts)
        receipts.removeAll(keepingCapacity: true)
        reads.removeAll(keepingCapacity: true)
    }
}
