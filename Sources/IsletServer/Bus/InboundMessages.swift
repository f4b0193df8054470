import IsletProtocol
package import ZeroMQ

/// Messages as they came from peers: routing id, envelope, commands. Some that wait are received at once, and one after
/// the other is then the present one. Kept and used again, so that receiving allocates nothing once it is warm.
///
/// An empty first frame, or a 4-byte frame followed by an empty one (`REQ_CORRELATE`), is the envelope; everything after
/// it is commands, one a frame.
package struct InboundMessages: ~Copyable {
    /// A message has at most this many commands.
    package static let maximumCommands = 256
    /// A command has at most this many bytes.
    package static let maximumCommandBytes = 64 * 1_024
    /// Of one that is too long so many bytes are kept, in which its `req` may stand.
    static let keptBytesOfTooLong = 1_024
    /// No further message is received once so many messages, frames or bytes are here. The last may exceed the two others.
    package static let messagesAtOnce = 32
    private static let framesAtOnce = 160
    /// Of so many of those, from the first on, of each that may register a provider and of each whose peer has named
    /// itself it is known over which connection they came, where nobody wants to know more: it costs much to ask, and
    /// where more wait, time is short.
    private static let connectionsAtOnce = 4
    private static let bytesAtOnce = 128 * 1_024
    /// Of one message so many frames are received at once. It is refused then, and what is left of it is passed over by
    /// the next calls: a message has as many as its sender likes.
    package static let framesOfMessageAtOnce = 4_096
    /// So many frames at once, which takes about ten milliseconds: nobody else is served by the socket meanwhile.
    package static let framesPassedOverAtOnce = 65_536

    /// A frame within `bytes`; of one that is too long only the beginning is kept.
    package struct Frame {
        var range: Range<Int>
        package var isTooLong = false
    }

    private var bytes: [UInt8] = []
    /// The frames of all messages that are here.
    private var frames: [Frame] = []
    /// For each message the index behind its last frame.
    private var ends: [Int] = []
    /// Over which connections the messages came.
    private var connections: [Int32] = []
    private static let unknownConnection: Int32 = -1
    private static let endedConnection: Int32 = -2
    /// Whether one of the messages may register a provider, for whose sake the ends of connections must be known.
    private(set) var holdsRegistration = false
    /// Whether one of the messages is of a peer that has named itself, for whose sake they must be known, too.
    private(set) var holdsNamed = false
    private var isRouted = false
    /// The next to be the present one.
    private var nextMessage = 0
    /// The present message's frames.
    private var present = 0..<0
    /// Whether the present message has more frames than a message may have.
    package private(set) var hasTooManyFrames = false
    /// How many frames of the present message come before its commands: the routing id and the envelope.
    package private(set) var routeCount = 0

    package init() {
        bytes.reserveCapacity(1 << 16)
        frames.reserveCapacity(Self.maximumCommands + 3)
        ends.reserveCapacity(Self.messagesAtOnce)
    }

    /// Receives messages that wait; none of them is the present one before ``next()``.
    ///
    /// - Parameters:
    ///   - limit: at most so many.
    ///   - message: a frame to receive into, used again.
    ///   - isRouted: whether a routing id comes first.
    ///   - locatesAll: whether of each message is asked over which connection it came.
    /// - Returns: how many were received; none also while a message of far too many frames is passed over.
    package mutating func receive(
        _ limit: Int, from socket: borrowing Socket, into message: inout Message, isRouted: Bool,
        locatesAll: Bool = false
    ) -> Int {
        removeAll(isRouted: isRouted)
        guard passOverRest(of: socket, into: &message) else { return 0 }
        while ends.count < min(limit, Self.messagesAtOnce), frames.count < Self.framesAtOnce,
            bytes.count < Self.bytesAtOnce
        {
            let start = frames.count
            var left = Self.framesOfMessageAtOnce
            repeat {
                // A failure of a receive means that the context ended; there is nothing to receive any more.
                guard let received = try? socket.receive(into: &message), received else { return ends.count }
                append(message, ofMessageAt: start)
                left -= 1
            } while message.more && left > 0
            if isRouted {
                let mayRegister = mayRegister(from: start + 1)
                if mayRegister { holdsRegistration = true }
                let isNamed = isNamed(start)
                if isNamed { holdsNamed = true }
                let isLocated = locatesAll || ends.count < Self.connectionsAtOnce || mayRegister || isNamed
                connections.append(isLocated ? message.sourceDescriptor ?? Self.unknownConnection : Self.unknownConnection)
            }
            ends.append(frames.count)
            if message.more { break }
        }
        return ends.count
    }

    /// Passes over some of what is left of a message whose beginning was received; true where nothing is left.
    private func passOverRest(of socket: borrowing Socket, into message: inout Message) -> Bool {
        guard let hasMore = try? socket.hasMore, hasMore else { return true }
        for _ in 0..<Self.framesPassedOverAtOnce {
            guard let received = try? socket.receive(into: &message), received else { return false }
            if !message.more { return true }
        }
        return false
    }

    /// Makes the next message the present one; false where none is left.
    package mutating func next() -> Bool {
        guard nextMessage < ends.count else { return false }
        present = (nextMessage == 0 ? 0 : ends[nextMessage - 1])..<ends[nextMessage]
        nextMessage += 1
        routeCount = isRouted ? 1 + envelopeCount : 0
        hasTooManyFrames = present.count - routeCount > Self.maximumCommands
        return true
    }

    /// Takes the frames of a message that came by another way than a socket, which is the present one then.
    package mutating func set(_ content: [[UInt8]], isRouted: Bool) {
        removeAll(isRouted: isRouted)
        for frame in content.prefix(Self.maximumCommands + 4) {
            let start = bytes.count
            let isTooLong = frame.count > Self.maximumCommandBytes
            bytes.append(contentsOf: isTooLong ? frame.prefix(Self.keptBytesOfTooLong) : frame[...])
            frames.append(Frame(range: start..<bytes.count, isTooLong: isTooLong))
        }
        ends.append(frames.count)
        _ = next()
    }

    /// Over which connection the present message came, where that is known and has not ended.
    var connection: Int32? { place.flatMap { $0 >= 0 ? $0 : nil } }

    /// Whether the connection over which the present message came has ended.
    var isCutOff: Bool { place == Self.endedConnection }

    private var place: Int32? {
        connections.indices.contains(nextMessage - 1) ? connections[nextMessage - 1] : nil
    }

    /// The connection of the present message had ended before it was taken: its descriptor may be another one's.
    mutating func connectionHasEnded() { connections[nextMessage - 1] = Self.endedConnection }

    /// How many frames the present message has.
    var count: Int { present.count }

    /// The frames of the present message that are commands.
    package var commands: Range<Int> { routeCount..<present.count }

    /// A frame of the present message.
    package subscript(index: Int) -> Frame { frames[present.lowerBound + index] }

    /// A copy of the bytes of one of the present message's frames.
    package func frame(_ index: Int) -> [UInt8] { Array(bytes[self[index].range]) }

    /// Calls `body` with the bytes of one of the present message's frames. It must neither receive, nor go on to the next
    /// message, nor keep them.
    ///
    /// Lent and not handed out as an array, whose holders would be counted: two atomic counts a command, each of which
    /// waits until all stores before it are done.
    @inline(__always)
    func withFrame<Result, Failure: Error>(
        _ index: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes.span.extracting(self[index].range))
    }

    /// The frames of all messages that are here, the present and those that were or will be.
    func forEachFrame(_ body: (Span<UInt8>) -> Void) {
        for frame in frames { body(bytes.span.extracting(frame.range)) }
    }

    private mutating func removeAll(isRouted: Bool) {
        bytes.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        connections.removeAll(keepingCapacity: true)
        holdsRegistration = false
        holdsNamed = false
        self.isRouted = isRouted
        nextMessage = 0
        present = 0..<0
        routeCount = 0
        hasTooManyFrames = false
    }

    private mutating func append(_ message: borrowing Message, ofMessageAt first: Int) {
        // Three more than commands: the routing id and a correlating envelope. One beyond tells that it is too many.
        guard frames.count - first < Self.maximumCommands + 4 else { return }
        let start = bytes.count
        let isTooLong = message.count > Self.maximumCommandBytes
        let kept = isTooLong ? Self.keptBytesOfTooLong : message.count
        message.withUnsafeBytes { bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<kept])) }
        frames.append(Frame(range: start..<bytes.count, isTooLong: isTooLong))
    }

    /// Whether one of the frames from an index on may register a provider, whose connection must be known.
    private func mayRegister(from first: Int) -> Bool {
        (first..<frames.count).contains { OperationName.mayBeRegistration(bytes.span.extracting(frames[$0].range)) }
    }

    /// Whether a frame that is a routing id is a name.
    @inline(__always)
    private func isNamed(_ index: Int) -> Bool {
        let range = frames[index].range
        return !range.isEmpty && Peer.beginsName(bytes[range.lowerBound])
    }

    /// Whether the present message is of a peer that has named itself.
    var isNamed: Bool { isRouted && isNamed(present.lowerBound) }

    private var envelopeCount: Int {
        if present.count > 1, isEmpty(1) { return 1 }
        if present.count > 2, self[1].range.count == 4, isEmpty(2) { return 2 }
        return 0
    }

    private func isEmpty(_ index: Int) -> Bool { self[index].range.isEmpty && !self[index].isTooLong }
}
