import IsletClient

/// The contract's percentiles, as a line for people.
enum SpanText {
    /// Such as `p50 0.4 ms, p99 1.9 ms, p99.9 4.0 ms, max 12.5 ms of 31 410`; nil for an object that is something else.
    ///
    /// - Parameter microseconds: whether the members are microseconds and not milliseconds.
    static func line(_ object: RawObject, microseconds: Bool) -> String? {
        guard let count = object["count"]?.integer, let p50 = object["p50"]?.integer, let p99 = object["p99"]?.integer,
            let p999 = object["p999"]?.integer, let maximum = object["max"]?.integer
        else { return nil }
        guard count > 0 else { return "none yet" }
        let parts = [("p50", p50), ("p99", p99), ("p99.9", p999), ("max", maximum)].map { name, span in
            "\(name) \(text(span, microseconds: microseconds))"
        }
        return parts.joined(separator: ", ") + " of \(RecoveryText.grouped(Int(count)))"
    }

    /// The same of an object that names its unit: `ms` or `us`.
    ///
    /// - Parameter other: the object that has the unit, where this one has none.
    static func line(_ object: RawObject, like other: RawObject? = nil) -> String? {
        line(object, microseconds: ((other ?? object)["unit"]?.string) == "us")
    }

    /// One span, such as `0.4 ms`, `3 h 12 m`.
    static func text(_ span: Int64, microseconds: Bool) -> String {
        let milliseconds = microseconds ? span / 1_000 : span
        guard milliseconds < 10_000 else { return TimeText.span(milliseconds) }
        // Rounded down to tenths, as `TimeText` does it for seconds.
        return microseconds ? "\(milliseconds).\(span % 1_000 / 100) ms" : "\(milliseconds) ms"
    }
}
