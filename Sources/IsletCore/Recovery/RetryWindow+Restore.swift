/// What a retry window writes for recovery: each answer when it is remembered, and a trace for each client whose numbers
/// are forgotten.
extension RetryWindow {
    private static let traceTag = UInt8(ascii: "r")
    /// The layout of a trace.
    private static let traceVersion: UInt8 = 2
    /// The layout that releases have written in which nothing says which answers were counted. All are counted again: a
    /// number that is the last one already changes nothing, and one that was not counted would leave nothing behind.
    private static let traceVersionWithoutBatch: UInt8 = 1

    /// Writes the remembered answer of a claim, as ``restoreAnswer(_:batch:at:)`` reads it.
    package static func write(
        _ claim: RetryClaim, req: Span<UInt8>, answer: Span<UInt8>, to writer: inout ImageWriter
    ) {
        let isKept = answer.count <= maximumAnswerBytes
        writer.write(byte: StoredAnswer.version)
        writer.write(claim.client)
        writer.write(claim.frameHash.value)
        writer.write(isKept)
        writer.write(run: req)
        if isKept { writer.write(run: answer) }
    }

    /// Remembers an answer again. They must come in the order in which they were given.
    ///
    /// A pair that was used twice was forgotten in between, else the second use had been answered and not executed; and
    /// with it all older answers of its client.
    package mutating func restoreAnswer(
        _ bytes: Span<UInt8>, batch: UInt64, at instant: Instant
    ) throws(ImageError) {
        let stored = try ImageReader.read(bytes) { reader throws(ImageError) in try StoredAnswer(&reader) }
        guard stored.req.count <= InlineText.maximumCount else { throw .unknownValue }
        let req = bytes.extracting(stored.req)
        let claim = RetryClaim(client: stored.client, req: req, frameHash: stored.frameHash)
        while let former = find(claim, req) { forget(clients[entries[former].client].oldest) }
        guard let answer = stored.answer else {
            let tooLong = [UInt8](repeating: 0, count: RetryWindow.maximumAnswerBytes + 1)
            return remember(claim, req: req, answer: tooLong.span, batch: batch, at: instant)
        }
        remember(claim, req: req, answer: bytes.extracting(answer), batch: batch, at: instant)
    }

    /// How many clients' traces changed and are not taken yet.
    package var changedTraceCount: Int { changedTraces.count }

    /// The clients whose traces changed since the last call, at most `count`; nothing until ``recordsTraces`` is set.
    package mutating func takeChangedTraces(_ count: Int) -> ArraySlice<EntityID> {
        let taken = changedTraces.prefix(count)
        for id in taken {
            if let slot = findClient(id) { clients[slot].isTraceChanged = false }
        }
        changedTraces.removeFirst(taken.count)
        return taken
    }

    /// The key of a client's trace.
    package static func traceKey(_ client: EntityID) -> [UInt8] {
        var writer = ImageWriter()
        writer.write(byte: traceTag)
        writer.write(client)
        return writer.bytes
    }

    /// Writes a client's trace; false where there is none any more.
    ///
    /// - Parameter batch: The last batch whose answers it counts: those of later ones must not have been given yet.
    package func writeTrace(of client: EntityID, through batch: UInt64, to writer: inout ImageWriter) -> Bool {
        guard let slot = findClient(client), !clients[slot].isForgettable else { return false }
        writer.write(byte: RetryWindow.traceVersion)
        writer.write(batch)
        clients[slot].write(to: &writer)
        return true
    }

    /// Takes a trace back; false where the key is not one. Before any answer is restored.
    ///
    /// - Parameter lastBatch: The last one that is there. Batches that a trace counts beyond it are lost, and others will have
    ///   their numbers: the trace is to be written again.
    package mutating func restoreTrace(
        _ key: Span<UInt8>, _ value: Span<UInt8>, lastBatch: UInt64
    ) throws(ImageError) -> Bool {
        guard key.count > 0, key[0] == RetryWindow.traceTag else { return false }
        let id = try ImageReader.read(key) { reader throws(ImageError) in
            _ = try reader.byte()
            return try reader.entityID()
        }
        let (client, through) = try ImageReader.read(value) { reader throws(ImageError) in
            let version = try reader.byte()
            let through: UInt64
            switch version {
            case RetryWindow.traceVersion: through = try reader.integer()
            case RetryWindow.traceVersionWithoutBatch: through = 0
            default: throw ImageError.unknownVersion(version)
            }
            return (try RetryClient(id: id, &reader), through)
        }
        countedThrough[id] = through
        insertIdle(client)
        if through == 0 || through > lastBatch, let slot = findClient(id) { traceChanged(slot) }
        return true
    }

    /// The domain time that a round of the snapshot begins at for whoever reads answers back: all that are remembered
    /// are of batches that were closed within the window before it, or later.
    package func roundDate(at now: Instant) -> Instant {
        oldest == .max ? now : min(now, entries[oldest].at + limits.span)
    }

    /// All answers are restored.
    package mutating func restoringEnds() {
        sortIdleClients()
        countedThrough = [:]
        forgetIdleClients()
    }
}

private struct StoredAnswer {
    /// The layout.
    static let version: UInt8 = 1

    var client: EntityID
    var frameHash: FrameHash
    var req: Range<Int>
    /// nil: it was too long to be kept.
    var answer: Range<Int>?

    init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == StoredAnswer.version else { throw .unknownVersion(version) }
        client = try reader.entityID()
        frameHash = FrameHash(value: try reader.integer())
        let isKept = try reader.flag()
        req = try reader.run()
        if isKept { answer = try reader.run() }
    }
}
