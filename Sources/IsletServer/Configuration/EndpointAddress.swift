/// Which addresses the service binds: `ipc://PATH`, and `tcp://HOST:PORT` on the loopback interface.
///
/// Any other address is refused until security can be configured (contract, "Endpoints").
package enum EndpointAddress {
    /// A socket's path fits into 108 bytes with its end.
    private static let maximumPathBytes = 107

    /// The address, if it may be bound.
    static func checked(_ text: String) throws(SettingRefusal) -> String {
        if text.hasPrefix("ipc://") {
            let path = text.dropFirst("ipc://".count)
            guard (1...maximumPathBytes).contains(path.utf8.count) else {
                throw SettingRefusal("no ipc address: the path has 1 to \(maximumPathBytes) bytes")
            }
            return text
        }
        guard text.hasPrefix("tcp://") else {
            throw SettingRefusal("no address: write tcp://127.0.0.1:PORT or ipc://PATH")
        }
        _ = try hostAndPort(
            text.dropFirst("tcp://".count), example: "tcp://127.0.0.1:PORT or ipc://PATH", use: "127.0.0.1 or ipc://")
        return text
    }

    /// The address `HOST:PORT` of HTTP, if it may be bound.
    static func checkedHTTP(_ text: String) throws(SettingRefusal) -> HTTPAddress {
        let (host, port) = try hostAndPort(text[...], example: "127.0.0.1:PORT, or none", use: "127.0.0.1")
        return HTTPAddress(host: String(host), port: port)
    }

    /// - Returns: 0 for a port of `*`.
    private static func hostAndPort(
        _ text: Substring, example: String, use: String
    ) throws(SettingRefusal) -> (host: Substring, port: Int) {
        guard let colon = text.lastIndex(of: ":") else { throw SettingRefusal("no address: write \(example)") }
        let host = text[..<colon]
        let port = text[text.index(after: colon)...]
        let number = port == "*" ? 0 : port.allSatisfy { $0.isASCII && $0.isNumber } ? UInt16(port) : nil
        guard let number else {
            throw SettingRefusal("an address without a port: write a number up to 65535, or * for any that is free")
        }
        guard host != "localhost" else { throw SettingRefusal("a name, and numbers are bound: write 127.0.0.1") }
        guard isLoopback(host) else {
            throw SettingRefusal(
                "refused: it can be reached from outside, and there is no security yet; use \(use)")
        }
        return (host, Int(number))
    }

    /// Whether a host is one of 127.0.0.0/8.
    package static func isLoopback(_ host: Substring) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in
                part.allSatisfy { $0.isASCII && $0.isNumber } && UInt8(part) != nil
            }
    }
}
