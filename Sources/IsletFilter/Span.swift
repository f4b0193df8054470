/// A length of time as people write it: `30s`, `10m`, `8h`, `1d`, `250ms`, `1h30m`.
package struct Span: Equatable, Sendable {
    package var milliseconds: Int64

    /// So many milliseconds.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Reads one; nil where the text is none, or longer than 64 bits can tell.
    package init?(_ text: String) {
        guard let milliseconds = Self.parse(text) else { return nil }
        self.milliseconds = milliseconds
    }

    package var duration: Duration { .milliseconds(milliseconds) }

    private static func parse(_ text: String) -> Int64? {
        var rest = text[...]
        var total: Int64 = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int64(digits), number <= 1_000_000_000_000 else { return nil }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let size = units[String(unit)] else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: size)
            let (sum, carry) = total.addingReportingOverflow(product)
            guard !overflow, !carry else { return nil }
            total = sum
        }
        return total
    }

    private static let units: [String: Int64] = [
        "ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
}
