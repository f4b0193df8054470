import IsletServer
import Testing

@Suite struct SpanRecorderTests {
    private static let window = SpanRecorder.window

    @Test func beforeTheFirstWindowIsOverAllIsOfLate() {
        var recorder = SpanRecorder(.milliseconds, at: 1_000)
        for span in 1...100 { recorder.record(span, at: 1_000 + Int64(span)) }
        let reading = recorder.reading(at: 2_000)
        #expect(reading.all.count == 100 && reading.recent.count == 100)
        #expect(reading.recentSpan == 1_000)
        #expect(reading.sum == 5_050)
        #expect(reading.unit == .milliseconds)
    }

    @Test func ofLateIsNeverLessThanOneWindowNorAsMuchAsTwo() {
        var recorder = SpanRecorder(.microseconds, at: 0)
        for second in 0..<200 as Range<Int64> {
            let now = second * 1_000
            recorder.record(1, at: now)
            let reading = recorder.reading(at: now)
            #expect(reading.all.count == UInt64(second + 1))
            #expect(reading.recentSpan < 2 * Self.window)
            if now >= Self.window { #expect(reading.recentSpan >= Self.window) }
            // One each second, the one of this moment among them.
            #expect(reading.recent.count == UInt64(reading.recentSpan / 1_000 + 1))
        }
    }

    @Test func whatWasLongAgoIsNotOfLateAndNotForgotten() {
        var recorder = SpanRecorder(.microseconds, at: 0)
        recorder.record(900_000, at: 0)
        #expect(recorder.reading(at: 0).recent.maximum == 900_000)
        for now in [2 * Self.window, 3 * Self.window, 50 * Self.window] {
            let reading = recorder.reading(at: now)
            #expect(reading.recent.count == 0 && reading.recent.maximum == 0, "\(now)")
            #expect(reading.all.count == 1 && reading.all.maximum == 900_000, "\(now)")
            #expect(reading.recentSpan == Self.window)
        }
        recorder.record(5, at: 50 * Self.window)
        #expect(recorder.reading(at: 50 * Self.window).recent.maximum == 5)
        #expect(recorder.reading(at: 50 * Self.window).all.count == 2)
    }

    @Test func aReadingChangesNothing() {
        var recorder = SpanRecorder(.microseconds, at: 0)
        var quiet = recorder
        var random = SeededGenerator(seed: 3)
        var now: Int64 = 0
        for _ in 0..<150 {
            now += Int64.random(in: 0..<9_000, using: &random)
            let span = Int.random(in: 0..<100_000, using: &random)
            recorder.record(span, at: now)
            quiet.record(span, at: now)
            _ = recorder.reading(at: now)
        }
        let (read, unread) = (recorder.reading(at: now), quiet.reading(at: now))
        #expect(read.all.count == unread.all.count && read.sum == unread.sum)
        #expect(read.recent.count == unread.recent.count && read.recentSpan == unread.recentSpan)
        for percent in [50.0, 99, 99.9, 100] {
            #expect(read.all.percentile(percent) == unread.all.percentile(percent))
            #expect(read.recent.percentile(percent) == unread.recent.percentile(percent))
        }
    }

    @Test func oneSpanMayCountManyTimes() {
        var recorder = SpanRecorder(.microseconds, at: 0)
        recorder.record(7, count: 300, at: 0)
        recorder.record(-4, count: 2, at: 0)
        let reading = recorder.reading(at: 0)
        #expect(reading.all.count == 302 && reading.sum == 2_100)
        #expect(reading.all.percentile(0.5) == 0 && reading.all.percentile(99) == 7)
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func countsUpToBoundsAreThoseOfTheSpansWithinTheBound(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let spans = (0..<3_000).map { _ in Int.random(in: 0..<(1 << Int.random(in: 1..<30, using: &random)), using: &random) }
        var histogram = SpanHistogram()
        for span in spans { histogram.record(span) }
        let bounds = [0, 1, 100, 2_500, 10_000, 1_000_000, 500_000_000, 1 << 40]
        let counts = histogram.counts(upTo: bounds)
        #expect(counts == counts.sorted())
        #expect(counts.last == UInt64(spans.count))
        for (bound, count) in zip(bounds, counts) {
            let most = spans.count { $0 <= bound }
            let least = spans.count { Double($0) <= Double(bound) * (1 - SpanHistogram.maximumError) }
            #expect((least...most).contains(Int(count)), "\(bound), seed \(seed)")
        }
    }
}
