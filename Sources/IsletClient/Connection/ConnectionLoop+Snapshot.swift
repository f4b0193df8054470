import ZeroMQ

/// How much of a pull is wanted that no reader follows.
enum PullExtent: Equatable {
    case firstChunk
    /// All of it, or, of a replay, up to this event; but not more bytes than these.
    case whole(through: UInt64?, bytesMax: Int)
}

/// Snapshots that are taken once.
extension ConnectionLoop {
    /// A chunk of a pull of nobody's reader has come.
    func receivedChunk(_ chunk: BulkChunk, of id: Int) {
        guard var peek = peeks[id] else { return }
        peek.chunks.append(chunk)
        guard case .whole(let through, let bytesMax) = peek.extent, chunk.end == nil,
            !Self.reaches(chunk, through)
        else { return finishPeek(id, .success(peek.chunks)) }
        peek.bytes += chunk.rows.reduce(0) { $0 + $1.topic.utf8.count + $1.bytes.count }
        guard peek.bytes <= bytesMax else { return finishPeek(id, .failure(.overloaded(limit: bytesMax))) }
        peek.deadline = .now + peek.timeout
        peeks[id] = peek
        // It has begun with one: from now on as many are under way as for a reader.
        let chunks = peek.chunks.count == 1 ? PullTable.credit : 1
        perform(table.creditPeek(of: peek.owner, chunks: chunks, now: .now))
    }

    /// Whether a chunk of a replay has this event, or one behind it.
    private static func reaches(_ chunk: BulkChunk, _ seq: UInt64?) -> Bool {
        guard let seq, let last = chunk.rows.last, let event = StreamEvent(topic: last.topic, bytes: last.bytes) else {
            return false
        }
        return event.seq >= seq
    }
}

extension IsletConnection {
    /// How often a snapshot is taken anew that does not come out as the service says.
    private static let snapshotAttempts = 4

    /// What an app has at one moment: a snapshot, brought to where it ends by the events of the meantime.
    ///
    /// - Parameters:
    ///   - prefix: what topics begin with; the app's own with the slash for all of it.
    ///   - bytesMax: how much it may be.
    ///   - timeout: how long each chunk may take, in real time.
    /// - Throws: ``IsletError/overloaded(limit:)`` where it is more than `bytesMax`, ``IsletError/refused(_:)``,
    ///   ``IsletError/timedOut(after:change:)``, ``IsletError/unreadable(_:)`` where it does not come out as the
    ///   service says in four attempts.
    package func snapshot(
        of app: String, prefix: String, bytesMax: Int, timeout: Duration
    ) async throws(IsletError) -> SnapshotCut {
        let part = prefix.utf8.count > app.utf8.count + 1 ? prefix : nil
        for _ in 0..<Self.snapshotAttempts {
            let chunks = try await pullAll(.snapshot(prefix: part), of: app, bytesMax: bytesMax, timeout)
            var cut = try SnapshotCut(chunks, app: app, prefix: part)
            if cut.isExact { return cut }
            let replay: [BulkChunk]
            do throws(IsletError) {
                replay = try await pullAll(
                    .replay(from: cut.fromSeq), of: app, through: cut.position.seq, bytesMax: bytesMax, timeout)
            } catch {
                // So long it took, or so little is kept.
                guard error.code == .tooOld else { throw error }
                continue
            }
            if try cut.take(replay) { return cut }
        }
        throw .unreadable("a snapshot of \(app) that is not what the service says, again and again")
    }

    /// The events of an app between two numbers.
    ///
    /// - Parameters:
    ///   - from: the number before the first one.
    ///   - end: that of the last one, which there is.
    ///   - bytesMax: how much they may be.
    ///   - timeout: how long each chunk may take, in real time.
    /// - Throws: as ``snapshot(of:prefix:bytesMax:timeout:)``, and ``IsletError/refused(_:)`` with `tooOld` where they
    ///   are not kept.
    package func events(
        of app: String, from: UInt64, through end: UInt64, bytesMax: Int, timeout: Duration
    ) async throws(IsletError) -> [StreamEvent] {
        guard from < end else { return [] }
        return try await pullAll(.replay(from: from), of: app, through: end, bytesMax: bytesMax, timeout)
            .flatMap(\.rows).compactMap { StreamEvent(topic: $0.topic, bytes: $0.bytes) }.filter { $0.seq <= end }
    }

    /// As ``events(_:)``, but of each app that is named only what comes after an event of the past, and of others all.
    package func events(
        _ prefix: String, after starts: [String: UInt64]
    ) async throws(IsletError) -> DeliveryStream {
        stream(of: try await loop.addReader(prefix: prefix, keepsEntities: false, startingAfter: starts))
    }

    /// All chunks of a pull; where others pull as well, when its turn has come.
    private func pullAll(
        _ kind: PullTable.Kind, of app: String, through seq: UInt64? = nil, bytesMax: Int, _ timeout: Duration
    ) async throws(IsletError) -> [BulkChunk] {
        let end = ContinuousClock.now + timeout
        while true {
            let chunks = try await loop.pull(
                kind, of: app, .whole(through: seq, bytesMax: bytesMax), timeout: timeout).get()
            guard let error = chunks.last?.error else { return chunks }
            guard error.code == .busy, .now < end else { throw .refused(error) }
            do { try await Task.sleep(for: .milliseconds(100)) } catch { throw .cancelled }
        }
    }
}
