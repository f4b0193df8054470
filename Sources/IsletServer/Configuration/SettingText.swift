import IsletCore
import IsletProtocol

/// Why a text is no value of a setting, worded to follow "is".
struct SettingRefusal: Error, Equatable {
    var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// How the values of settings are read from text.
enum SettingText {
    /// The longest span: ten years.
    static let longestSpan: Milliseconds = 3_650 * 86_400_000

    private static let units: [(name: String, milliseconds: Milliseconds)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// A whole number of milliseconds, or numbers with units such as `8h`, `90s`, `1h30m`.
    static func span(_ text: String) throws(SettingRefusal) -> Milliseconds {
        let refusal = SettingRefusal(
            "no span: write milliseconds, or numbers with d, h, m, s or ms, such as 8h or 1h30m")
        if let plain = Milliseconds(text) { return try inRange(plain, 1...longestSpan, unit: " ms") }
        var rest = text[...]
        var smallest = units.startIndex
        var total: Milliseconds = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            let name = rest.dropFirst(digits.count).prefix { $0.isLetter }
            guard !digits.isEmpty, let unit = units[smallest...].firstIndex(where: { $0.name == name }) else {
                throw refusal
            }
            // Digits that are no number are too many.
            guard let number = Milliseconds(digits), number <= longestSpan / units[unit].milliseconds,
                total + number * units[unit].milliseconds <= longestSpan
            else { throw SettingRefusal("too long: ten years at most") }
            total += number * units[unit].milliseconds
            smallest = unit + 1
            rest = rest.dropFirst(digits.count + name.count)
        }
        guard !text.isEmpty else { throw refusal }
        return try inRange(total, 1...longestSpan, unit: " ms")
    }

    /// The shortest text that ``span(_:)`` reads as this.
    static func text(span: Milliseconds) -> String {
        var rest = span
        var text = ""
        for unit in units where rest >= unit.milliseconds {
            text += "\(rest / unit.milliseconds)\(unit.name)"
            rest %= unit.milliseconds
        }
        return text.isEmpty ? "0" : text
    }

    /// A span, or a word that says that the rule is off.
    static func optionalSpan(_ text: String) throws(SettingRefusal) -> Milliseconds? {
        isNone(text) ? nil : try span(text)
    }

    /// Whether a text says that there is nothing.
    static func isNone(_ text: String) -> Bool {
        ["none", "off", "null", "~"].contains(text)
    }

    static func bool(_ text: String) throws(SettingRefusal) -> Bool {
        switch text {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: throw SettingRefusal("neither true nor false")
        }
    }

    static func integer(_ text: String, _ range: ClosedRange<Int>) throws(SettingRefusal) -> Int {
        guard let value = Int(text) else { throw SettingRefusal("no whole number") }
        return try inRange(value, range, unit: "")
    }

    static func choice<Choice: RawRepresentable & CaseIterable>(
        _ text: String, of type: Choice.Type
    ) throws(SettingRefusal) -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: text) else {
            throw SettingRefusal("none of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    /// `system`, `manual` or `manual=MS`.
    static func clock(_ text: String) throws(SettingRefusal) -> ClockMode {
        if text == "system" { return .system }
        if text == "manual" { return ServeConfiguration.manualClock }
        guard text.hasPrefix("manual="), let start = Milliseconds(text.dropFirst("manual=".count)) else {
            throw SettingRefusal("no clock: write system, manual, or manual=MS with milliseconds since 1970")
        }
        guard CommandDecoder.plausibleDates.contains(start) else {
            let meant = CommandDecoder.plausibleDates.contains(start.multipliedReportingOverflow(by: 1_000).partialValue)
            throw SettingRefusal(
                "no plausible date in milliseconds since 1970"
                    + (meant ? "; if these are seconds, write manual=\(start)000" : ""))
        }
        return .manual(from: Instant(start))
    }


    /// How many times faster than real time domain time runs.
    static func speed(_ text: String) throws(SettingRefusal) -> Double {
        // Slower than the least, what is a moment of the service's is no length of ours any more.
        guard let factor = Double(text), factor >= 0.000_001, factor <= 1_000_000 else {
            throw SettingRefusal("no speed: write a number from 0.000001 up to 1000000")
        }
        return factor
    }

    /// A day as `YYYY-MM-DD`.
    static func day(_ text: String) throws(SettingRefusal) -> String {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
            (1...12).contains(month), (1...days(of: month, year)).contains(day)
        else { throw SettingRefusal("no day: write YYYY-MM-DD") }
        return text
    }

    private static func days(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        case _: 31
        }
    }

    /// A short name for people.
    static func name(_ text: String) throws(SettingRefusal) -> String {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            throw SettingRefusal("no name: 1 to 64 printable ASCII characters")
        }
        return text
    }

    private static func inRange<Value: FixedWidthInteger>(
        _ value: Value, _ range: ClosedRange<Value>, unit: String
    ) throws(SettingRefusal) -> Value {
        guard range.contains(value) else {
            throw SettingRefusal("out of range: \(range.lowerBound) to \(range.upperBound)\(unit)")
        }
        return value
    }
}
