package import ZeroMQ

/// What a ``PeerOutbox`` may hold.
package struct OutboxLimits: Sendable {
    /// Messages that may wait for a client that does not read…
    package var messages = 1_000
    /// …which is one whose pipe has taken nothing for this time. One batch may answer thousands of commands at once, so
    /// a client that reads well may have more waiting for a moment…
    package var patience: Int64 = 2_000
    /// …but not more than so many.
    package var mostMessages = 65_536
    /// Bytes that wait for one client; one message may have more. What its pipe holds of large messages counts with
    /// them, once nothing has left it for the time of `patience`: whoever reads well may have asked for much at once.
    package var bytes = 64 << 20
    /// Bytes that wait for all clients, with those that their pipes hold of large messages.
    package var totalBytes = 256 << 20
    /// A message with more bytes is large. libzmq takes so many messages for a client however large they are
    /// (`ServiceSockets`), so that what it holds of smaller ones is bounded by their number: 16 MiB.
    package static let smallMessageBytes = 16 << 10
    /// Once pipes hold so much of large messages, it is asked of each message over which connection it came, so that
    /// everybody who has much can be cut.
    package var locatingBytes = 16 << 20
    /// How often it is looked whether they still do.
    package var lookInterval: Int64 = 100
    /// Clients that are cut and whose connection is not known; beyond, the first of them is forgotten.
    package var cutClients = 4_096
    /// How many clients are tried in one turn.
    package var triesPerTurn = 64
    /// A pipe is tried again after this time, and after twice as long each time that it takes nothing.
    package var shortestRetry: Int64 = 1
    package var longestRetry: Int64 = 64

    package init() {}
}

/// Messages that clients' full pipes did not take, in order, to be tried again.
///
/// A client that does not read is cut where it reaches a limit in messages or bytes; where all together hold too much,
/// the one with most is, of those that take nothing if there are any. To cut it, its connection's descriptor must be
/// known, which only a message from it tells: until then it stays cut here, and nothing more is kept or sent, so that it
/// never gets a later answer after one was lost.
///
/// What libzmq holds of large messages counts with what waits here, since its own limit of a pipe is one of messages,
/// however large they are.
///
/// What waits is for one connection, and goes with it, as what its pipe held does: the next connection of the same name
/// may be that of another process, which would take the answer to another command for its own.
///
/// A value; times are real monotonic milliseconds.
package struct PeerOutbox<Client: Hashable> {
    /// The frames of one message behind its routing id.
    package typealias Waiting = [[UInt8]]

    /// A client that is cut: what waited for it is gone.
    package struct Cut {
        package let client: Client
        /// Its connection; nil where no message has told it yet.
        package let descriptor: Int32?
    }

    private struct Queue {
        let client: Client
        var messages: [Waiting] = []
        /// How many of `messages` were taken already.
        var taken = 0
        var bytes = 0
        var retry: Int64
        /// When its pipe took something last, or was found full for the first time.
        var tookAt: Int64
        /// The connection that it is for; nil where no message has told it yet.
        var descriptor: Int32?

        var count: Int { messages.count - taken }

        /// Offers messages until one is not taken; gives the bytes of those that were.
        mutating func offer(_ isTaken: (Client, Waiting) -> Bool, _ limits: OutboxLimits, at now: Int64) -> Int {
            let (before, held) = (taken, bytes)
            while taken < messages.count, isTaken(client, messages[taken]) {
                bytes -= PeerOutbox.size(messages[taken])
                messages[taken] = []
                taken += 1
            }
            if taken > before { tookAt = now }
            retry = taken > before ? limits.shortestRetry : min(retry * 2, limits.longestRetry)
            // What was taken is dropped in one go, so that a long queue is not moved for each message.
            if taken * 2 > messages.count {
                messages.removeFirst(taken)
                taken = 0
            }
            return held - bytes
        }
    }

    private let limits: OutboxLimits
    private var numbers: [Client: UInt32] = [:]
    private var queues: [Queue?] = []
    private var free: [UInt32] = []
    /// When each client is tried again.
    private var attempts = IndexedHeap()
    /// The clients that are cut and whose connections are not known, and in which order they were cut.
    private var cut: Set<Client> = []
    private var cutOrder: [Client] = []
    /// The bytes that wait here.
    package private(set) var bytes = 0
    private var pipes = PeerPipes<Client>()
    /// The clients that had more than their share when they were looked at last, in their pipes too. They are few: all
    /// together have no more than the whole.
    private var crowded: Set<Client> = []
    /// When all pipes were looked at last for ``isHeavy(at:)``.
    private var lookedAt: Int64 = 0

    package init(limits: OutboxLimits = OutboxLimits()) {
        self.limits = limits
    }

    /// Whether nothing is known of any client: the common case, which costs nothing more.
    package var isEmpty: Bool { numbers.isEmpty && cut.isEmpty }

    /// Whether a message for the client must go through ``append(_:for:over:at:)``, behind those that wait.
    package func holds(_ client: Client) -> Bool {
        numbers[client] != nil || cut.contains(client)
    }

    /// Whether pipes hold much of large messages, as seen when all of them were looked at last.
    package mutating func isHeavy(at now: Int64) -> Bool {
        guard pipes.bytes > limits.locatingBytes else { return false }
        if now - lookedAt >= limits.lookInterval {
            lookedAt = now
            pipes.lookAtAll(at: now)
        }
        return pipes.bytes > limits.locatingBytes
    }

    /// Whether a message of so many bytes is to count in ``held(for:over:at:)``.
    package static func isLarge(_ bytes: Int) -> Bool { bytes > OutboxLimits.smallMessageBytes }

    /// Where the bytes of a large message count that is given to a client's pipe; ``gave(_:at:)`` comes after it.
    ///
    /// - Parameter descriptor: The client's connection, where it is known.
    package mutating func held(for client: Client, over descriptor: Int32?, at now: Int64) -> HeldBytes {
        pipes.held(for: client, over: descriptor, at: now)
    }

    /// A large message was given to a client's pipe.
    ///
    /// - Returns: The clients that are cut for it, mostly none.
    package mutating func gave(_ client: Client, at now: Int64) -> [Cut] {
        judge(client, at: now) + cutToTotal(at: now)
    }

    /// How many messages wait for a client.
    package func count(for client: Client) -> Int {
        queue(of: client)?.count ?? 0
    }

    /// Keeps a message for a client whose pipe is full.
    ///
    /// - Parameter descriptor: The client's connection, where it is known.
    /// - Returns: The clients that are cut for it, mostly none.
    package mutating func append(
        _ message: Waiting, for client: Client, over descriptor: Int32?, at now: Int64
    ) -> [Cut] {
        guard !cut.contains(client) else { return [] }
        let number = numbers[client] ?? add(client, descriptor, at: now)
        let size = Self.size(message)
        let (count, held, tookAt) = queue(number) { ($0.count, $0.bytes, $0.tookAt) }
        let mayHaveMore = now - tookAt < limits.patience ? limits.mostMessages : limits.messages
        guard count < mayHaveMore, count == 0 || held + size <= limits.bytes else {
            return [cut(client)]
        }
        queue(number) { queue in
            queue.messages.append(message)
            queue.bytes += size
        }
        bytes += size
        return judge(client, at: now) + cutToTotal(at: now)
    }

    /// A message came from a client: its pipe may have room again, and its connection is known now. What waited for
    /// another one is dropped.
    ///
    /// - Returns: The connection, where the client is cut and it has to be shut.
    package mutating func heard(from client: Client, descriptor: Int32?, at now: Int64) -> Int32? {
        if let number = numbers[client] {
            if let descriptor, let former = queue(number, { $0.descriptor }), former != descriptor {
                drop(number)
                return nil
            }
            let limits = limits
            queue(number) { queue in
                queue.descriptor = descriptor ?? queue.descriptor
                queue.retry = limits.shortestRetry
            }
            attempts.set(number, to: now)
        } else if let descriptor, cut.remove(client) != nil {
            cutOrder.removeAll { $0 == client }
            return descriptor
        }
        return nil
    }

    /// A client's connection has ended: what waited for it is dropped. What waits for another one that has the client's
    /// name by now stays.
    package mutating func connectionHasEnded(_ descriptor: Int32, of client: Client) {
        pipes.connectionHasEnded(descriptor, of: client)
        guard let number = numbers[client], queue(number, { $0.descriptor == descriptor }) else { return }
        drop(number)
    }

    /// Offers what waits to the clients whose time has come, each in order until something is not taken.
    ///
    /// - Parameter isTaken: Given a message, and where it is to count if it is large.
    package mutating func flush(at now: Int64, _ isTaken: (Client, Waiting, HeldBytes) -> Bool) {
        let limits = limits
        var tries = 0
        while tries < limits.triesPerTurn, let (number, time) = attempts.first, time <= now {
            tries += 1
            let (client, descriptor) = queue(number) { ($0.client, $0.descriptor) }
            let held = pipes.held(for: client, over: descriptor, at: now)
            bytes -= queue(number) { queue in queue.offer({ isTaken($0, $1, held) }, limits, at: now) }
            if pipes.look(at: client, at: now) > limits.bytes { crowded.insert(client) }
            if queue(number, { $0.count == 0 }) {
                remove(number)
            } else {
                attempts.set(number, to: now + queue(number) { $0.retry })
            }
        }
    }

    /// Looks at the clients that have more than their share.
    ///
    /// - Returns: Those that have taken nothing for too long: they are cut.
    package mutating func cutCrowded(at now: Int64) -> [Cut] {
        var cuts: [Cut] = []
        for client in crowded { cuts += judge(client, at: now) }
        return cuts
    }

    /// When ``flush(at:_:)`` and ``cutCrowded(at:)`` are to be called again; nil where nothing waits.
    package func nextAttempt() -> Int64? {
        guard let look = crowded.lazy.map({ tookAt($0) + limits.patience }).min() else { return attempts.first?.key }
        return min(look, attempts.first?.key ?? look)
    }

    /// Cuts a client that has more than its share, with what its pipe holds, and has taken nothing for too long.
    private mutating func judge(_ client: Client, at now: Int64) -> [Cut] {
        let held = pipes.look(at: client, at: now)
        guard held > 0, held + (queue(of: client)?.bytes ?? 0) > limits.bytes else {
            crowded.remove(client)
            return []
        }
        guard now - tookAt(client) >= limits.patience else {
            crowded.insert(client)
            return []
        }
        return [cut(client)]
    }

    /// Cuts clients until all together hold no more than they may.
    private mutating func cutToTotal(at now: Int64) -> [Cut] {
        guard bytes + pipes.bytes > limits.totalBytes else { return [] }
        // Mostly much was read since it was given.
        pipes.lookAtAll(at: now)
        var cuts: [Cut] = []
        while bytes + pipes.bytes > limits.totalBytes, let client = largest(at: now) { cuts.append(cut(client)) }
        return cuts
    }

    /// When a client's pipe took something last, or something was seen to have left it.
    private func tookAt(_ client: Client) -> Int64 {
        max(queue(of: client)?.tookAt ?? 0, pipes.tookAt(client) ?? 0)
    }

    /// The client with most, of those that take nothing if there are any.
    private func largest(at now: Int64) -> Client? {
        var most: (client: Client, isStill: Bool, bytes: Int)?
        for client in Set(pipes.clients).union(numbers.keys) {
            let isStill = now - tookAt(client) >= limits.patience
            let held = pipes.bytes(of: client) + (queue(of: client)?.bytes ?? 0)
            if let most, (most.isStill ? 1 : 0, most.bytes) >= (isStill ? 1 : 0, held) { continue }
            most = (client, isStill, held)
        }
        return most?.client
    }

    private mutating func add(_ client: Client, _ descriptor: Int32?, at now: Int64) -> UInt32 {
        let queue = Queue(client: client, retry: limits.shortestRetry, tookAt: now, descriptor: descriptor)
        let number: UInt32
        if let reused = free.popLast() {
            number = reused
            queues[Int(number)] = queue
        } else {
            number = UInt32(queues.count)
            queues.append(queue)
        }
        numbers[client] = number
        attempts.set(number, to: now + limits.shortestRetry)
        return number
    }

    private mutating func cut(_ client: Client) -> Cut {
        let descriptor = queue(of: client)?.descriptor ?? pipes.descriptor(of: client)
        let result = Cut(client: client, descriptor: descriptor)
        if let number = numbers[client] { drop(number) }
        pipes.forget(client)
        crowded.remove(client)
        if result.descriptor == nil {
            cut.insert(result.client)
            cutOrder.append(result.client)
            if cutOrder.count > limits.cutClients { cut.remove(cutOrder.removeFirst()) }
        }
        return result
    }

    private mutating func drop(_ number: UInt32) {
        bytes -= queue(number) { $0.bytes }
        remove(number)
    }

    private mutating func remove(_ number: UInt32) {
        attempts.remove(number)
        numbers[queue(number) { $0.client }] = nil
        queues[Int(number)] = nil
        free.append(number)
    }

    private func queue(of client: Client) -> Queue? {
        numbers[client].flatMap { queues[Int($0)] }
    }

    private mutating func queue<Result>(_ number: UInt32, _ body: (inout Queue) -> Result) -> Result {
        // Taken out while it is changed, so that it is not copied.
        guard var queue = queues[Int(number)].take() else { preconditionFailure("a client without a queue") }
        defer { queues[Int(number)] = queue }
        return body(&queue)
    }

    private static func size(_ message: Waiting) -> Int {
        message.reduce(0) { $0 + $1.count }
    }
}
