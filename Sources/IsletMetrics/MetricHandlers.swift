import CoreMetrics
import Synchronization

/// Which series a handler is of; nil for one that is shown nowhere.
struct SeriesID: Hashable, Sendable {
    var name: String
    var labels: MetricLabels
}

/// A number that only rises.
package final class PrometheusCounter: CounterHandler, FloatingPointCounterHandler {
    let id: SeriesID?
    private let state = Mutex<Double>(0)

    init(_ id: SeriesID?) { self.id = id }

    package var value: Double { state.withLock { $0 } }

    /// Adds; what is negative adds nothing.
    package func increment(by amount: Int64) { increment(by: Double(amount)) }

    /// Adds; what is negative or no number adds nothing.
    package func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        state.withLock { $0 += amount }
    }

    /// Takes over a total that is counted elsewhere.
    package func set(total: some BinaryInteger) { state.withLock { $0 = Double(total) } }

    package func reset() { state.withLock { $0 = 0 } }
}

/// A number that rises and falls.
package final class PrometheusGauge: MeterHandler, RecorderHandler {
    let id: SeriesID?
    private let state = Mutex<Double>(0)

    init(_ id: SeriesID?) { self.id = id }

    package var value: Double { state.withLock { $0 } }

    package func set(_ value: Int64) { set(Double(value)) }
    package func set(_ value: Double) { state.withLock { $0 = value } }
    package func increment(by amount: Double) { state.withLock { $0 += amount } }
    package func decrement(by amount: Double) { state.withLock { $0 -= amount } }
    /// The last one that was recorded.
    package func record(_ value: Int64) { set(Double(value)) }
    package func record(_ value: Double) { set(value) }
}

/// Counts values by buckets.
package final class PrometheusHistogram: RecorderHandler, TimerHandler {
    /// What it holds: how many values are at most each bound, how many there are, and their sum.
    package struct Content: Equatable, Sendable {
        package var cumulative: [UInt64]
        package var count: UInt64
        package var sum: Double

        package init(cumulative: [UInt64], count: UInt64, sum: Double) {
            self.cumulative = cumulative
            self.count = count
            self.sum = sum
        }
    }

    package let bounds: [Double]
    let id: SeriesID?
    private let state: Mutex<(buckets: [UInt64], count: UInt64, sum: Double)>

    init(_ id: SeriesID?, bounds: [Double]) {
        self.id = id
        self.bounds = bounds
        state = Mutex((buckets: [UInt64](repeating: 0, count: bounds.count), count: 0, sum: 0))
    }

    package var content: Content {
        state.withLock { state in
            var total: UInt64 = 0
            let cumulative = state.buckets.map { bucket in
                total += bucket
                return total
            }
            return Content(cumulative: cumulative, count: state.count, sum: state.sum)
        }
    }

    package func record(_ value: Int64) { record(Double(value)) }

    /// Counts a value; what is no number is not counted.
    package func record(_ value: Double) {
        guard !value.isNaN else { return }
        let bucket = bounds.firstIndex { value <= $0 }
        state.withLock { state in
            if let bucket { state.buckets[bucket] += 1 }
            state.count += 1
            state.sum += value
        }
    }

    package func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }

    /// Takes over what was counted elsewhere, in the place of all that it held.
    ///
    /// - Parameters:
    ///   - cumulative: how many values are at most each of the ``bounds``; rises.
    ///   - count: of all values.
    package func replace(cumulative: [UInt64], count: UInt64, sum: Double) {
        precondition(cumulative.count == bounds.count, "a count for each bound")
        var before: UInt64 = 0
        let buckets = cumulative.map { upTo in
            defer { before = max(before, upTo) }
            return upTo > before ? upTo - before : 0
        }
        state.withLock { $0 = (buckets: buckets, count: max(count, before), sum: sum) }
    }
}
