import IsletCore

/// What subscribers report of themselves with `stream.applied`: the only way in which a publisher can know how far
/// they are.
struct SubscriberTable {
    /// At most this many are remembered; the one that has been silent longest makes room.
    static let maximumSubscribers = 10_000

    private var reports: [[UInt8]: (positions: [UInt8], at: Milliseconds)] = [:]

    var count: Int { reports.count }

    /// - Parameters:
    ///   - nonce: the subscriber's own, which its join carried.
    ///   - positions: the JSON object of positions by app, as it came.
    ///   - time: monotonic milliseconds.
    mutating func report(nonce: [UInt8], positions: [UInt8], at time: Milliseconds) {
        if reports[nonce] == nil, reports.count >= Self.maximumSubscribers,
            let oldest = reports.min(by: { $0.value.at < $1.value.at })
        {
            reports[oldest.key] = nil
        }
        reports[nonce] = (positions, time)
    }
}
