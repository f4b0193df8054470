import ZeroMQ

/// One message as it came from a peer: routing id, envelope, commands. Kept and used again for each message.
///
/// An empty first frame, or a 4-byte frame followed by an empty one (`REQ_CORRELATE`), is the envelope; everything after
/// it is commands, one a frame.
package struct InboundMessage: ~Copyable {
    /// A message has at most this many commands.
    static let maximumCommands = 256
    /// A command has at most this many bytes.
    static let maximumCommandBytes = 64 * 1_024

    /// A frame within `bytes`; of one that is too long only the length is kept.
    struct Frame {
        var range: Range<Int>
        var isTooLong = false
    }

    private(set) var bytes: [UInt8] = []
    private(set) var frames: [Frame] = []
    /// Whether there were more frames than a message may have.
    private(set) var hasTooManyFrames = false
    /// The frames that come before the commands: the routing id and the envelope.
    private(set) var routeCount = 0

    init() {
        bytes.reserveCapacity(1 << 16)
        frames.reserveCapacity(Self.maximumCommands + 3)
    }

    /// Receives the next message that waits; false where none does.
    ///
    /// - Parameters:
    ///   - message: a frame to receive into, used again.
    ///   - isRouted: whether a routing id comes first.
    mutating func receive(from socket: borrowing Socket, into message: inout Message, isRouted: Bool) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
        hasTooManyFrames = false
        repeat {
            // A failure of a receive means that the context ended; there is nothing to receive any more.
            guard let received = try? socket.receive(into: &message), received else { return false }
            append(message)
        } while message.more
        routeCount = isRouted ? 1 + envelopeCount : 0
        hasTooManyFrames = frames.count - routeCount > Self.maximumCommands
        return true
    }

    /// Takes the frames of a message that came by another way than a socket.
    package mutating func set(_ content: [[UInt8]], isRouted: Bool) {
        bytes.removeAll(keepingCapacity: true)
        frames.removeAll(keepingCapacity: true)
        for frame in content.prefix(Self.maximumCommands + 4) {
            let start = bytes.count
            let isTooLong = frame.count > Self.maximumCommandBytes
            if !isTooLong { bytes.append(contentsOf: frame) }
            frames.append(Frame(range: start..<bytes.count, isTooLong: isTooLong))
        }
        routeCount = isRouted ? 1 + envelopeCount : 0
        hasTooManyFrames = frames.count - routeCount > Self.maximumCommands
    }

    /// The frames that are commands.
    var commands: Range<Int> { routeCount..<frames.count }

    /// A copy of a frame's bytes.
    func frame(_ index: Int) -> [UInt8] { Array(bytes[frames[index].range]) }

    private mutating func append(_ message: borrowing Message) {
        // Three more than commands: the routing id and a correlating envelope. One beyond tells that it is too many.
        guard frames.count < Self.maximumCommands + 4 else { return }
        let start = bytes.count
        let isTooLong = message.count > Self.maximumCommandBytes
        if !isTooLong { message.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        frames.append(Frame(range: start..<bytes.count, isTooLong: isTooLong))
    }

    private var envelopeCount: Int {
        if frames.count > 1, isEmpty(1) { return 1 }
        if frames.count > 2, frames[1].range.count == 4, isEmpty(2) { return 2 }
        return 0
    }

    private func isEmpty(_ index: Int) -> Bool { frames[index].range.isEmpty && !frames[index].isTooLong }
}
