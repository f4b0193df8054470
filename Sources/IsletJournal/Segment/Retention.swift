/// Which segments may go.
///
/// Never the last one, nor one that recovery needs because the snapshot does not hold all of it. Then bytes decide,
/// then time: events that are younger than theirs stay. Answers keep no segment: those that retries may still ask for move
/// into the state's file (``KeptAnswers``).
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
    func allowsTrimming(_ segments: [SegmentInfo], holdsThrough: UInt64, now: Int64) -> Bool {
        guard segments.count > 1, let first = segments.first, first.lastBatch <= holdsThrough else { return false }
        return segments.reduce(0, { $0 + $1.bytes }) > bytes || first.lastAt < now - time
    }
}
