import Glibc
package import IsletClient

/// One question to the service's HTTP endpoint, such as `GET /healthz`. It blocks for a few seconds at most.
package struct HTTPQuestion {
    /// What came back.
    package struct Answer: Sendable, Equatable {
        package let status: Int
        /// The body; nil where it is no JSON object.
        package let object: RawObject?
    }

    /// `host:port`, or `[::1]:port`.
    let authority: String
    let path: String

    /// More of an answer is not read.
    private static let bytesMax = 65_536
    private static let patience: time_t = 2

    /// Asks it; nil where nobody listens, or what answers is no HTTP.
    func answer() -> Answer? {
        guard let colon = authority.lastIndex(of: ":") else { return nil }
        let host = authority[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
        guard let descriptor = Listener.connected(String(host), String(authority[authority.index(after: colon)...]))
        else { return nil }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let request = Array("GET \(path) HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < Self.bytesMax {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return Self.read(bytes)
    }

    /// Reads an answer whose body ends with the connection.
    package static func read(_ bytes: [UInt8]) -> Answer? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("HTTP/1."), let status = Int(text.dropFirst(9).prefix(3)) else { return nil }
        // A body in chunks has its lengths around it: the object is what stands between the braces.
        guard let first = text.firstIndex(of: "{"), let last = text.lastIndex(of: "}"), first < last else {
            return Answer(status: status, object: nil)
        }
        return Answer(status: status, object: RawJSON(String(text[first...last]))?.object)
    }
}
