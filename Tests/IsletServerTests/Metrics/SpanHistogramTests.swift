import IsletServer
import Testing

@Suite struct SpanHistogramTests {
    /// In hundredths, so that a rank is not rounded.
    private static let percents = [10, 100, 2_500, 5_000, 9_000, 9_900, 9_990, 9_999, 10_000]

    /// The span that so many hundredths of a percent do not exceed, found by sorting.
    private func exact(_ hundredths: Int, _ sorted: [Int]) -> Int {
        sorted[max(1, (hundredths * sorted.count + 9_999) / 10_000) - 1]
    }

    private func found(_ hundredths: Int, _ histogram: SpanHistogram) -> Int {
        histogram.percentile(Double(hundredths) / 100)
    }

    private func recorded(_ spans: some Sequence<Int>) -> SpanHistogram {
        var histogram = SpanHistogram()
        for span in spans { histogram.record(span) }
        return histogram
    }

    /// Spans of all magnitudes, about as many of each.
    private func spans(_ count: Int, seed: UInt64) -> [Int] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            let magnitude = Int.random(in: 1..<40, using: &random)
            return Int.random(in: 0..<(1 << magnitude), using: &random)
        }
    }

    @Test func nothingRecordedIsZeroEverywhere() {
        let histogram = SpanHistogram()
        #expect(histogram.count == 0)
        #expect(histogram.maximum == 0)
        #expect(Self.percents.allSatisfy { found($0, histogram) == 0 })
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func percentilesAreNeverTooLowAndTooHighWithinTheBound(seed: UInt64) {
        let spans = spans(5_000, seed: seed)
        let histogram = recorded(spans)
        let sorted = spans.sorted()
        for percent in Self.percents {
            let (found, exact) = (self.found(percent, histogram), self.exact(percent, sorted))
            #expect(found >= exact, "p\(percent), seed \(seed)")
            #expect(Double(found) <= Double(exact) * (1 + SpanHistogram.maximumError), "p\(percent), seed \(seed)")
        }
    }

    @Test func smallSpansAreExact() {
        let histogram = recorded(0..<200)
        for percent in stride(from: 50, through: 10_000, by: 50) {
            #expect(found(percent, histogram) == exact(percent, Array(0..<200)), "p\(percent)")
        }
    }

    @Test func countAndMaximumAreExact() {
        let spans = spans(1_000, seed: 7) + [987_654_321_012]
        let histogram = recorded(spans)
        #expect(histogram.count == 1_001)
        #expect(histogram.maximum == 987_654_321_012)
        #expect(histogram.percentile(100) == 987_654_321_012)
    }

    @Test func oneRareSpanShowsInTheHighPercentilesOnly() {
        let histogram = recorded([Int](repeating: 100, count: 998) + [50_000, 50_000])
        #expect(histogram.percentile(50) == 100)
        #expect(histogram.percentile(99) == 100)
        #expect(histogram.percentile(99.9) == 50_000)
    }

    @Test func whatCannotBeToldApartCountsAtTheEnds() {
        let histogram = recorded([-5, Int.min, SpanHistogram.longest + 1, Int.max])
        #expect(histogram.count == 4)
        #expect(histogram.percentile(50) == 0)
        #expect(histogram.maximum == SpanHistogram.longest)
    }

    @Test func twoAddUpToWhatOneWouldHaveCounted() {
        let (left, right) = (spans(2_000, seed: 1), spans(3_000, seed: 2))
        var sum = recorded(left)
        sum.add(recorded(right))
        let whole = recorded(left + right)
        #expect(sum.count == whole.count)
        #expect(sum.maximum == whole.maximum)
        for percent in Self.percents { #expect(found(percent, sum) == found(percent, whole), "p\(percent)") }
    }
}
