import ZeroMQ

/// The sockets' way in: what waits there goes to the partition, some of it each turn.
extension EngineHost {
    /// Once so many commands of one socket were taken, timers and the other sockets get their turn, and what is committed
    /// leaves: with turns of all that waits, publishers and this thread wait for each other (measured: 175 000 updates/s
    /// in batches with 512 a turn, 192 000 with 128). The last receive may exceed it, by 160 frames and one message.
    private static let commandsPerTurn = 128
    /// How many subscription messages a turn takes.
    private static let subscriptionsPerTurn = 1_024
    /// How many bulk messages a turn takes, where they have few commands.
    private static let requestsPerTurn = 64

    /// Takes commands; true where more may wait.
    func receiveCommands() -> Bool {
        var left = Self.commandsPerTurn
        let isHeavy = outbox.isHeavy(at: partition.now.monotonic)
        while left > 0 {
            guard partition.takesCommands else { return false }
            // Who does not read its answers is looked at message by message.
            let limit = outbox.isEmpty ? left : 1
            let count = partition.inbound.receive(
                limit, from: sockets.commands, into: &received, isRouted: true,
                locatesAll: partition.hasUnlocatedPeers || partition.hasCutOffProviders || isHeavy)
            guard count > 0 else { return false }
            // A connection whose name another one has taken ended before that one's messages came.
            let holdsRegistration = partition.inbound.holdsRegistration
            let knowsNamed = partition.inbound.holdsNamed && knowsEnds(at: .commands)
            if holdsRegistration || partition.hasProviders { _ = watchConnections(of: .commands) }
            partition.lookAhead()
            while partition.inbound.next() {
                // Before it is looked whether the message's connection has ended, since this may be told just now.
                noteSpeaker(at: .commands)
                if holdsRegistration || knowsNamed || partition.hasCutOffProviders { noteEnd(at: .commands) }
                left -= max(1, partition.inbound.commands.count)
                partition.takeCommands()
                noteWaiting(at: .commands)
                if knowsNamed { endAnswersOfCutOff(at: .commands) }
            }
        }
        return true
    }

    /// Takes commands from plain publishers; true where more may wait.
    func receiveIngest() -> Bool {
        guard sockets.hasIngest else { return false }
        var left = Self.commandsPerTurn
        while left > 0 {
            guard partition.takesIngest() else { return false }
            let count = partition.inbound.receive(left, from: sockets.ingest, into: &received, isRouted: false)
            guard count > 0 else { return false }
            partition.lookAhead()
            while partition.inbound.next() {
                left -= max(1, partition.inbound.commands.count)
                partition.takeIngest()
            }
        }
        return true
    }

    /// Takes subscriptions; true where more may wait.
    func receiveSubscriptions() -> Bool {
        for _ in 0..<Self.subscriptionsPerTurn {
            guard let isThere = try? sockets.events.receive(into: &received), isThere else { return false }
            guard isWithinLimits() else { continue }
            let subscriber = received.sourceDescriptor.map { Peer(subscriberAt: $0) }
            received.withUnsafeBytes { bytes in
                let topic = UnsafeRawBufferPointer(rebasing: bytes.dropFirst()).bindMemory(to: UInt8.self)
                switch bytes.first {
                case 1: partition.subscribed(to: topic.span, by: subscriber)
                case 0: partition.unsubscribed(from: topic.span, by: subscriber)
                default: return
                }
            }
        }
        return true
    }

    /// Takes bulk requests; true where more may wait.
    func receiveBulk() -> Bool {
        for _ in 0..<Self.requestsPerTurn {
            guard partition.takesBulk else { return !partition.isHeldBack }
            guard partition.inbound.receive(1, from: sockets.bulk, into: &received, isRouted: true) == 1,
                partition.inbound.next()
            else { return false }
            let knowsNamed = partition.inbound.holdsNamed && knowsEnds(at: .bulk)
            noteSpeaker(at: .bulk)
            if knowsNamed { noteEnd(at: .bulk) }
            partition.takeBulk()
            noteWaiting(at: .bulk)
            if knowsNamed { endAnswersOfCutOff(at: .bulk) }
        }
        return true
    }
}
