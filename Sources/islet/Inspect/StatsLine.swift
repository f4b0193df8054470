import IsletClient

/// One line of `islet stats --watch`.
enum StatsLine {
    private static let columns: [(head: String, width: Int)] = [
        ("TIME", 8), ("CMD/S", 8), ("EVENT/S", 8), ("REFUSED/S", 9), ("ACTIVE", 9), ("STALE", 9), ("TIMERS", 9),
        ("OVERDUE", 8), ("LATE P99", 9), ("COMMIT P99", 10), ("ANSWER P99", 10), ("CALLS", 6), ("LAGGING", 7),
        ("MEMORY", 8),
    ]

    /// The names of the columns.
    static var head: String { row(columns.map(\.head)) }

    /// The figures of an interval, and behind them whether the service refuses everything.
    static func line(_ rates: StatsRates, _ reading: StatsReading) -> String {
        let line = row([
            TimeText.clock(reading.now), rate(rates.commands), rate(rates.events), rate(rates.refused),
            count(reading.number("activities", "active")), count(reading.number("activities", "stale")),
            count(reading.number("timers", "armed")), count(reading.number("timers", "overdue")),
            span(reading.object("lateness")), span(reading.object("commit")), span(reading.object("answer")),
            count(reading.number("providers", "inFlight")), count(reading.number("subscribers", "lagging")),
            reading.number("memory", "resident").map(ByteText.text) ?? "-",
        ])
        return reading.stats["diskFull"]?.bool == true ? "\(line)  DISK FULL" : line
    }

    private static func row(_ cells: [String]) -> String {
        zip(cells, columns).map { cell, column in
            String(repeating: " ", count: max(0, column.width - cell.count)) + cell
        }.joined(separator: "  ")
    }

    private static func count(_ number: Int64?) -> String {
        number.map { RecoveryText.grouped(Int(clamping: $0)) } ?? "-"
    }

    /// Whole from ten on, else with a tenth.
    private static func rate(_ rate: Double?) -> String {
        guard let rate else { return "-" }
        guard rate < 10 else { return RecoveryText.grouped(Int(clamped: rate)) }
        let tenths = Int((rate * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// The 99th percentile of the last while, and where nothing happened in it, a dash.
    private static func span(_ spans: RawObject?) -> String {
        guard let spans, let recent = spans["recent"]?.object, let count = recent["count"]?.integer, count > 0,
            let p99 = recent["p99"]?.integer
        else { return "-" }
        return SpanText.text(p99, microseconds: spans["unit"]?.string == "us")
    }
}

/// Bytes as people read them.
enum ByteText {
    /// Such as `812 B`, `24.1 MiB`, `210 MiB`.
    static func text(_ bytes: Int64) -> String {
        guard bytes >= 1_024 else { return "\(bytes) B" }
        var value = Double(bytes) / 1_024
        var unit = "KiB"
        for larger in ["MiB", "GiB", "TiB"] where value >= 1_024 {
            value /= 1_024
            unit = larger
        }
        guard value < 100 else { return "\(Int(clamped: value)) \(unit)" }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
