import Glibc

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
            guard !path.utf8.contains(0) else { throw SettingRefusal("no ipc address: a path has no byte 0") }
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
        guard !host.contains(":") else { throw SettingRefusal("IPv6, which is not supported: use \(use)") }
        guard host != "localhost" else { throw SettingRefusal("a name, and numbers are bound: write 127.0.0.1") }
        guard isLoopback(host) else {
            throw SettingRefusal(
                "refused: it can be reached from outside, and there is no security yet; use \(use)")
        }
        return (host, Int(number))
    }

    /// What is equal for two spellings of one address: numbers without zeros ahead, a path without what says nothing.
    static func canonical(_ address: String) -> String {
        if address.hasPrefix("ipc://") {
            let path = address.dropFirst("ipc://".count)
            let parts = path.split(separator: "/").filter { $0 != "." }
            return "ipc://" + (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
        }
        guard address.hasPrefix("tcp://"), let colon = address.lastIndex(of: ":") else { return address }
        let host = address[..<colon].dropFirst("tcp://".count).split(separator: ".")
        let port = address[address.index(after: colon)...]
        let numbers = host.map { UInt8($0).map { "\($0)" } ?? String($0) }
        return "tcp://" + numbers.joined(separator: ".") + ":" + (UInt16(port).map { "\($0)" } ?? String(port))
    }

    /// An address that was bound, as a process in another directory reaches it: with the whole path, where that is
    /// short enough for a socket.
    static func absolute(_ address: String) -> String {
        guard address.hasPrefix("ipc://") else { return address }
        let path = address.dropFirst("ipc://".count)
        // A name of the kernel's own is no path.
        guard !path.hasPrefix("/"), !path.hasPrefix("@"), let directory = getcwd(nil, 0) else { return address }
        defer { free(directory) }
        let whole = String(cString: directory) + "/" + path
        return whole.utf8.count <= maximumPathBytes ? "ipc://" + whole : address
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
