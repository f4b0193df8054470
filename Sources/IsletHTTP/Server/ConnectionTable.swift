import NIOCore
import Synchronization

/// The connections that are open, so that all of them can be ended, and those that do nothing give way to others.
final class ConnectionTable: Sendable {
    private struct Connection {
        var channel: any Channel
        /// The number of its last change between rest and work: the lowest has been as it is for the longest time.
        var since: UInt64
        var isAtWork = false
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var changes: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Takes in a new one. Where there are more than may stay, the one that has been without a request for the longest
    /// time is closed: a probe for health does not wait for clients that only hold on.
    func insert(_ channel: any Channel) {
        let surplus: (any Channel)? = state.withLock { state in
            state.changes += 1
            state.connections[ObjectIdentifier(channel)] = Connection(channel: channel, since: state.changes)
            guard state.connections.count > HTTPLimits.connections else { return nil }
            let resting = state.connections.values.filter { !$0.isAtWork && $0.channel !== channel }
            return resting.min { $0.since < $1.since }?.channel
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel)) }
        }
        surplus?.close(promise: nil)
    }

    /// Takes in that a connection has a request that is not answered, or none any more.
    func note(_ channel: any Channel, isAtWork: Bool) {
        state.withLock { state in
            state.changes += 1
            let changes = state.changes
            state.connections[ObjectIdentifier(channel)]?.isAtWork = isAtWork
            state.connections[ObjectIdentifier(channel)]?.since = changes
        }
    }

    /// Closes all, whatever they are about.
    func closeAll() {
        let open = state.withLock { $0.connections.values.map(\.channel) }
        for channel in open { channel.close(promise: nil) }
    }
}

extension Channel {
    /// Closes the connection after a time, unless that is cancelled before.
    func close(after time: TimeAmount) -> Scheduled<Void> {
        eventLoop.scheduleTask(in: time) { self.close(promise: nil) }
    }
}
