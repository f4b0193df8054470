import Foundation
import Glibc
import Testing

/// What a plain client of HTTP gets: the status and the body.
struct Visit: Equatable {
    var status: Int
    var body: String
}

/// Asks a server on the loopback interface, by one connection that ends with the answer.
///
/// It waits on a thread of its own: those that run tasks are few, and the server needs them.
func visit(_ url: String, _ path: String, method: String = "GET", body: String = "") async throws -> Visit {
    try await withCheckedThrowingContinuation { answered in
        Thread.detachNewThread {
            answered.resume(with: Result { try visitAndWait(url, path, method: method, body: body) })
        }
    }
}

private func visitAndWait(_ url: String, _ path: String, method: String, body: String) throws -> Visit {
    let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    try #require(connected == 0)
    let request = Array(
        """
        \(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
        Content-Length: \(body.utf8.count)\r\n\r\n\(body)
        """.utf8)
    try #require(write(descriptor, request, request.count) == request.count)
    var answer: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &part, part.count), count > 0 { answer += part[..<count] }
    let text = String(decoding: answer, as: UTF8.self)
    let status = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    let end = try #require(text.firstRange(of: "\r\n\r\n"))
    return Visit(status: status, body: String(text[end.upperBound...]))
}
