import IsletJournal
import IsletOracle
import IsletProtocol
import IsletServer

/// Judging what leaves: only what is committed, in its order, as it was handed to the journal.
extension Simulation {
    /// Sends everything that may leave.
    ///
    /// - Returns: whether the crash came in the middle of it.
    func release(_ crash: CrashPoint?) throws -> Bool {
        var flights = 0
        while let flight = partition.nextReleased() {
            flights += 1
            if crash == .betweenFlights, flights > 1 { return true }
            var messages = 0
            let limit = crash == .withinFlight ? random.below(4) : Int.max
            for event in flight.batch.events {
                if messages == limit { return true }
                messages += 1
                publish(event, of: flight.batch)
            }
            for message in Self.messages(flight) {
                if messages == limit { return true }
                messages += 1
                switch message.destination {
                case .commands: answered(message.frames)
                case .bulk: bulk(message.frames)
                case .events: published(message.frames)
                }
                try stopIfWrong()
            }
            partition.sent(flight)
        }
        return crash == .withinFlight || crash == .betweenFlights
    }

    private struct OutMessage {
        var destination: OutboundMessages.Destination
        var frames: [[UInt8]] = []
    }

    private static func messages(_ flight: Flight) -> [OutMessage] {
        var messages: [OutMessage] = []
        let parts = flight.outbound.parts
        flight.outbound.writer.withSpan { bytes in
            var isOpen = false
            for part in parts {
                if !isOpen { messages.append(OutMessage(destination: part.destination)) }
                messages[messages.count - 1].frames.append(
                    bytes.extracting(part.range).withUnsafeBytes { Array($0) })
                isOpen = part.more
            }
        }
        return messages
    }

    private func publish(_ event: JournalBatch.Event, of batch: JournalBatch) {
        let app = String(decoding: batch.bytes(batch.rows[event.row].name), as: UTF8.self)
        let seq = Int(event.seq)
        expect(batch.number <= journal.committed, "\(app) \(seq) is published before its commit")
        expect(seq == (ledger.published[app]?.seq ?? 0) + 1, "\(app) \(seq) is published out of order")
        guard let line = ledger.line(app, seq) else { return expect(false, "\(app) \(seq) is in no journal") }
        let (topic, json) = (batch.bytes(event.topic), batch.bytes(event.json))
        expect(line.topic == topic && line.json == json, "\(app) \(seq) is published with other bytes")
        judgeEdge(json)
        ledger.publish(app, at: clock.elapsed)
        tally.hash(json)
        for subscriber in subscribers where subscriber.app == app { subscriber.hear(seq, topic, json, self) }
        for reader in prefixReaders where reader.app == app { reader.hear(seq, topic, json, self) }
    }

    /// An event says nothing that its name excludes.
    private func judgeEdge(_ bytes: [UInt8]) {
        let event = JSON(bytes)
        let isAllowed = event?["event"]?.string.flatMap { EventEdges.all[$0] }?
            .allow(from: event?["from"]?.string, to: event?["to"]?.string, cause: event?["cause"]?.string)
        expect(isAllowed == true, "an event that never comes so: \(String(decoding: bytes, as: UTF8.self))")
    }

    /// The place up to which everything is durable and reported.
    var committedEnd: Int { ends[journal.committed] ?? 0 }

    private func answered(_ frames: [[UInt8]]) {
        if ProviderWorld.isProvider(frames[0]) { return told(frames) }
        guard frames.count > 3, let message = message(frames) else {
            return expect(false, "an answer to nobody: \(frames.map { String(decoding: $0, as: UTF8.self) })")
        }
        unanswered[message.correlation] = nil
        let wanted = message.commands.indices.filter { message.commands[$0].wantsAnswer }
        expect(frames[0] == message.routingID && frames[2].isEmpty, "the envelope of an answer")
        guard frames.count - 3 == wanted.count else {
            return expect(false, "\(frames.count - 3) answers to \(wanted.count) commands")
        }
        for (index, bytes) in zip(wanted, frames.dropFirst(3)) {
            tally.answers += 1
            tally.hash(bytes)
            log?("  <- \(String(decoding: bytes, as: UTF8.self))")
            guard let expectation = message.expectations[index] else {
                return expect(false, "an answer to what was not executed: \(String(decoding: bytes, as: UTF8.self))")
            }
            judge(bytes, expectation, message.commands[index])
        }
    }

    private func message(_ frames: [[UInt8]]) -> Message? {
        guard frames[1].count == 4 else { return nil }
        return unanswered[frames[1].reduce(0) { $0 << 8 | UInt32($1) }]
    }
}
