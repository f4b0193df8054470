/// Which segments may go.
///
/// Never the last one, nor one that recovery needs because the snapshot does not hold all of it. Then bytes decide,
/// then time: events and answers that are younger than their times stay.
struct Retention: Sendable {
    var bytes: Int
    var time: Int64
    var answerTime: Int64

    init(_ options: StoreOptions) {
        bytes = options.retentionBytes
        time = options.retentionTime
        answerTime = options.answerRetention
    }

    /// Whether the first of the segments may go.
    ///
    /// - Parameters:
    ///   - segments: All that there are, in order.
    ///   - holdsThrough: The last batch that the durable snapshot holds everything of.
    ///   - now: Domain time in milliseconds since 1970.
    ///   - roundBegan: The same when the round began that the durable snapshot holds everything of. What was forgotten of
    ///     answers since then is not in it, so a start reads those again.
    func allowsTrimming(_ segments: [SegmentInfo], holdsThrough: UInt64, now: Int64, roundBegan: Int64) -> Bool {
        guard segments.count > 1, let first = segments.first, first.lastBatch <= holdsThrough else { return false }
        if segments.reduce(0, { $0 + $1.bytes }) > bytes { return true }
        return first.lastAt < now - time && first.lastAt < min(now, roundBegan) - answerTime
    }
}
