/// Which segments may go.
///
/// Never the last one, nor one that recovery needs because the snapshot does not hold all of it. Then bytes decide,
/// then time: events that are younger than theirs stay. The newest full segment stays, however large it is, until the
/// one after it has as many bytes as are kept: one that grew, since the next could not be made in time, may alone have
/// more than all of them, and with it the whole past would go. Answers keep no segment: those that retries may still ask for
/// move into the state's file (``KeptAnswers``).
struct Retention: Sendable {
    var bytes: Int
    var time: Int64

    init(_ options: StoreOptions) {
        bytes = options.retentionBytes
        time = options.retentionTime
    }

    /// Whether the first of the segments may go.
    ///
    /// - Parameters:
    ///   - segments: All that there are, in order.
    ///   - holdsThrough: The last batch that the durable snapshot holds everything of.
    ///   - now: Domain time in milliseconds since 1970.
    ///   - lacksRoom: Whether something waits for room on the disk: the newest full segment goes like the others then.
    func allowsTrimming(_ segments: [SegmentInfo], holdsThrough: UInt64, now: Int64, lacksRoom: Bool) -> Bool {
        guard segments.count > 1, let first = segments.first, first.lastBatch <= holdsThrough else { return false }
        if first.lastAt < now - time { return true }
        let left = segments.dropFirst().reduce(0) { $0 + $1.bytes }
        return left + first.bytes > bytes && (segments.count > 2 || left >= bytes || lacksRoom)
    }
}
