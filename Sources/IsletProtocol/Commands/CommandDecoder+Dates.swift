import IsletCore

/// Dates are milliseconds since 1970; the mistakes that people make with them are known by their size.
extension CommandDecoder {
    /// Plausible dates in milliseconds since 1970: from September 2001 to November 2286.
    package static let plausibleDates: Range<Int64> = 1_000_000_000_000..<Instant.endOfDates.milliseconds
    /// Seconds from 1970-01-01 to 2001-01-01, where Apple's `Date` begins to count.
    private static let referenceDate: Int64 = 978_307_200

    /// A date field.
    @inline(__always) func date(_ field: Field, _ frame: Span<UInt8>) throws(Refusal) -> Instant? {
        guard let value = self[field] else { return nil }
        return try date(field, value, frame)
    }

    func date(_ field: Field, _ value: JSONValue, _ frame: Span<UInt8>) throws(Refusal) -> Instant {
        if let integer = try integer(field, value, frame) {
            guard CommandDecoder.plausibleDates.contains(integer) else {
                throw .implausibleDate(field, meant: CommandDecoder.meant(by: integer))
            }
            return Instant(integer)
        }
        // A fraction is what a date in seconds looks like in many languages; it is no date here in any case.
        if value.kind == .number, let number = JSONNumber.double(frame, at: value.range), number.magnitude < 0x1p53,
            let meant = CommandDecoder.meant(byFraction: number)
        {
            throw .implausibleDate(field, meant: meant)
        }
        throw .badField(field, .wrongType)
    }

    /// What a date in another unit probably meant; nil where no unit makes it plausible.
    static func meant(by value: Int64) -> Instant? {
        switch value {
        case 1_000_000_000..<10_000_000_000: Instant(value * 1_000)
        case 1_000_000_000_000_000..<10_000_000_000_000_000: Instant(value / 1_000)
        case 1_000_000_000_000_000_000...Int64.max: Instant(value / 1_000_000)
        // Seconds since 2001, from the day that is plausible at all.
        case (1_000_000_000 - referenceDate)..<1_000_000_000: Instant((value + referenceDate) * 1_000)
        default: nil
        }
    }

    /// The same for seconds with a fraction.
    private static func meant(byFraction seconds: Double) -> Instant? {
        guard let whole = meant(by: Int64(seconds)), seconds < 10_000_000_000 else { return nil }
        let rest = seconds - seconds.rounded(.down)
        return whole + Milliseconds((rest * 1_000).rounded())
    }
}
