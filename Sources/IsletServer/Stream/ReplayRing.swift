package import IsletCore

/// The published events of the last while, in memory, byte for byte: what replays and histories are read from.
///
/// Bounded in bytes. Where a bound is reached, the oldest chunk of the app that holds most goes, and not the oldest of
/// all: else one loud app would leave nothing to replay of the many quiet ones, whose clients have missed little.
///
/// An event costs its bytes, a header of 48 bytes, and no allocation; memory is taken by chunks, small ones for apps
/// that hold little. Noncopyable: it owns the chunks alone and frees each once.
package struct ReplayRing: ~Copyable {
    /// How many bytes it may hold.
    package struct Limits: Equatable, Sendable {
        package var bytes: Int
        package var bytesPerApp: Int

        package init(bytes: Int, bytesPerApp: Int) {
            self.bytes = bytes
            self.bytesPerApp = bytesPerApp
        }

        /// 256 MiB, all of which one app may have while nobody else wants it.
        package static let standard = Limits(bytes: 256 << 20, bytesPerApp: 256 << 20)
        /// 8 MiB, some 10 000 events, of what the journal has as well: for readers that have just fallen behind.
        package static let besideJournal = Limits(bytes: 8 << 20, bytesPerApp: 8 << 20)
    }

    /// What a replay got to read.
    package enum Replay: Equatable, Sendable {
        /// The events from here on are kept, and those that were asked for begin earlier.
        case tooOld(oldest: UInt64)
        /// The number of events that were given and the last one's sequence number; whether that is the last there is.
        case rows(Int, last: UInt64, isEnd: Bool)
    }

    /// What a history got to read.
    package struct History: Equatable, Sendable {
        package var rows: Int
        /// Of their topics and JSON.
        package var bytes: Int
        /// The revision of the first event that was given.
        package var sinceRevision: UInt32
        /// The sequence number of the entity's event before that one; 0 where it is the first.
        package var previous: UInt64

        package init(rows: Int, bytes: Int, sinceRevision: UInt32, previous: UInt64) {
            self.rows = rows
            self.bytes = bytes
            self.sinceRevision = sinceRevision
            self.previous = previous
        }

        /// Whether that is the entity's first one.
        package var isComplete: Bool { sinceRevision == 1 }
    }

    /// Takes one stored event; its bytes cannot leave the call.
    package typealias Visit = (_ seq: UInt64, _ revision: UInt32, _ topic: Span<UInt8>, _ json: Span<UInt8>) -> Void

    private static let smallestChunk = 4 << 10
    private static let largestChunk = 256 << 10

    private struct Stream {
        var chunks: [ReplayChunk] = []
        /// The next sequence number; nil before the first event.
        var next: UInt64?
        var bytes = 0
    }

    package let limits: Limits
    /// By app.
    private var streams: [Stream] = []
    /// The apps that hold chunks, the one that holds most first.
    private var byBytes = IndexedHeap()
    /// The bytes of all chunks.
    package private(set) var heldBytes = 0
    /// The memory of the last chunk that went, for the next one of its size.
    private var spare: ReplayChunk?

    package init(limits: Limits = .standard) {
        self.limits = limits
    }

    deinit {
        for stream in streams {
            for chunk in stream.chunks { chunk.deallocate() }
        }
        spare?.deallocate()
    }

    /// Adds a published event.
    ///
    /// - Parameters:
    ///   - seq: Dense within the app from the first one that is added, else it traps.
    ///   - previous: The sequence number of the entity's event before; 0 for its first.
    ///   - topic: At most 240 bytes.
    package mutating func append(
        app: AppID, seq: UInt64, previous: UInt64, entity: EntityID, revision: UInt32, topic: Span<UInt8>,
        json: Span<UInt8>
    ) {
        if Int(app) >= streams.count {
            streams.append(contentsOf: repeatElement(Stream(), count: Int(app) + 1 - streams.count))
        }
        precondition(streams[Int(app)].next.map { $0 == seq } ?? true, "a hole in the stream of an app")
        streams[Int(app)].next = seq + 1
        let bytes = topic.count + json.count
        var last = streams[Int(app)].chunks.count - 1
        if last < 0 || !streams[Int(app)].chunks[last].hasRoom(forEventOf: bytes) {
            guard addChunk(to: app, forEventOf: bytes, seq: seq) else { return }
            last = streams[Int(app)].chunks.count - 1
        }
        let hash = entity.keyedHash
        topic.withUnsafeBytes { topic in
            json.withUnsafeBytes { json in
                streams[Int(app)].chunks[last].append(
                    entity, hash: hash, previousSeq: previous, revision: revision, topic: topic, json: json)
            }
        }
    }

    /// The sequence number of the oldest event that is kept, or of the next one where none is; nil for an app that
    /// never had one here.
    package func oldest(_ app: AppID) -> UInt64? {
        guard Int(app) < streams.count else { return nil }
        return streams[Int(app)].chunks.first?.firstSeq ?? streams[Int(app)].next
    }

    /// Calls `visit` with the app's events after a sequence number, oldest first, until a maximum is reached; one event
    /// is given however long it is.
    package func forEach(
        app: AppID, after seq: UInt64, maximumRows: Int, maximumBytes: Int, _ visit: Visit
    ) -> Replay {
        guard let oldest = oldest(app), let next = streams[Int(app)].next, seq < next - 1 else {
            return .rows(0, last: seq, isEnd: true)
        }
        guard seq + 1 >= oldest else { return .tooOld(oldest: oldest) }
        var chunk = streams[Int(app)].chunks.partitionPoint { $0.endSeq <= seq + 1 }
        var at = seq + 1
        var rows = 0
        var bytes = 0
        while at < next, rows < maximumRows {
            let record = streams[Int(app)].chunks[chunk].record(ofSeq: at)
            bytes += record.topic.count + record.json.count
            if rows > 0, bytes > maximumBytes { break }
            Self.give(record, seq: at, to: visit)
            rows += 1
            at += 1
            if at == streams[Int(app)].chunks[chunk].endSeq { chunk += 1 }
        }
        return .rows(rows, last: at - 1, isEnd: at == next)
    }

    /// Calls `visit` with the newest kept events of an entity, oldest first, within the maxima; nil where none is kept.
    ///
    /// - Parameter last: later events are left out.
    package func history(
        of entity: EntityID, app: AppID, through last: UInt64 = .max, maximumRows: Int, maximumBytes: Int,
        _ visit: Visit
    ) -> History? {
        guard Int(app) < streams.count else { return nil }
        let hash = entity.keyedHash
        var found: [(ReplayChunk.Record, UInt64)] = []
        var bytes = 0
        for chunk in streams[Int(app)].chunks.reversed() {
            let goesOn = chunk.forEachRecord(of: entity, hash: hash) { record in
                let header = record.header
                let seq = chunk.firstSeq + UInt64(header.index)
                guard seq <= last else { return true }
                let more = record.topic.count + record.json.count
                if found.count == maximumRows || (bytes + more > maximumBytes && !found.isEmpty) { return false }
                bytes += more
                found.append((record, seq))
                return header.revision > 1
            }
            if !goesOn { break }
        }
        guard let first = found.last else { return nil }
        for (record, seq) in found.reversed() { Self.give(record, seq: seq, to: visit) }
        return History(
            rows: found.count, bytes: bytes, sinceRevision: first.0.header.revision, previous: first.0.header.previousSeq)
    }

    private static func give(_ record: ReplayChunk.Record, seq: UInt64, to visit: Visit) {
        let topic = record.topic.assumingMemoryBound(to: UInt8.self)
        let json = record.json.assumingMemoryBound(to: UInt8.self)
        visit(seq, record.header.revision, topic.span, json.span)
    }

    /// Makes room and adds a chunk; false where the event alone is over a limit, so that it cannot be kept.
    private mutating func addChunk(to app: AppID, forEventOf bytes: Int, seq: UInt64) -> Bool {
        let needed = ReplayChunk.capacity(forEventOf: bytes)
        let most = min(limits.bytes, limits.bytesPerApp)
        guard needed <= most else {
            // What was kept of the app ends before the hole, so nothing of it can be replayed.
            while dropOldest(of: app) {}
            return false
        }
        // As much again as the app holds: few chunks for a large one, little memory for a small one.
        let largest = min(Self.largestChunk, max(Self.smallestChunk, ReplayChunk.powerOfTwo(from: most / 16 + 1)))
        let wanted = max(Self.smallestChunk, min(largest, ReplayChunk.powerOfTwo(from: streams[Int(app)].bytes + 1)))
        let capacity = max(needed, min(wanted, most))
        while streams[Int(app)].bytes + capacity > limits.bytesPerApp, dropOldest(of: app) {}
        while heldBytes + capacity > limits.bytes, let (largest, _) = byBytes.first, dropOldest(of: largest) {}
        streams[Int(app)].chunks.append(makeChunk(capacity, firstSeq: seq))
        account(app, capacity)
        return true
    }

    private mutating func makeChunk(_ capacity: Int, firstSeq: UInt64) -> ReplayChunk {
        guard let spare, spare.capacity == capacity else { return ReplayChunk(capacity: capacity, firstSeq: firstSeq) }
        self.spare = nil
        return ReplayChunk(reusing: spare, firstSeq: firstSeq)
    }

    private mutating func dropOldest(of app: AppID) -> Bool {
        guard !streams[Int(app)].chunks.isEmpty else { return false }
        let chunk = streams[Int(app)].chunks.removeFirst()
        account(app, -chunk.capacity)
        spare?.deallocate()
        spare = chunk
        return true
    }

    private mutating func account(_ app: AppID, _ bytes: Int) {
        heldBytes += bytes
        streams[Int(app)].bytes += bytes
        if streams[Int(app)].bytes == 0 {
            byBytes.remove(app)
        } else {
            byBytes.set(app, to: -Int64(streams[Int(app)].bytes))
        }
    }
}

extension Array {
    /// The first index whose element does not fulfil a condition that all before it fulfil.
    fileprivate func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
