extension JSONCursor {
    /// A number whose first byte is at the position; true where it is an integer that fits `Int64`.
    mutating func scanNumber() throws(ScanError) -> Bool {
        let isNegative = byte(position) == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let firstDigit = position
        try scanDigits()
        if byte(firstDigit) == UInt8(ascii: "0"), position > firstDigit + 1 {
            throw ScanError(.invalidNumber, at: firstDigit + 1)
        }
        let digitCount = position - firstDigit
        var isInteger = true
        if peek() == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try scanDigits()
        }
        if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { position += 1 }
            try scanDigits()
        }
        // 18 digits always fit; 19 sometimes do.
        guard isInteger, digitCount > 18 else { return isInteger }
        guard digitCount == 19 else { return false }
        return JSONNumber.integer(base + firstDigit, count: digitCount, isNegative: isNegative) != nil
    }

    /// One digit or more.
    @inline(__always) private mutating func scanDigits() throws(ScanError) {
        let start = position
        while position + 8 <= end {
            let count = JSONNumber.digitCount(word(position))
            position += count
            if count < 8 { break }
        }
        // Behind a word that ends with another byte, this looks at that one again.
        while position < end, byte(position) &- UInt8(ascii: "0") < 10 { position += 1 }
        guard position > start else {
            throw ScanError(position < end ? .invalidNumber : .unexpectedEnd, at: position)
        }
    }
}
