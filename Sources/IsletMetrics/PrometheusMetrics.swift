package import CoreMetrics
import Synchronization

/// All metrics of the process: a backend of swift-metrics that writes them for Prometheus (text format 0.0.4).
///
/// What is known by a ``MetricDescription`` has its help and its buckets. Others may be made by any library that uses
/// swift-metrics: their names are made valid, a counter's ends in `_total` and a timer's in `_seconds`. The number of series is
/// bounded; what is beyond is counted nowhere but in `islet_metrics_refused_total`.
package final class PrometheusMetrics: MetricsFactory {
    /// At most this many series; a histogram counts as one.
    package static let maximumSeries = 1_024
    private static let refused = MetricDescription(
        "islet_metrics_refused_total", .counter,
        help: "Series that were not made, because there were too many or their name had another type.")

    private enum Series: Sendable {
        case counter(PrometheusCounter)
        case gauge(PrometheusGauge)
        case histogram(PrometheusHistogram)
    }

    private struct Family: Sendable {
        var description: MetricDescription
        var series: [MetricLabels: Series] = [:]
    }

    private struct State: Sendable {
        var families: [String: Family] = [:]
        var seriesCount = 0
        var refused: UInt64 = 0
    }

    private let state: Mutex<State>

    /// - Parameter descriptions: of metrics that are known; those without a series are not written.
    package init(_ descriptions: [MetricDescription] = []) {
        var state = State()
        for description in descriptions { state.families[description.name] = Family(description: description) }
        self.state = Mutex(state)
    }

    // MARK: Making

    /// The counter of a name and labels, made where it is new.
    package func counter(_ label: String, _ labels: [(String, String)] = []) -> PrometheusCounter {
        let made = series(label, labels, suffix: "_total", kind: .counter) { id, _ in .counter(PrometheusCounter(id)) }
        if case .counter(let counter) = made { return counter }
        return PrometheusCounter(nil)
    }

    /// The gauge of a name and labels, made where it is new.
    package func gauge(_ label: String, _ labels: [(String, String)] = []) -> PrometheusGauge {
        let made = series(label, labels, suffix: "", kind: .gauge) { id, _ in .gauge(PrometheusGauge(id)) }
        if case .gauge(let gauge) = made { return gauge }
        return PrometheusGauge(nil)
    }

    /// The histogram of a name and labels, made where it is new.
    package func histogram(
        _ label: String, _ labels: [(String, String)] = [], suffix: String = ""
    ) -> PrometheusHistogram {
        let bounds = MetricDescription.durationBounds
        let made = series(label, labels, suffix: suffix, kind: .histogram(bounds: bounds)) { id, kind in
            guard case .histogram(let own) = kind else { return .histogram(PrometheusHistogram(id, bounds: bounds)) }
            return .histogram(PrometheusHistogram(id, bounds: own))
        }
        if case .histogram(let histogram) = made { return histogram }
        return PrometheusHistogram(nil, bounds: bounds)
    }

    /// The series of a name and labels; nil where there is no room for it, or its name is another kind's.
    private func series(
        _ label: String, _ labels: [(String, String)], suffix: String, kind: MetricDescription.Kind,
        make: (SeriesID, MetricDescription.Kind) -> Series
    ) -> Series? {
        let labels = MetricLabels(labels)
        return state.withLock { state in
            var name = MetricName.metric(label)
            if state.families[name] == nil, !name.hasSuffix(suffix) { name += suffix }
            let family =
                state.families[name]
                ?? Family(description: MetricDescription(name, kind, help: "Of a library; it says no more of it."))
            if let known = family.series[labels] { return known }
            guard state.seriesCount < Self.maximumSeries, family.description.kind.isLike(kind) else {
                state.refused += 1
                return nil
            }
            let made = make(SeriesID(name: name, labels: labels), family.description.kind)
            state.families[name] = family
            state.families[name]?.series[labels] = made
            state.seriesCount += 1
            return made
        }
    }

    private func remove(_ id: SeriesID?) {
        guard let id else { return }
        state.withLock { state in
            guard state.families[id.name]?.series.removeValue(forKey: id.labels) != nil else { return }
            state.seriesCount -= 1
        }
    }

    // MARK: Writing

    /// All metrics as Prometheus reads them, in the order of their names: UTF-8, `text/plain; version=0.0.4`.
    package func text() -> [UInt8] {
        let (families, refused) = state.withLock { (Array($0.families.values), $0.refused) }
        var text = PrometheusText()
        if refused > 0 {
            text.head(Self.refused)
            text.sample(Self.refused.name, [], Double(refused))
        }
        for family in families.sorted(by: { $0.description.name < $1.description.name }) where !family.series.isEmpty {
            let name = family.description.name
            text.head(family.description)
            let series = family.series.sorted { one, other in
                one.key.pairs.lexicographicallyPrecedes(other.key.pairs) { ($0.name, $0.value) < ($1.name, $1.value) }
            }
            for (labels, series) in series {
                switch series {
                case .counter(let counter): text.sample(name, labels.pairs, counter.value)
                case .gauge(let gauge): text.sample(name, labels.pairs, gauge.value)
                case .histogram(let histogram): text.histogram(name, labels.pairs, histogram.content, histogram.bounds)
                }
            }
        }
        return text.bytes
    }

    // MARK: MetricsFactory

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions)
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions)
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate ? histogram(label, dimensions) : gauge(label, dimensions)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions, suffix: "_seconds")
    }

    package func destroyCounter(_ handler: any CounterHandler) { remove((handler as? PrometheusCounter)?.id) }

    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        remove((handler as? PrometheusCounter)?.id)
    }

    package func destroyMeter(_ handler: any MeterHandler) { remove((handler as? PrometheusGauge)?.id) }

    package func destroyRecorder(_ handler: any RecorderHandler) {
        remove((handler as? PrometheusHistogram)?.id ?? (handler as? PrometheusGauge)?.id)
    }

    package func destroyTimer(_ handler: any TimerHandler) { remove((handler as? PrometheusHistogram)?.id) }
}

extension MetricDescription.Kind {
    /// Whether it is of the same type, whatever its buckets.
    fileprivate func isLike(_ other: MetricDescription.Kind) -> Bool {
        switch (self, other) {
        case (.counter, .counter), (.gauge, .gauge), (.histogram, .histogram): true
        case (.counter, _), (.gauge, _), (.histogram, _): false
        }
    }
}
