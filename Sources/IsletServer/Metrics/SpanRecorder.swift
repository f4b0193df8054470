package import IsletCore

/// What the numbers of a histogram count.
package enum SpanUnit: Sendable, BitwiseCopyable {
    case milliseconds
    case microseconds

    /// As the contract writes it.
    package var wireName: StaticString {
        switch self {
        case .milliseconds: "ms"
        case .microseconds: "us"
        }
    }

    /// How many make a second.
    package var perSecond: Int {
        switch self {
        case .milliseconds: 1_000
        case .microseconds: 1_000_000
        }
    }
}

/// How long something took: all of it since the start, and what was recorded in the last 30 to 60 seconds.
///
/// Two histograms take turns every ``window``; the older one is added to all before it when its turn comes again. So
/// recording touches one histogram only, and takes no memory.
package struct SpanRecorder: Sendable {
    /// For how long each of the two is written, in milliseconds of real time.
    package static let window: Milliseconds = 30_000

    package let unit: SpanUnit
    /// The sum of all spans.
    package private(set) var sum: UInt64 = 0
    private var settled = SpanHistogram()
    private var previous = SpanHistogram()
    private var current = SpanHistogram()
    /// When each of the two began, in monotonic milliseconds.
    private var previousBegan: Milliseconds
    private var currentBegan: Milliseconds

    /// - Parameter now: monotonic milliseconds.
    package init(_ unit: SpanUnit, at now: Milliseconds) {
        self.unit = unit
        previousBegan = now
        currentBegan = now
    }

    /// Counts a span `count` times; a negative one as 0.
    @inline(__always)
    package mutating func record(_ span: Int, count: Int = 1, at now: Milliseconds) {
        if now - currentBegan >= Self.window { turn(at: now) }
        current.record(span, count: count)
        sum &+= UInt64(max(0, span)) &* UInt64(count)
    }

    /// What it holds.
    package mutating func reading(at now: Milliseconds) -> SpanReading {
        if now - currentBegan >= Self.window { turn(at: now) }
        var recent = previous
        recent.add(current)
        var all = settled
        all.add(recent)
        return SpanReading(unit: unit, all: all, sum: sum, recent: recent, recentSpan: max(0, now - previousBegan))
    }

    @inline(never)
    private mutating func turn(at now: Milliseconds) {
        settled.add(previous)
        previous.removeAll()
        if now - currentBegan < 2 * Self.window {
            swap(&previous, &current)
            (previousBegan, currentBegan) = (currentBegan, currentBegan + Self.window)
        } else {
            // Nobody came by for long: what was recorded is not recent any more.
            settled.add(current)
            current.removeAll()
            (previousBegan, currentBegan) = (now - Self.window, now)
        }
    }
}

/// What a ``SpanRecorder`` held at one moment.
package struct SpanReading: Sendable {
    package var unit: SpanUnit
    /// All since the start, and their sum.
    package var all: SpanHistogram
    package var sum: UInt64
    /// Those of the last ``recentSpan`` milliseconds of real time.
    package var recent: SpanHistogram
    package var recentSpan: Milliseconds
}
