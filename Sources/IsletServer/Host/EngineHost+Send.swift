import IsletCore
import IsletJournal
import IsletProtocol
import ZeroMQ

/// The way out: what is committed is published and answered.
extension EngineHost {
    /// Sends everything that may leave.
    func sendReleased() {
        guard partition.hasReleased else { return }
        // Who is there may be the next one of its name.
        if speakers[ServiceSockets.Bound.commands.rawValue].hasNamed { _ = watchConnections(of: .commands) }
        if speakers[ServiceSockets.Bound.bulk.rawValue].hasNamed { _ = watchConnections(of: .bulk) }
        while let flight = partition.nextReleased() {
            publish(flight.batch)
            send(flight.outbound)
            partition.sent(flight, at: ClockReading.monotonic())
        }
    }

    /// Asks providers for what committed events want of them. True where more is left to do at once.
    func callProviders() -> Bool {
        guard partition.hasProviderWork else { return false }
        return partition.continueCalls { peer, frame in call(Peer(destination: .commands, routingID: peer), frame) }
    }

    private func call(_ provider: Peer, _ frame: Span<UInt8>) -> ProviderDelivery {
        if outbox.isEmpty || !outbox.holds(provider) {
            switch try? sockets.commands.send(copying: provider.routingID, more: true) {
            case .sent:
                guard PeerOutbox<Peer>.isLarge(frame.count) else {
                    _ = try? sockets.commands.send(copying: frame)
                    return .sent
                }
                let held = outbox.held(for: provider, over: descriptor(of: provider), at: partition.now.monotonic)
                _ = try? sockets.commands.send(copying: frame, weighing: frame.count, in: held)
                shut(outbox.gave(provider, at: partition.now.monotonic))
                return .sent
            case .unreachable, nil: return .unreachable
            case .wouldBlock: break
            }
        }
        // Its pipe is full, which a large capacity makes likely: the call waits like an answer, and its deadline runs.
        let cuts = outbox.append(
            [Array(frame)], for: provider, over: descriptor(of: provider), at: partition.now.monotonic)
        shut(cuts)
        return cuts.contains { $0.client == provider } ? .unreachable : .sent
    }

    private func publish(_ batch: borrowing JournalBatch) {
        for event in batch.events {
            batch.withBytes(of: event.topic) { topic in
                batch.withBytes(of: event.json) { json in publish(topic, json) }
            }
        }
    }

    /// A slow subscriber loses events and never blocks others (no XPUB_NODROP); it can tell by `seq`.
    private func publish(_ topic: Span<UInt8>, _ json: Span<UInt8>) {
        guard (try? sockets.events.send(copying: topic, more: true)) == .sent else { return }
        _ = try? sockets.events.send(copying: json)
    }

    private func send(_ outbound: borrowing OutboundMessages) {
        let parts = outbound.parts
        outbound.writer.withSpan { bytes in
            var index = 0
            while index < parts.count {
                var end = index
                while parts[end].more { end += 1 }
                sendMessage(index...end, of: parts, bytes)
                index = end + 1
            }
        }
    }

    /// - Parameter range: the message's parts among all. As indices and not as a slice, which would be counted as a holder.
    private func sendMessage(_ range: ClosedRange<Int>, of parts: [OutboundMessages.Part], _ bytes: Span<UInt8>) {
        let first = parts[range.lowerBound]
        switch first.destination {
        case .events:
            for index in range {
                _ = try? sockets.events.send(copying: bytes.extracting(parts[index].range), more: parts[index].more)
            }
        case .commands, .bulk:
            if PeerOutbox<Peer>.isLarge(Self.size(of: range, of: parts)) { return sendLarge(range, of: parts, bytes) }
            // Nearly always nothing waits for anybody, and the peer need not be named.
            let isFree = outbox.isEmpty
            if isFree, sendNow(range, of: parts, bytes) { return }
            let peer = Peer(destination: first.destination, routingID: Array(bytes.extracting(first.range)))
            if isFree || outbox.holds(peer) || !sendNow(range, of: parts, bytes) { wait(peer, range, of: parts, bytes) }
        }
    }

    /// The bytes of a message behind its routing id.
    private static func size(of range: ClosedRange<Int>, of parts: [OutboundMessages.Part]) -> Int {
        var size = 0
        for index in range.dropFirst() { size += parts[index].range.count }
        return size
    }

    /// Sends a message that counts until its peer has read it.
    private func sendLarge(_ range: ClosedRange<Int>, of parts: [OutboundMessages.Part], _ bytes: Span<UInt8>) {
        let first = parts[range.lowerBound]
        let peer = Peer(destination: first.destination, routingID: Array(bytes.extracting(first.range)))
        guard !outbox.holds(peer) else { return wait(peer, range, of: parts, bytes) }
        let held = outbox.held(for: peer, over: descriptor(of: peer), at: partition.now.monotonic)
        switch sendID(of: peer) {
        case .wouldBlock: wait(peer, range, of: parts, bytes)
        case .unreachable, nil: partition.clientIsGone(peer)
        case .sent:
            var small = 0
            for index in range.dropFirst() {
                let part = parts[index]
                let frame = bytes.extracting(part.range)
                sendCounted(frame, more: part.more, to: peer.destination, in: held, &small)
            }
            shut(outbox.gave(peer, at: partition.now.monotonic))
        }
    }

    /// Sends a peer's routing id, with which a message begins.
    private func sendID(of peer: Peer) -> Socket.Outcome? {
        peer.destination == .bulk
            ? try? sockets.bulk.send(copying: peer.routingID, more: true)
            : try? sockets.commands.send(copying: peer.routingID, more: true)
    }

    /// Sends a frame behind a routing id that was taken, which nothing can hold up.
    private func sendFrame(_ frame: Span<UInt8>, more: Bool, to destination: OutboundMessages.Destination) {
        _ =
            destination == .bulk
            ? try? sockets.bulk.send(copying: frame, more: more) : try? sockets.commands.send(copying: frame, more: more)
    }

    /// Sends such a frame of a large message. The last one counts with the small ones before it: libzmq frees them in order.
    private func sendCounted(
        _ frame: Span<UInt8>, more: Bool, to destination: OutboundMessages.Destination, in held: HeldBytes, _ small: inout Int
    ) {
        if more, !PeerOutbox<Peer>.isLarge(frame.count) {
            small += frame.count
            return sendFrame(frame, more: true, to: destination)
        }
        let weight = more ? frame.count : frame.count + small
        _ =
            destination == .bulk
            ? try? sockets.bulk.send(copying: frame, weighing: weight, in: held, more: more)
            : try? sockets.commands.send(copying: frame, weighing: weight, in: held, more: more)
    }

    /// Sends to a peer; false where its pipe is full.
    private func sendNow(_ range: ClosedRange<Int>, of parts: [OutboundMessages.Part], _ bytes: Span<UInt8>) -> Bool {
        for index in range {
            let part = parts[index]
            let frame = bytes.extracting(part.range)
            let sent =
                part.destination == .bulk
                ? try? sockets.bulk.send(copying: frame, more: part.more)
                : try? sockets.commands.send(copying: frame, more: part.more)
            // Only the routing id's frame can fail: once it was taken, the rest cannot block.
            switch sent {
            case .sent: continue
            case .wouldBlock: return false
            case .unreachable, nil:
                partition.clientIsGone(
                    Peer(destination: part.destination, routingID: Array(bytes.extracting(parts[range.lowerBound].range))))
                return true
            }
        }
        return true
    }

    /// Keeps a message for a peer whose pipe is full, or cuts a peer for which too much waits.
    private func wait(
        _ peer: Peer, _ range: ClosedRange<Int>, of parts: [OutboundMessages.Part], _ bytes: Span<UInt8>
    ) {
        let frames = parts[range].dropFirst().map { Array(bytes.extracting($0.range)) }
        shut(outbox.append(frames, for: peer, over: descriptor(of: peer), at: partition.now.monotonic))
    }

    /// Shuts the connections of clients that are cut.
    private func shut(_ cuts: [PeerOutbox<Peer>.Cut]) {
        for cut in cuts {
            partition.clientWasCut(cut.client)
            if let descriptor = cut.descriptor { _ = kickPeer(descriptor: descriptor) }
        }
    }

    /// Tries again what full pipes did not take, and cuts who has had too much for too long.
    func flushOutbox() {
        guard let attempt = outbox.nextAttempt(), attempt <= partition.now.monotonic else { return }
        // A pipe that has room may be that of the next connection of a name.
        _ = watchConnections(of: .commands)
        _ = watchConnections(of: .bulk)
        shut(outbox.cutCrowded(at: partition.now.monotonic))
        outbox.flush(at: partition.now.monotonic) { peer, frames, held in sendNow(peer, frames, held) }
    }

    private func sendNow(_ peer: Peer, _ frames: [[UInt8]], _ held: HeldBytes) -> Bool {
        switch sendID(of: peer) {
        case .wouldBlock: return false
        case .unreachable, nil:
            partition.clientIsGone(peer)
            return true
        case .sent: break
        }
        let isLarge = PeerOutbox<Peer>.isLarge(frames.reduce(0) { $0 + $1.count })
        var small = 0
        for (index, frame) in frames.enumerated() {
            let more = index + 1 < frames.count
            if isLarge {
                sendCounted(frame.span, more: more, to: peer.destination, in: held, &small)
            } else {
                sendFrame(frame.span, more: more, to: peer.destination)
            }
        }
        return true
    }
}
