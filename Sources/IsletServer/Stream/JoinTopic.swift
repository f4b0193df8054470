/// A join's topic: `0xFF join/<32 hexadecimal digits>`, with `/<app>` where only one app is asked for.
package struct JoinTopic {
    package let topic: [UInt8]
    package let app: [UInt8]?
    /// Its place in the ledger.
    var ticket: WorkLedger.Ticket?

    static let start: [UInt8] = [0xFF] + Array("join/".utf8)
    private static let nonceCount = 32
    private static let maximumAppBytes = 100

    /// The subscriber's own, as it wrote it.
    var nonce: [UInt8] { Array(topic.dropFirst(Self.start.count).prefix(Self.nonceCount)) }

    static func isJoin(_ topic: some Sequence<UInt8>) -> Bool { topic.starts(with: start) }

    package init?(_ topic: [UInt8]) {
        self.topic = topic
        let rest = topic.dropFirst(Self.start.count)
        guard Self.isJoin(topic), rest.count >= Self.nonceCount else { return nil }
        let isHex = rest.prefix(Self.nonceCount).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
        let tail = rest.dropFirst(Self.nonceCount)
        guard isHex else { return nil }
        if tail.isEmpty {
            app = nil
        } else {
            guard tail.first == UInt8(ascii: "/"), (2...Self.maximumAppBytes + 1).contains(tail.count) else {
                return nil
            }
            app = Array(tail.dropFirst())
        }
    }
}
