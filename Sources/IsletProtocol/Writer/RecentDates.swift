import IsletCore

/// The text of the last two dates that were written: an event says the present twice, and so its stale date, which is
/// what comes next; and events of one turn are of one date. To make it anew takes 70 instructions more.
struct RecentDates {
    /// The 13 digits of a date.
    struct Text {
        var date: Milliseconds
        /// The first five, the first of them in the lowest byte.
        var head: UInt64
        /// The last eight.
        var tail: UInt64

        /// - Parameter date: one of 13 digits.
        init(_ date: Milliseconds) {
            self.date = date
            let (first, last) = UInt64(date).quotientAndRemainder(dividingBy: DecimalDigits.group)
            head = DecimalDigits.text(DecimalDigits.ofEight(first)) >> UInt64(8 * (8 - RecentDates.headCount))
            tail = DecimalDigits.text(DecimalDigits.ofEight(last))
        }
    }

    /// How many digits stand before the last eight.
    static let headCount = 5
    private static let ofThirteenDigits: Range<Milliseconds> = 1_000_000_000_000..<10_000_000_000_000

    private var first = Text(RecentDates.ofThirteenDigits.lowerBound)
    private var second = Text(RecentDates.ofThirteenDigits.lowerBound)
    /// Whether the second was asked for last, so that the first makes room for another one.
    private var isSecondLast = true

    init() {}

    /// The digits of a date; nil where they are not 13, as of no date from 2001 to 2286.
    @inline(__always) mutating func text(of date: Instant) -> Text? {
        if first.date == date.milliseconds {
            isSecondLast = false
            return first
        }
        if second.date == date.milliseconds {
            isSecondLast = true
            return second
        }
        return add(date.milliseconds)
    }

    private mutating func add(_ date: Milliseconds) -> Text? {
        guard Self.ofThirteenDigits.contains(date) else { return nil }
        let text = Text(date)
        if isSecondLast { first = text } else { second = text }
        isSecondLast.toggle()
        return text
    }
}
