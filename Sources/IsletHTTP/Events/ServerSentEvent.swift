/// The text of server-sent events, as browsers read it.
package enum ServerSentEvent {
    /// How long a browser waits before it connects again.
    package static let greeting = Array("retry: 2000\n\n".utf8)
    /// A comment.
    package static let heartbeat = Array(":\n\n".utf8)

    /// The line that gives a message its number.
    package static func id(_ number: UInt64) -> [UInt8] {
        Array("id: \(number)\n".utf8)
    }

    /// The lines of a message's data and its end.
    ///
    /// Line ends in the data, which JSON has between its members at most, begin new lines of data; a browser puts them
    /// together again.
    package static func data(_ parts: [UInt8]...) -> [UInt8] {
        var text = Array("data: ".utf8)
        text.reserveCapacity(parts.reduce(16) { $0 + $1.count })
        for part in parts {
            guard part.contains(where: isLineEnd) else {
                text += part
                continue
            }
            for byte in part {
                if isLineEnd(byte) { text += "\ndata: ".utf8 } else { text.append(byte) }
            }
        }
        text += "\n\n".utf8
        return text
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    /// A message of a kind of its own.
    package static func named(_ name: String, _ data: [UInt8]) -> [UInt8] {
        Array("event: \(name)\n".utf8) + self.data(data)
    }

    /// So many messages were dropped, as the browser did not read them.
    package static func lost(_ count: Int) -> [UInt8] {
        named("lost", Array("{\"dropped\":\(count)}".utf8))
    }
}
