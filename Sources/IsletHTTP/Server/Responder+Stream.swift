import HTTPTypes
import HummingbirdCore
import IsletClient
import IsletServer
import NIOCore

/// Events as they happen.
extension Responder {
    /// A comment is sent where nothing else was for so long.
    private static let heartbeat = TimeAmount.seconds(15)
    /// A browser that takes nothing for so long is given up.
    private static let patience = TimeAmount.seconds(30)

    /// Sends the events of the topics that begin with a prefix, until the browser leaves or the service stops.
    @concurrent
    func stream(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        guard !Self.hasBody(request) else {
            // What nobody reads would hold the connection, and hide that the browser is gone.
            let reply = Reply.refusal(.badRequest, .badMessage, "a stream is asked for without a body")
            return try await send(reply, to: request, writer, RequestBytes(request.body), channel)
        }
        let prefix = request.uri.queryParameters["prefix"].map(String.init) ?? ""
        guard prefix.utf8.count <= HTTPLimits.prefixBytes else {
            let reply = Reply.refusal(.badRequest, .badField, "prefix: at most \(HTTPLimits.prefixBytes) bytes")
            return try await send(reply, to: request, writer, RequestBytes(request.body), channel)
        }
        guard Self.mayBeJoined(prefix) else {
            // The service would never say where such a stream begins.
            let reply = Reply.refusal(
                .badRequest, .badField, "prefix: 1 to \(HTTPLimits.appBytes) bytes name an app before the first slash")
            return try await send(reply, to: request, writer, RequestBytes(request.body), channel)
        }
        guard let queue = streams.open() else {
            let reply = Reply.refusal(
                .serviceUnavailable, .tooMany, "at most \(EventStreams.maximum) streams are open at a time",
                retry: .later)
            return try await send(reply, to: request, writer, RequestBytes(request.body), channel)
        }
        defer { streams.close(queue) }
        let subscription: RawSubscription
        do throws(BridgeError) {
            subscription = try await follow(prefix, queue)
        } catch {
            return try await send(Reply(error), to: request, writer, RequestBytes(request.body), channel)
        }
        let result: Result<Void, any Error>
        do {
            try await pump(queue, request, writer, channel)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await subscription.cancel()
        try result.get()
    }

    private static func hasBody(_ request: Request) -> Bool {
        request.headers[.transferEncoding] != nil || request.headers[.contentLength].map { Int($0) != 0 } ?? false
    }

    /// Whether a prefix ends within an app's name, or names one.
    private static func mayBeJoined(_ prefix: String) -> Bool {
        guard let slash = prefix.utf8.firstIndex(of: UInt8(ascii: "/")) else { return true }
        return (1...HTTPLimits.appBytes).contains(prefix.utf8[..<slash].count)
    }

    private func follow(_ prefix: String, _ queue: EventQueue) async throws(BridgeError) -> RawSubscription {
        let answer = try await bridge.exchange(Self.ping, timeout: HTTPLimits.commandTime)
        let feed = EventFeed(
            queue: queue, text: streams.text, version: ServiceCard.version, canWrite: canWrite,
            now: RawObject(answer)?["now"] ?? .null)
        return try await bridge.follow(prefix) { feed.take($0) }
    }

    @concurrent
    private func pump(
        _ queue: EventQueue, _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        var fields = HTTPFields.protecting
        fields[.contentType] = "text/event-stream"
        fields[.cacheControl] = "no-store"
        var body = try await writer.writeHead(HTTPResponse(status: .ok, headerFields: fields))
        try await body.write(ByteBuffer(bytes: ServerSentEvent.greeting))
        let heartbeats = channel.eventLoop.scheduleRepeatedTask(
            initialDelay: Self.heartbeat, delay: Self.heartbeat
        ) { _ in
            queue.beat()
        }
        defer { heartbeats.cancel() }
        try await request.body.consumeWithInboundCloseHandler { _ in
            while let text = await queue.next() {
                let timer = channel.close(after: Self.patience)
                defer { timer.cancel() }
                try await body.write(ByteBuffer(bytes: text))
            }
        } onInboundClosed: {
            queue.end()
        }
        try await body.finish(nil)
    }
}
