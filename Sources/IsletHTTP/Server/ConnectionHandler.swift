import HummingbirdCore
import NIOCore
import NIOHTTP1

/// Brings each new connection into the table, and lets it end as its client asks.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = NIOAny

    private let table: ConnectionTable

    init(table: ConnectionTable) {
        self.table = table
    }

    func handlerAdded(context: ChannelHandlerContext) {
        table.insert(context.channel)
        let pipeline = context.pipeline.syncOperations
        do {
            // Behind the decoder, where the version of HTTP is still known.
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(PersistenceHandler(table: table), position: .after(decoder))
        } catch {
            context.close(promise: nil)
        }
    }
}

/// Whether a connection stays after an answer, and whether its client waits for a word before it sends a body.
///
/// The server library keeps every connection whose request does not say exactly `Connection: close`: other cases of
/// letters, lists of words, and HTTP/1.0, which closes where nothing else is said. And it never says `100 Continue`, and
/// takes in whatever requests come at once.
final class PersistenceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let table: ConnectionTable
    /// Requests whose answers have not ended.
    private var unanswered = 0
    /// Whether the last request asked for the end of the connection or for a stream, or one more would be too many.
    private var isLast = false
    /// Whether something came behind the last request, which is dropped.
    private var isDeaf = false
    /// Pieces of the present body.
    private var bodyPieces = 0
    /// Whether the last request waits for a word before its body, and those before it have their answers to come.
    private var owesContinue = false

    init(table: ConnectionTable) {
        self.table = table
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else {
            return readBody(context, data)
        }
        guard !isLast else {
            isDeaf = true
            return
        }
        bodyPieces = 0
        unanswered += 1
        if unanswered == 1 { table.note(context.channel, isAtWork: true) }
        let mayOthersFollow = Self.isKept(head.version) && head.isKeepAlive && !Self.isForStream(head)
        if !mayOthersFollow || unanswered == HTTPLimits.unanswered {
            isLast = true
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        }
        owesContinue = Self.waits(head)
        if unanswered == 1 { sayContinue(context) }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// A piece of a body, or its end.
    private func readBody(_ context: ChannelHandlerContext, _ data: NIOAny) {
        guard !isDeaf else { return }
        switch unwrapInboundIn(data) {
        case .body: bodyPieces += 1
        case .head, .end: break
        }
        if bodyPieces <= HTTPLimits.bodyPieces { return context.fireChannelRead(data) }
        isDeaf = true
        isLast = true
        context.close(promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // An answer without the word says no to the body.
            if unanswered == 1 { owesContinue = false }
            if isLast, unanswered == 1 { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            unanswered = max(0, unanswered - 1)
            if unanswered == 0 {
                table.note(context.channel, isAtWork: false)
                if isDeaf { _ = context.channel.close(after: HTTPLimits.lingerTime) }
            }
            if unanswered == 1 { sayContinue(context) }
        }
    }

    private func sayContinue(_ context: ChannelHandlerContext) {
        guard owesContinue else { return }
        owesContinue = false
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }

    /// Whether a version keeps connections where nothing else is said: HTTP/1.1 does.
    private static func isKept(_ version: HTTPVersion) -> Bool {
        version.major > 1 || version.major == 1 && version.minor >= 1
    }

    /// Whether a stream is asked for, which lasts as long as its connection: behind what came after it, nobody would hear
    /// that the browser has left.
    private static func isForStream(_ head: HTTPRequestHead) -> Bool {
        if case .events = Route(path: URI(head.uri).path) { true } else { false }
    }

    /// Whether a client waits, and for a body that will be read.
    private static func waits(_ head: HTTPRequestHead) -> Bool {
        guard isKept(head.version),
            head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" })
        else { return false }
        return head.headers["content-length"].allSatisfy { (Int($0) ?? .max) <= HTTPLimits.commandBytes }
    }
}
