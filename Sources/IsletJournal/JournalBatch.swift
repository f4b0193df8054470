/// What is committed together: the events of some commands and deadlines, grouped into one row per app, and notes.
///
/// All bytes lie one after another in one buffer, and everything else is ranges of it, so that filling a batch that has
/// been used before, and was not a much larger one, allocates nothing. The events are in the order in which they are
/// published; the events of one row are also linked, because a row's body is their JSON one after another.
///
/// A value: the owner keeps one to answer and publish from while the journal writes its own.
@usableFromInline package struct JournalBatch: Sendable {
    /// Beyond these a batch is full. They are looked at between commands, so the last command may exceed them.
    @usableFromInline package static let maximumEvents = 16_384
    @usableFromInline package static let maximumBytes = 16 << 20
    /// Batches that may be appended and not yet committed: one that is being written and one that waits.
    package static let maximumInFlight = 2
    /// What ``reset(number:)`` keeps, however little of it was used.
    private static let keptBytes = 1 << 20
    private static let keptEvents = 4_096

    /// Dense from 1 over the life of a journal.
    package private(set) var number: UInt64
    /// One for each app that has an event, in the order of their first events.
    package private(set) var rows: [Row] = []
    /// In the order in which they happened, over all apps.
    @usableFromInline package private(set) var events: [Event] = []
    /// What recovery needs beside the events; the journal does not look into it.
    @usableFromInline package private(set) var facts: [Slice] = []
    /// Answers that retries may ask for, kept apart because recovery needs them from further back.
    @usableFromInline package private(set) var answers: [Slice] = []
    /// Domain time when it was closed, in milliseconds since 1970.
    package private(set) var at: Int64 = 0
    /// Whether it may be written into room that is kept for the snapshot: what ends while the disk is full, without which
    /// the snapshot does not go on either.
    package var usesReserve = false
    @usableFromInline package private(set) var bytes: [UInt8] = []
    @usableFromInline package private(set) var rowOfStream: [UInt32: Int] = [:]
    @usableFromInline package private(set) var lastStream: (stream: UInt32, row: Int)?

    package init(number: UInt64) {
        self.number = number
    }

    /// A run of the batch's bytes.
    @usableFromInline package struct Slice: Equatable, Sendable, BitwiseCopyable {
        fileprivate var offset: Int
        package fileprivate(set) var count: Int
    }

    /// The events of one app.
    package struct Row: Sendable, BitwiseCopyable {
        /// The owner's number of the app.
        package let stream: UInt32
        /// The app.
        package let name: Slice
        package let firstSeq: UInt64
        package fileprivate(set) var lastSeq: UInt64
        /// The domain time of the last event in milliseconds since 1970.
        package fileprivate(set) var at: Int64 = 0
        /// The listed entities of the app after the last event, and their digest: recovery proves itself with them.
        package fileprivate(set) var entities = 0
        package fileprivate(set) var digest: UInt64 = 0
        fileprivate let firstEvent: Int
        fileprivate var lastEvent = 0
    }

    /// One event as it is published.
    @usableFromInline package struct Event: Sendable, BitwiseCopyable {
        /// The index of its row.
        package let row: Int
        package let seq: UInt64
        /// The sequence number of the entity's event before; 0 for its first.
        package let previous: UInt64
        package let topic: Slice
        package let json: Slice
        /// What recovery needs beside the JSON; the journal does not look into it.
        package let image: Slice
        /// The next event of the same row.
        fileprivate var next: Int?
    }

    /// Whether there is nothing to commit.
    @inlinable package var isEmpty: Bool { events.isEmpty && facts.isEmpty && answers.isEmpty }

    /// Whether the owner should commit it before it applies another command. Asked for each message: inlinable, since the
    /// caller would else keep the batch alive meanwhile, buffer by buffer.
    @inlinable package var isFull: Bool {
        events.count >= Self.maximumEvents || facts.count + answers.count >= Self.maximumEvents
            || bytes.count >= Self.maximumBytes
    }

    /// The bytes that it holds.
    @inlinable package var byteCount: Int { bytes.count }

    /// Empties it for the batch of that number, keeping its buffers where they are not much too large.
    package mutating func reset(number: UInt64) {
        self.number = number
        usesReserve = false
        rows.removeAll(keepingCapacity: true)
        events.removeAll(givingBackBeyond: Self.keptEvents)
        facts.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
        rowOfStream.removeAll(keepingCapacity: true)
        lastStream = nil
        bytes.removeAll(givingBackBeyond: Self.keptBytes)
    }

    /// Adds an event of an app, and the app where it has no row yet: for who has its name at hand.
    ///
    /// - Parameters:
    ///   - stream: The owner's number of the app.
    ///   - app: Its name.
    ///   - seq: Dense within the app; a hole is the caller's bug and traps.
    ///   - previous: The sequence number of the entity's event before; 0 for its first.
    ///   - at: Domain time in milliseconds since 1970.
    package mutating func append(
        stream: UInt32, app: Span<UInt8>, seq: UInt64, previous: UInt64, at: Int64, topic: Span<UInt8>,
        json: Span<UInt8>, image: Span<UInt8>
    ) {
        if !hasRow(of: stream) { addRow(of: stream, app: app, firstSeq: seq) }
        append(
            stream: stream, seq: seq, previous: previous, at: at, topic: topic, json: json, image: image)
    }

    /// Adds an app, whose first event is the next that is added; else it traps.
    ///
    /// - Parameters:
    ///   - stream: The owner's number of the app.
    ///   - app: Its name.
    ///   - seq: The number of that event.
    package mutating func addRow(of stream: UInt32, app: Span<UInt8>, firstSeq seq: UInt64) {
        precondition(!hasRow(of: stream), "an app with two rows")
        rowOfStream[stream] = rows.count
        rows.append(Row(stream: stream, name: store(app), firstSeq: seq, lastSeq: seq - 1, firstEvent: events.count))
    }

    /// Adds an event of an app that has a row.
    ///
    /// - Parameters:
    ///   - stream: The owner's number of the app; one without a row is the caller's bug and traps.
    ///   - seq: Dense within the app; a hole is the caller's bug and traps.
    ///   - previous: The sequence number of the entity's event before; 0 for its first.
    ///   - at: Domain time in milliseconds since 1970.
    package mutating func append(
        stream: UInt32, seq: UInt64, previous: UInt64, at: Int64, topic: Span<UInt8>, json: Span<UInt8>,
        image: Span<UInt8>
    ) {
        guard let row = findRow(of: stream) else { preconditionFailure("an event of an app without a row") }
        precondition(seq == rows[row].lastSeq + 1, "seq \(seq) after \(rows[row].lastSeq)")
        let index = events.count
        if seq > rows[row].firstSeq {
            events[rows[row].lastEvent].next = index
        } else {
            precondition(index == rows[row].firstEvent, "an app was added too early")
        }
        rows[row].lastSeq = seq
        rows[row].at = at
        rows[row].lastEvent = index
        lastStream = (stream, row)
        events.append(
            Event(
                row: row, seq: seq, previous: previous, topic: store(topic), json: store(json), image: store(image),
                next: nil))
    }

    /// Adds bytes for recovery, which come back in order and are of no other concern to the journal.
    package mutating func note(_ content: Span<UInt8>) {
        facts.append(store(content))
    }

    /// Adds an answer that a retry may ask for.
    package mutating func remember(_ answer: Span<UInt8>) {
        answers.append(store(answer))
    }

    /// Nothing more is added to it.
    ///
    /// - Parameters:
    ///   - at: Domain time in milliseconds since 1970.
    ///   - state: The listed entities of a stream and their digest, now.
    package mutating func close(at: Int64, state: (_ stream: UInt32) -> (entities: Int, digest: UInt64)) {
        // A clock that travels stands behind the events on its way.
        self.at = rows.reduce(at) { max($0, $1.at) }
        for index in rows.indices { (rows[index].entities, rows[index].digest) = state(rows[index].stream) }
    }

    /// Calls `body` with some of its bytes, which it must not keep.
    @inline(__always)
    package func withBytes<Result: ~Copyable, Failure: Error>(
        of slice: Slice, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(bytes.span.extracting(slice.offset..<(slice.offset + slice.count)))
    }

    /// Calls `body` with each event of a row, in order.
    package func forEachEvent(ofRow row: Int, _ body: (Event) -> Void) {
        _ = forEachEvent(ofRow: row, from: nil) { event in
            body(event)
            return true
        }
    }

    /// Calls `body` with the events of a row in order, as long as it wants more.
    ///
    /// - Parameter index: where it ended the last time; nil: at the row's first event.
    /// - Returns: the event to go on with; nil: it was the last.
    func forEachEvent(ofRow row: Int, from index: Int?, _ body: (Event) -> Bool) -> Int? {
        var next: Int? = index ?? rows[row].firstEvent
        while let index = next {
            next = events[index].next
            guard body(events[index]) else { break }
        }
        return next
    }

    /// Whether an event of an app is in it. Asked for each event: inlinable, as ``isFull``.
    @inlinable package func hasRow(of stream: UInt32) -> Bool { findRow(of: stream) != nil }

    @inlinable package func findRow(of stream: UInt32) -> Int? {
        // Commands of one app come in runs, and the dictionary costs more than the rest of an append.
        if let lastStream, lastStream.stream == stream { return lastStream.row }
        return rowOfStream[stream]
    }

    private mutating func store(_ content: Span<UInt8>) -> Slice {
        let slice = Slice(offset: bytes.count, count: content.count)
        unsafe content.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        return slice
    }
}
