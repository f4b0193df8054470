import IsletOracle

/// One command as it was sent.
struct SentCommand {
    var command: OracleCommand
    var bytes: [UInt8]
    var wantsAnswer = true
    /// Real milliseconds after which it is not executed any more.
    var ttl: Int64?
    /// It is answered once its app's stream is so far.
    var minSeq: Int?
}

/// One message of a client, and what its answer must say.
final class Message {
    let correlation: UInt32
    let peer: Int
    let commands: [SentCommand]
    /// Real milliseconds.
    var receivedAt: Int64 = 0
    /// By command; filled when it is executed.
    var expectations: [Expectation?]

    init(correlation: UInt32, peer: Int, _ commands: [SentCommand]) {
        self.correlation = correlation
        self.peer = peer
        self.commands = commands
        expectations = commands.map { _ in nil }
    }

    var correlationBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: correlation >> (24 - 8 * $0)) } }
    var routingID: [UInt8] { Array("peer\(peer)".utf8) }
    var frames: [[UInt8]] { [routingID, correlationBytes, []] + commands.map(\.bytes) }
}
