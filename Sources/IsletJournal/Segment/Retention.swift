/// Which segments may go.
///
/// Never the last one, nor one that recovery needs because the snapshot does not hold all of it. Then bytes decide,
/// then time: events that are younger than theirs stay. The newest full segment, and one that grew to twice its size
/// or more, since the next could not be made in time, stay until those after them have as many bytes as are kept:
/// either may alone have much of the past, or all of it, which would go with it. So all of them have as many bytes as
/// are kept, and one such segment beside. Answers keep no segment: those that retries may still ask for move into the
/// state's file (``KeptAnswers``).
struct Retention: Sendable {
    var bytes: Int
    var time: Int64
    /// A segment with more has grown.
    private let ordinaryBytes: Int

    init(_ options: StoreOptions) {
        bytes = options.retentionBytes
        time = options.retentionTime
        ordinaryBytes = 2 * options.segmentBytes
    }

    /// Whether the first of the segments may go.
    ///
    /// - Parameters:
    ///   - segments: All that there are, in order.
    ///   - holdsThrough: The last batch that the durable snapshot holds everything of.
    ///   - now: Domain time in milliseconds since 1970.
    ///   - lacksRoom: Whether something waits for room on the disk: those two go like the others then.
    func allowsTrimming(_ segments: [SegmentInfo], holdsThrough: UInt64, now: Int64, lacksRoom: Bool) -> Bool {
        guard segments.count > 1, let first = segments.first, first.lastBatch <= holdsThrough else { return false }
        if first.lastAt < now - time { return true }
        let left = segments.dropFirst().reduce(0) { $0 + $1.bytes }
        let isOrdinary = segments.count > 2 && first.bytes <= ordinaryBytes
        return left + first.bytes > bytes && (isOrdinary || left >= bytes || lacksRoom)
    }
}
