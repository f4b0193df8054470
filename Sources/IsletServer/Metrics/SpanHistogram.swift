import Histogram
import IsletProtocol

/// How long something took, over and over: a histogram whose size is fixed, so that recording takes no memory.
///
/// It has no unit: its owner says whether it holds microseconds or milliseconds.
package struct SpanHistogram: Sendable {
    /// The largest span that is told apart; a longer one counts as this. Twelve days of microseconds, or 34 years of
    /// milliseconds; with it a histogram has about 35 kB.
    package static let longest = 1 << 40
    /// A percentile is never below the true one, and above it by at most this share of it.
    package static let maximumError = 1.0 / 128

    private var counts = Histogram<UInt64>(
        highestTrackableValue: UInt64(longest), numberOfSignificantValueDigits: .two)

    package init() {}

    /// How many spans were recorded.
    package var count: UInt64 { counts.totalCount }
    /// The longest that was recorded, exactly; 0 where none was.
    package var maximum: Int { Int(counts.maxRecorded) }

    /// Counts a span. A clock that is set back makes negative ones, which count as 0.
    package mutating func record(_ span: Int) {
        counts.record(UInt64(min(max(span, 0), Self.longest)))
    }

    /// Counts a span so many times.
    package mutating func record(_ span: Int, count: Int) {
        counts.record(UInt64(min(max(span, 0), Self.longest)), count: UInt64(max(0, count)))
    }

    /// Forgets all that was counted, and keeps the memory.
    package mutating func removeAll() {
        if count > 0 { counts.reset() }
    }

    /// How many of the recorded spans are at most as long as each of some bounds, which rise; with the histogram's own
    /// error at each of them.
    package func counts(upTo bounds: [Int]) -> [UInt64] {
        var result = [UInt64](repeating: 0, count: bounds.count)
        var index = 0
        var seen: UInt64 = 0
        guard count > 0 else { return result }
        for value in counts.recordedValues() {
            while index < bounds.count, value.value > UInt64(bounds[index]) {
                result[index] = seen
                index += 1
            }
            seen += value.count
        }
        while index < bounds.count {
            result[index] = seen
            index += 1
        }
        return result
    }

    /// The span that `percent` of the recorded ones do not exceed, by at most ``maximumError`` too long; 0 where none
    /// was recorded.
    package func percentile(_ percent: Double) -> Int { count == 0 ? 0 : Int(counts.valueAtPercentile(percent)) }

    /// Counts what another one has counted.
    package mutating func add(_ other: SpanHistogram) {
        if other.count > 0 { counts.add(other.counts) }
    }
}

extension JSONWriter {
    /// A member with the contract's percentiles.
    mutating func field(_ name: StaticString, _ spans: SpanHistogram) {
        key(name)
        beginObject()
        percentiles(spans)
        endObject()
    }

    /// A member with the unit, the percentiles of all, and those of late.
    mutating func field(_ name: StaticString, _ spans: SpanReading) {
        key(name)
        beginObject()
        field("unit", name: spans.unit.wireName)
        percentiles(spans.all)
        key("recent")
        beginObject()
        field("span", spans.recentSpan)
        percentiles(spans.recent)
        endObject()
        endObject()
    }

    private mutating func percentiles(_ spans: SpanHistogram) {
        field("count", spans.count)
        field("p50", spans.percentile(50))
        field("p99", spans.percentile(99))
        field("p999", spans.percentile(99.9))
        field("max", spans.maximum)
    }
}
