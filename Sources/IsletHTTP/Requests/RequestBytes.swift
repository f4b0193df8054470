import HummingbirdCore
import NIOCore

/// The body of a request, which is read once.
struct RequestBytes {
    private var parts: RequestBody.AsyncIterator
    private var isAtEnd = false

    init(_ body: RequestBody) {
        parts = body.makeAsyncIterator()
    }

    /// Reads it to its end.
    ///
    /// - Returns: nil where it has more than so many bytes; then it has not been read to its end.
    @concurrent
    mutating func read(upTo limit: Int) async throws -> [UInt8]? {
        var bytes: [UInt8] = []
        while let part = try await parts.next() {
            guard bytes.count + part.readableBytes <= limit else { return nil }
            bytes += part.readableBytesView
        }
        isAtEnd = true
        return bytes
    }

    /// Reads what is left of a body that nobody wants.
    ///
    /// - Returns: whether it has ended within so many bytes.
    @concurrent
    mutating func skip(upTo limit: Int) async throws -> Bool {
        guard !isAtEnd else { return true }
        var count = 0
        while let part = try await parts.next() {
            count += part.readableBytes
            guard count <= limit else { return false }
        }
        isAtEnd = true
        return true
    }
}
