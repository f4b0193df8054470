import IsletFilter

/// What a figure of `islet check` is counted in.
enum CheckUnit: String, Sendable {
    case milliseconds = "ms"
    case microseconds = "us"
    case bytes = "B"
    case percent = "%"
    case count = ""

    /// As people read it.
    func text(_ value: Int64) -> String {
        switch self {
        case .milliseconds: SpanText.text(value, microseconds: false)
        case .microseconds: SpanText.text(value, microseconds: true)
        case .bytes: ByteText.text(value)
        case .percent: "\(value) %"
        case .count: RecoveryText.grouped(Int(clamping: value))
        }
    }

    /// The unit that Prometheus wants: its name in the metric's, and how many of ours make one.
    var base: (suffix: String, divisor: Double) {
        switch self {
        case .milliseconds: ("_seconds", 1_000)
        case .microseconds: ("_seconds", 1_000_000)
        case .bytes: ("_bytes", 1)
        case .percent: ("_ratio", 100)
        case .count: ("", 1)
        }
    }

    /// Reads a threshold in this unit: `250ms`, `2GiB`, `80`, `80%`.
    func value(_ text: String) -> Int64? {
        switch self {
        case .milliseconds: Span(argument: text)?.milliseconds
        case .microseconds:
            Span(argument: text).flatMap { span in
                let (microseconds, overflow) = span.milliseconds.multipliedReportingOverflow(by: 1_000)
                return overflow ? nil : microseconds
            }
        case .bytes: Self.bytes(text)
        case .percent:
            Int64(text.hasSuffix("%") ? String(text.dropLast()) : text).flatMap { $0 < 0 ? nil : $0 }
        case .count: Int64(text).flatMap { $0 < 0 ? nil : $0 }
        }
    }

    private static func bytes(_ text: String) -> Int64? {
        let units: [(String, Int64)] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)]
        for (unit, size) in units where text.hasSuffix(unit) {
            guard let number = Int64(text.dropLast(unit.count)), number >= 0 else { return nil }
            let (bytes, overflow) = number.multipliedReportingOverflow(by: size)
            return overflow ? nil : bytes
        }
        return Int64(text).flatMap { $0 < 0 ? nil : $0 }
    }
}
