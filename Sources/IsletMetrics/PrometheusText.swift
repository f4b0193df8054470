/// Writes the text format 0.0.4 of Prometheus.
struct PrometheusText {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(1 << 14) }

    /// The two lines before a metric's samples.
    mutating func head(_ description: MetricDescription) {
        append("# HELP \(description.name) ")
        for byte in description.help.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\n"): append("\\n")
            default: bytes.append(byte)
            }
        }
        append("\n# TYPE \(description.name) ")
        switch description.kind {
        case .counter: append("counter\n")
        case .gauge: append("gauge\n")
        case .histogram: append("histogram\n")
        }
    }

    mutating func sample(_ name: String, _ labels: [MetricLabels.Pair], _ value: Double) {
        append(name)
        self.labels(labels)
        bytes.append(UInt8(ascii: " "))
        append(Self.number(value))
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Buckets, sum and count.
    mutating func histogram(
        _ name: String, _ labels: [MetricLabels.Pair], _ content: PrometheusHistogram.Content, _ bounds: [Double]
    ) {
        for (bound, count) in zip(bounds, content.cumulative) {
            bucket(name, labels, Self.number(bound), count)
        }
        bucket(name, labels, "+Inf", content.count)
        sample(name + "_sum", labels, content.sum)
        sample(name + "_count", labels, Double(content.count))
    }

    private mutating func bucket(_ name: String, _ labels: [MetricLabels.Pair], _ bound: String, _ count: UInt64) {
        append(name)
        append("_bucket")
        self.labels(labels + [MetricLabels.Pair(name: "le", value: bound)])
        append(" \(count)\n")
    }

    private mutating func labels(_ labels: [MetricLabels.Pair]) {
        guard !labels.isEmpty else { return }
        bytes.append(UInt8(ascii: "{"))
        for (index, label) in labels.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(label.name)
            append("=\"")
            for byte in label.value.utf8 {
                switch byte {
                case UInt8(ascii: "\\"): append("\\\\")
                case UInt8(ascii: "\""): append("\\\"")
                case UInt8(ascii: "\n"): append("\\n")
                default: bytes.append(byte)
                }
            }
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// A whole number without a fraction, and what is not finite in Prometheus' words.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        if value.magnitude < 0x1p53, value == value.rounded(.towardZero) { return String(Int64(value)) }
        return value.description
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
