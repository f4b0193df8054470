import IsletProtocol

/// What a subject's rounds came to, as people and as programs read it.
struct Table {
    private let subject: Subject
    private let meter: Meter
    private let rounds: Int

    init(_ subject: Subject, _ meter: Meter, rounds: Int) {
        self.subject = subject
        self.meter = meter
        self.rounds = rounds
    }

    func text() -> String {
        var lines = ["\(subject.rawValue): \(meter.count) operations a round, best of \(rounds) rounds"]
        lines.append(line("", "ns/op", "first round", "allocations/op"))
        for row in meter.rows {
            lines.append(line(row.name, fixed(row.best, 1), fixed(row.first, 1), fixed(row.allocations, 3)))
        }
        for figure in meter.figures { lines.append("\(figure.name): \(fixed(figure.value, 0))") }
        return lines.joined(separator: "\n")
    }

    func json() -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("subject", string: subject.rawValue)
        writer.field("count", meter.count)
        writer.field("rounds", rounds)
        writer.key("operations")
        writer.beginArray()
        for row in meter.rows {
            writer.beginObject()
            writer.field("name", string: row.name)
            writer.field("nanoseconds", row.best)
            writer.field("firstRound", row.first)
            writer.field("allocations", row.allocations)
            writer.endObject()
        }
        writer.endArray()
        writer.key("figures")
        writer.beginArray()
        for figure in meter.figures {
            writer.beginObject()
            writer.field("name", string: figure.name)
            writer.field("value", figure.value)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.copy(), as: UTF8.self)
    }

    /// One line about a region, for `scripts/instructions`.
    static func json(of region: Meter.Region, count: Int) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("name", string: region.name)
        writer.field("count", count)
        writer.field("allocations", region.allocations)
        writer.endObject()
        return String(decoding: writer.copy(), as: UTF8.self)
    }

    private func line(_ name: String, _ columns: String...) -> String {
        let widths = [10, 13, 16]
        return name.padded(to: 24)
            + zip(columns, widths).map { String(repeating: " ", count: max(0, $1 - $0.count)) + $0 }.joined()
    }

    private func fixed(_ value: Double, _ digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let number = Int((value * scale).rounded())
        guard digits > 0 else { return "\(number)" }
        let rest = "\(number % Int(scale))"
        return "\(number / Int(scale))." + String(repeating: "0", count: digits - rest.count) + rest
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
