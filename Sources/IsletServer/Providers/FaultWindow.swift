package import IsletCore

/// What a provider did wrong lately: answers of the wrong type, to calls that were never made, or given twice.
package struct FaultWindow: Sendable {
    private let limit: Int
    private let span: Milliseconds
    /// When the last ones happened, as a ring.
    private var times: [Milliseconds] = []
    private var oldest = 0

    /// - Parameter limit: so many within `span` milliseconds are too many.
    package init(limit: Int, span: Milliseconds) {
        self.limit = limit
        self.span = span
    }

    /// Notes one.
    ///
    /// - Returns: whether it was one too many.
    package mutating func note(at now: Milliseconds) -> Bool {
        if times.count < limit {
            times.append(now)
        } else {
            times[oldest] = now
            oldest = (oldest + 1) % limit
        }
        return times.count == limit && now - times[oldest] < span
    }
}
