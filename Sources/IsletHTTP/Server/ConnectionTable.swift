import NIOCore
import Synchronization

/// The connections that are open, so that all of them can be ended.
final class ConnectionTable: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    func insert(_ channel: any Channel) {
        channels.withLock { $0[ObjectIdentifier(channel)] = channel }
        channel.closeFuture.whenComplete { [self] _ in
            channels.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
        }
    }

    /// Closes all, whatever they are about.
    func closeAll() {
        let open = channels.withLock { Array($0.values) }
        for channel in open { channel.close(promise: nil) }
    }
}

/// Brings each new connection into the table.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = NIOAny

    private let table: ConnectionTable

    init(table: ConnectionTable) {
        self.table = table
    }

    func handlerAdded(context: ChannelHandlerContext) {
        table.insert(context.channel)
    }
}

extension Channel {
    /// Closes the connection after a time, unless that is cancelled before.
    func close(after time: TimeAmount) -> Scheduled<Void> {
        eventLoop.scheduleTask(in: time) { self.close(promise: nil) }
    }
}
