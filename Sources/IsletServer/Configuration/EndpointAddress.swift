/// Which addresses the service binds: `ipc://PATH`, and `tcp://HOST:PORT` on the loopback interface.
///
/// Any other address is refused until security can be configured (contract, "Endpoints").
enum EndpointAddress {
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
        guard text.hasPrefix("tcp://"), let colon = text.lastIndex(of: ":"), colon > text.startIndex else {
            throw SettingRefusal("no address: write tcp://127.0.0.1:PORT or ipc://PATH")
        }
        let host = text[..<colon].dropFirst("tcp://".count)
        let port = text[text.index(after: colon)...]
        guard port == "*" || (port.allSatisfy { $0.isASCII && $0.isNumber } && UInt16(port) != nil) else {
            throw SettingRefusal("an address without a port: write a number up to 65535, or * for any that is free")
        }
        guard host != "localhost" else { throw SettingRefusal("a name, and numbers are bound: write 127.0.0.1") }
        guard isLoopback(host) else {
            throw SettingRefusal(
                "refused: it can be reached from outside, and there is no security yet; "
                    + "use 127.0.0.1 or ipc://")
        }
        return text
    }

    /// Whether a host is one of 127.0.0.0/8.
    private static func isLoopback(_ host: Substring) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in
                part.allSatisfy { $0.isASCII && $0.isNumber } && UInt8(part) != nil
            }
    }
}
