/// A number as JSON writes it, compared by its value: also beyond what a double or 64 bits can tell.
package struct ExactNumber: Sendable, Hashable {
    private var isNegative = false
    /// Without zeros at either end; empty: zero.
    private var digits: ArraySlice<UInt8> = []
    /// The number is 0.DIGITS times ten to the power of this.
    private var exponent = 0

    /// Reads a number of JSON; nil for all else, and where its exponent is beyond 64 bits.
    package init?(_ text: some StringProtocol) {
        var rest = Array(text.utf8)[...]
        isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        let whole = rest.prefix(while: Self.isDigit)
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return nil }
        rest = rest.dropFirst(whole.count)
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: Self.isDigit)
            guard !fraction.isEmpty else { return nil }
            rest = rest.dropFirst(1 + fraction.count)
        }
        var power = 0
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            guard let last = rest.last, Self.isDigit(last),
                let read = Int(String(decoding: rest.dropFirst(), as: UTF8.self))
            else { return nil }
            power = read
            rest = []
        }
        guard rest.isEmpty else { return nil }
        let all = whole + fraction
        let leading = all.prefix { $0 == UInt8(ascii: "0") }.count
        digits = all.dropFirst(leading)
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        guard !digits.isEmpty else {
            isNegative = false
            return
        }
        let (sum, overflow) = power.addingReportingOverflow(whole.count - leading)
        guard !overflow else { return nil }
        exponent = sum
        // So that equal ones have equal bytes, wherever they stood.
        digits = Array(digits)[...]
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

extension ExactNumber: Comparable {
    package static func < (left: ExactNumber, right: ExactNumber) -> Bool {
        guard left.isNegative == right.isNegative else { return left.isNegative }
        return left.isNegative ? right.isSmaller(than: left) : left.isSmaller(than: right)
    }

    /// Without regard to the sign.
    private func isSmaller(than other: ExactNumber) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
        guard exponent == other.exponent else { return exponent < other.exponent }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}
