import HTTPTypes
import HummingbirdCore
import IsletClient
import Logging
import NIOCore

/// Answers requests.
struct Responder: Sendable {
    let bridge: Bridge
    let streams: EventStreams
    let assets: BoardAssets
    let canWrite: Bool
    let logger: Logger

    /// Answers one request of a connection.
    ///
    /// - Throws: where the connection is lost or was closed.
    @concurrent
    func respond(
        to request: Request, with writer: consuming ResponseWriter, on channel: any Channel
    ) async throws {
        let route = Route(path: request.uri.path)
        if let reply = refusal(of: request, route) {
            try await send(reply, to: request, writer, RequestBytes(request.body), channel)
        } else if case .events = route {
            try await stream(request, writer, channel)
        } else {
            var body = RequestBytes(request.body)
            let reply = try await reply(to: request, route, &body, channel)
            try await send(reply, to: request, writer, body, channel)
        }
    }

    /// Why a request is not looked at; nil where it is.
    private func refusal(of request: Request, _ route: Route) -> Reply? {
        if let reply = RequestGuard.refusal(of: request.head, isForScripts: route.isForScripts) { return reply }
        guard !route.methods.contains(request.method) else { return nil }
        let methods = route.methods.map(\.rawValue).joined(separator: ", ")
        var reply = Reply.refusal(.methodNotAllowed, .badMessage, "the methods here are \(methods)")
        reply.fields[.allow] = methods
        return reply
    }

    @concurrent
    private func reply(
        to request: Request, _ route: Route, _ body: inout RequestBytes, _ channel: any Channel
    ) async throws -> Reply {
        switch route {
        case .metrics: await metrics()
        case .health: await health()
        case .readiness: await readiness()
        case .session: session()
        case .commands: try await command(request, &body, channel)
        case .filter: try await filter(request, &body, channel)
        case .events: preconditionFailure("streams are answered elsewhere")
        case .asset(let name):
            assets.asset(name)?.reply(known: request.headers[.ifNoneMatch])
                ?? .refusal(.notFound, .notFound, "there is no such page")
        }
    }

    /// Sends an answer, and reads what is left of the request.
    @concurrent
    func send(
        _ reply: Reply, to request: Request, _ writer: consuming ResponseWriter, _ body: consuming RequestBytes,
        _ channel: any Channel
    ) async throws {
        logger.debug(
            "http",
            metadata: [
                "method": "\(request.method)", "path": "\(request.uri.path)", "status": "\(reply.status.code)",
            ])
        let timer = channel.close(after: HTTPLimits.replyTime)
        defer { timer.cancel() }
        var fields = HTTPFields.protecting
        for field in reply.fields { fields[field.name] = field.value }
        if reply.status != .notModified { fields[.contentLength] = String(reply.body.count) }
        let head = HTTPResponse(status: reply.status, headerFields: fields)
        if request.method == .head || reply.body.isEmpty {
            try await writer.writeResponse(head)
        } else {
            try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
        }
        // Closed at once, the connection could lose the answer on its way.
        if try await !body.skip(upTo: HTTPLimits.unwantedBytes) { try await channel.close() }
    }
}
