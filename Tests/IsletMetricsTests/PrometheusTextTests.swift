import CoreMetrics
import IsletMetrics
import Testing

@Suite struct PrometheusTextTests {
    private func text(_ metrics: PrometheusMetrics) -> String { String(decoding: metrics.text(), as: UTF8.self) }

    @Test func nothingIsWrittenOfWhatHasNoSeries() {
        #expect(text(PrometheusMetrics([MetricDescription("a_total", .counter, help: "A.")])) == "")
    }

    @Test func aCounterAGaugeAndTheirLabels() {
        let metrics = PrometheusMetrics([
            MetricDescription("jobs_total", .counter, help: "Jobs that were done."),
            MetricDescription("queue", .gauge, help: "Jobs that wait."),
        ])
        metrics.counter("jobs_total", [("outcome", "good"), ("by", "me")]).increment(by: 3 as Int64)
        metrics.counter("jobs_total", [("by", "me"), ("outcome", "bad")]).increment(by: 0.5)
        metrics.gauge("queue").set(-2.25)
        #expect(
            text(metrics) == """
                # HELP jobs_total Jobs that were done.
                # TYPE jobs_total counter
                jobs_total{by="me",outcome="bad"} 0.5
                jobs_total{by="me",outcome="good"} 3
                # HELP queue Jobs that wait.
                # TYPE queue gauge
                queue -2.25

                """)
    }

    @Test func aHistogramsBucketsAreCumulative() {
        let metrics = PrometheusMetrics([MetricDescription("t_seconds", .histogram(bounds: [0.5, 1, 2]), help: "T.")])
        let histogram = metrics.histogram("t_seconds", [("op", "x")])
        for value in [0.25, 0.5, 0.75, 1.5, 2.0, 99] { histogram.record(value) }
        #expect(
            text(metrics) == """
                # HELP t_seconds T.
                # TYPE t_seconds histogram
                t_seconds_bucket{op="x",le="0.5"} 2
                t_seconds_bucket{op="x",le="1"} 3
                t_seconds_bucket{op="x",le="2"} 5
                t_seconds_bucket{op="x",le="+Inf"} 6
                t_seconds_sum{op="x"} 104
                t_seconds_count{op="x"} 6

                """)
    }

    @Test func whatWasCountedElsewhereTakesThePlaceOfAll() {
        let metrics = PrometheusMetrics([MetricDescription("t_seconds", .histogram(bounds: [1, 2]), help: "T.")])
        let histogram = metrics.histogram("t_seconds")
        histogram.record(5 as Double)
        histogram.replace(cumulative: [4, 9], count: 11, sum: 30.5)
        #expect(histogram.content == .init(cumulative: [4, 9], count: 11, sum: 30.5))
        histogram.record(1.5 as Double)
        #expect(histogram.content == .init(cumulative: [4, 10], count: 12, sum: 32))
    }

    @Test func valuesOfLabelsAndHelpAreEscaped() {
        let metrics = PrometheusMetrics([MetricDescription("a", .gauge, help: "Line\\one\nline \"two\".")])
        metrics.gauge("a", [("v", "back\\slash \"quoted\"\nnew é")]).set(1 as Int64)
        #expect(
            text(metrics) == #"""
                # HELP a Line\\one\nline "two".
                # TYPE a gauge
                a{v="back\\slash \"quoted\"\nnew é"} 1

                """#)
    }

    @Test(arguments: [
        (0.0, "0"), (-0.0, "0"), (1e15, "1000000000000000"), (0.1, "0.1"), (1e300, "1e+300"), (.infinity, "+Inf"),
        (-.infinity, "-Inf"), (.nan, "NaN"), (2.5e-7, "2.5e-07"), (1_763_700_000.123, "1763700000.123"),
    ])
    func numbers(value: Double, written: String) {
        let metrics = PrometheusMetrics()
        metrics.gauge("a").set(value)
        #expect(text(metrics).hasSuffix("\na \(written)\n"))
    }

    @Test func namesOfLibrariesAreMadeValidAndGetTheirSuffix() {
        let metrics = PrometheusMetrics()
        Counter(label: "http.requests", dimensions: [("http-code", "200"), ("le", "x"), ("__y", "z")], factory: metrics)
            .increment(by: 2)
        CoreMetrics.Timer(label: "9lives", dimensions: [], preferredDisplayUnit: .seconds, factory: metrics)
            .recordNanoseconds(1_500_000_000)
        Gauge(label: "héllo", dimensions: [], factory: metrics).record(7)
        let text = text(metrics)
        #expect(text.contains(#"http_requests_total{http_code="200",label___y="z",label_le="x"} 2"#))
        #expect(text.contains("# TYPE http_requests_total counter\n"))
        #expect(text.contains("_9lives_seconds_sum 1.5\n"))
        #expect(text.contains(#"_9lives_seconds_bucket{le="2.5"} 1"#) && text.contains(#"_9lives_seconds_bucket{le="1"} 0"#))
        #expect(text.contains("h__llo 7\n"))
    }
}

@Suite struct PrometheusMetricsTests {
    private func text(_ metrics: PrometheusMetrics) -> String { String(decoding: metrics.text(), as: UTF8.self) }

    @Test func oneNameAndLabelsAreOneSeries() {
        let metrics = PrometheusMetrics()
        #expect(metrics.counter("a_total", [("x", "1"), ("y", "2")]) === metrics.counter("a", [("y", "2"), ("x", "1")]))
        #expect(metrics.counter("a_total", [("x", "1")]) !== metrics.counter("a_total"))
        #expect(metrics.gauge("g") === metrics.gauge("g"))
    }

    @Test func aCounterNeverFalls() {
        let counter = PrometheusMetrics().counter("a_total")
        counter.increment(by: 5 as Int64)
        counter.increment(by: -3 as Int64)
        counter.increment(by: -.infinity)
        counter.increment(by: .nan)
        #expect(counter.value == 5)
        counter.set(total: 9 as UInt64)
        #expect(counter.value == 9)
        counter.reset()
        #expect(counter.value == 0)
    }

    @Test func theNumberOfSeriesIsBounded() {
        let metrics = PrometheusMetrics()
        for index in 0..<PrometheusMetrics.maximumSeries + 10 {
            metrics.counter("a_total", [("i", "\(index)")]).increment(by: 1 as Int64)
        }
        let lines = text(metrics).split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("a_total{") } == PrometheusMetrics.maximumSeries)
        #expect(lines.contains("islet_metrics_refused_total 10"))
        // Those that were made before go on.
        metrics.counter("a_total", [("i", "0")]).increment(by: 1 as Int64)
        #expect(text(metrics).contains("a_total{i=\"0\"} 2\n"))
    }

    @Test func aNameHasOneTypeOnly() {
        let metrics = PrometheusMetrics([MetricDescription("a_total", .counter, help: "A.")])
        metrics.gauge("a_total").set(5 as Int64)
        metrics.histogram("a_total").record(5 as Double)
        #expect(!text(metrics).contains("# TYPE a_total"))
        #expect(text(metrics).contains("islet_metrics_refused_total 2\n"))
    }

    @Test func whatIsDestroyedIsNotWrittenAndMakesRoom() {
        let metrics = PrometheusMetrics()
        let counter = Counter(label: "a", dimensions: [("x", "1")], factory: metrics)
        counter.increment()
        let recorder = Recorder(label: "r", dimensions: [], aggregate: true, factory: metrics)
        recorder.record(1)
        let meter = Meter(label: "m", dimensions: [], factory: metrics)
        meter.set(2)
        counter.destroy()
        recorder.destroy()
        meter.destroy()
        #expect(text(metrics) == "")
        for index in 0..<PrometheusMetrics.maximumSeries { metrics.gauge("g", [("i", "\(index)")]).set(0 as Int64) }
        #expect(!text(metrics).contains("refused"))
    }

    @Test func manyTasksCountTogether() async {
        let metrics = PrometheusMetrics()
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        metrics.counter("a_total").increment(by: 1 as Int64)
                        metrics.histogram("h").record(Double(task))
                    }
                }
            }
        }
        #expect(metrics.counter("a_total").value == 8_000)
        #expect(metrics.histogram("h").content.count == 8_000)
    }

    @Test(arguments: ["a", "_a:b9", ":x"]) func goodNames(name: String) { #expect(MetricName.isValid(name)) }
    @Test(arguments: ["", "9a", "a-b", "é", "a b"]) func badNames(name: String) {
        #expect(!MetricName.isValid(name))
        #expect(MetricName.isValid(MetricName.metric(name)))
        #expect(MetricName.isValidLabel(MetricName.label(name)))
    }
}
