import IsletJournal

/// Reads of stored events, as ``JournalRead`` says.
extension SimDisk {
    func answer(_ request: JournalRead) -> JournalReadResult.Outcome {
        switch request.kind {
        case .stream(let after): stream(request, after: after)
        case .chain(let last): chain(request, last: last)
        }
    }

    private func stream(_ request: JournalRead, after: UInt64) -> JournalReadResult.Outcome {
        var events: [StoredEvent] = []
        var bytes = 0
        var oldest: UInt64?
        forEachEvent(of: request.app, after: after) { batch, event in
            oldest = oldest ?? event.seq
            let stored = Self.stored(event, of: batch)
            bytes += stored.json.count + stored.topic.count
            guard events.isEmpty || events.count < request.maximumRows && bytes <= request.maximumBytes else {
                return false
            }
            events.append(stored)
            return true
        }
        if let oldest, oldest > after + 1 { return .tooOld(oldest: oldest) }
        return .events(events)
    }

    private func chain(_ request: JournalRead, last: UInt64) -> JournalReadResult.Outcome {
        var events: [StoredEvent] = []
        var bytes = 0
        var wanted = last
        while wanted > 0 {
            var found: StoredEvent?
            forEachEvent(of: request.app, after: wanted - 1) { batch, event in
                if event.seq == wanted { found = Self.stored(event, of: batch) }
                return false
            }
            guard let found else { break }
            bytes += found.json.count + found.topic.count
            guard events.isEmpty || events.count < request.maximumRows && bytes <= request.maximumBytes else { break }
            events.append(found)
            wanted = found.previous
        }
        return .events(events)
    }

    private static func stored(_ event: JournalBatch.Event, of batch: JournalBatch) -> StoredEvent {
        StoredEvent(
            seq: event.seq, previous: event.previous, topic: batch.bytes(event.topic), json: batch.bytes(event.json),
            image: batch.bytes(event.image))
    }
}
