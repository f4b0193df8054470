/// A configuration in the one form that all of its spellings share: without spaces, its members in order of their
/// names, strings without needless escapes, numbers by their decimal value, and without members that are null, which
/// equals absent.
///
/// For comparing alone: what is kept and sent stays as it was written.
package struct ConfigurationForm: Equatable, Sendable {
    package let bytes: [UInt8]

    /// - Parameters:
    ///   - written: the bytes of a JSON object that was checked; none: `{}`. Of anything else the form is what was
    ///     written.
    ///   - defaults: what is filled in for members that it leaves out. Without them a default that is written out is
    ///     not one that is left out.
    package init(_ written: UnsafeRawBufferPointer, fillingIn defaults: Defaults = Defaults()) {
        guard !written.isEmpty else {
            bytes = JSONReading.form(of: defaults.members)
            return
        }
        var reading = JSONReading(bytes: written)
        bytes = reading.wholeObject(fillingIn: defaults) ?? Array(written)
    }

    /// What a kind declares for the parameters that a configuration leaves out.
    package struct Defaults: Equatable, Sendable {
        fileprivate var members: [FormMember] = []

        /// None.
        init() {}

        package init(_ parameters: [KindParameter]) {
            for parameter in parameters where !parameter.defaultValue.isEmpty {
                members.append(
                    FormMember(
                        name: parameter.name.withUnsafeBytes(JSONReading.form(ofName:)),
                        value: parameter.defaultValue.withUnsafeBytes(JSONReading.form(ofMember:))))
            }
        }
    }

    /// Whether two configurations are the same, whatever they are written like. None is not `{}`, which is shown as it
    /// was given.
    static func areEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        if equal(one, other) { return true }
        return !one.isEmpty && !other.isEmpty && ConfigurationForm(one) == ConfigurationForm(other)
    }

    /// The same of two values or texts that a provider declares. There a member that is null is not one that is absent.
    static func areEqual(values one: [UInt8], _ other: [UInt8]) -> Bool {
        if one == other { return true }
        return !one.isEmpty && !other.isEmpty
            && one.withUnsafeBytes(JSONReading.form(ofMember:)) == other.withUnsafeBytes(JSONReading.form(ofMember:))
    }
}

/// A member with its name, in quotes, and its value in the form that all of their spellings share.
private struct FormMember: Equatable, Sendable {
    var name: [UInt8]
    var value: [UInt8]
}

/// Reads JSON that was checked when it came in. Of bytes that are none it gives nil, and never reads beyond them.
private struct JSONReading {
    let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// Payloads nest at most as deep.
    private static let maximumDepth = 64
    /// The digits of an exponent that is computed with; a number with more stays as it was written.
    private static let exponentDigits = 9

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// An object without its members that are null, and with those defaults of which it has none.
    mutating func wholeObject(fillingIn defaults: ConfigurationForm.Defaults) -> [UInt8]? {
        skipSpace()
        guard next == UInt8(ascii: "{"), var members = members(depth: 1) else { return nil }
        skipSpace()
        guard next == nil else { return nil }
        members.removeAll { $0.value == Self.null }
        for member in defaults.members where !members.contains(where: { $0.name == member.name }) {
            members.append(member)
        }
        return Self.form(of: members)
    }

    /// A value as it stands as a member of a whole object. What cannot be read is as it was written.
    static func form(ofMember value: UnsafeRawBufferPointer) -> [UInt8] {
        var reading = JSONReading(bytes: value)
        reading.skipSpace()
        return reading.value(depth: 2) ?? Array(value)
    }

    /// A name without anything that must be escaped.
    static func form(ofName name: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8(ascii: "\"")] + name + [UInt8(ascii: "\"")]
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func value(depth: Int) -> [UInt8]? {
        guard depth <= Self.maximumDepth else { return nil }
        switch next {
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): return word()
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> [UInt8]? { members(depth: depth).map(Self.form(of:)) }

    private mutating func members(depth: Int) -> [FormMember]? {
        var members: [FormMember] = []
        position += 1
        skipSpace()
        if !take(UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                guard let name = string() else { return nil }
                skipSpace()
                guard take(UInt8(ascii: ":")) else { return nil }
                skipSpace()
                guard let value = value(depth: depth + 1) else { return nil }
                members.append(FormMember(name: name, value: value))
                skipSpace()
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "}")) else { return nil }
        }
        return members
    }

    /// An object of these. Members of one name, at which nobody looks within payloads, stay in the order in which they
    /// stand.
    static func form(of members: [FormMember]) -> [UInt8] {
        let sorted = members.enumerated().sorted { one, other in
            one.element.name == other.element.name
                ? one.offset < other.offset : one.element.name.lexicographicallyPrecedes(other.element.name)
        }
        var form = [UInt8(ascii: "{")]
        for (_, member) in sorted {
            if form.count > 1 { form.append(UInt8(ascii: ",")) }
            form += member.name
            form.append(UInt8(ascii: ":"))
            form += member.value
        }
        form.append(UInt8(ascii: "}"))
        return form
    }

    private static let null = Array("null".utf8)

    private mutating func array(depth: Int) -> [UInt8]? {
        var form = [UInt8(ascii: "[")]
        position += 1
        skipSpace()
        if !take(UInt8(ascii: "]")) {
            repeat {
                skipSpace()
                guard let value = value(depth: depth + 1) else { return nil }
                if form.count > 1 { form.append(UInt8(ascii: ",")) }
                form += value
                skipSpace()
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "]")) else { return nil }
        }
        form.append(UInt8(ascii: "]"))
        return form
    }

    private mutating func word() -> [UInt8]? {
        let start = position
        while let byte = next, byte >= UInt8(ascii: "a"), byte <= UInt8(ascii: "z") { position += 1 }
        return Array(bytes[start..<position])
    }

    /// A string with no escapes but of quotation marks and backslashes.
    private mutating func string() -> [UInt8]? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var form = [UInt8(ascii: "\"")]
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                form.append(byte)
                return form
            case UInt8(ascii: "\\"):
                guard escape(into: &form) else { return nil }
            default: form.append(byte)
            }
        }
        return nil
    }

    /// What follows a backslash.
    private mutating func escape(into form: inout [UInt8]) -> Bool {
        guard let byte = next else { return false }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): form += [UInt8(ascii: "\\"), byte]
        case UInt8(ascii: "/"): form.append(byte)
        case UInt8(ascii: "b"): form.append(0x08)
        case UInt8(ascii: "f"): form.append(0x0C)
        case UInt8(ascii: "n"): form.append(0x0A)
        case UInt8(ascii: "r"): form.append(0x0D)
        case UInt8(ascii: "t"): form.append(0x09)
        case UInt8(ascii: "u"):
            guard var scalar = codeUnit() else { return false }
            let afterwards = position
            if scalar & 0xFC00 == 0xD800, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = codeUnit(),
                low & 0xFC00 == 0xDC00
            {
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
            } else {
                position = afterwards
            }
            append(scalar, to: &form)
        default: return false
        }
        return true
    }

    private mutating func codeUnit() -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var unit: UInt32 = 0
        for _ in 0..<4 {
            let byte = bytes[position]
            position += 1
            switch byte {
            case 0x30...0x39: unit = unit << 4 | UInt32(byte - 0x30)
            case 0x41...0x46: unit = unit << 4 | UInt32(byte - 0x41 + 10)
            case 0x61...0x66: unit = unit << 4 | UInt32(byte - 0x61 + 10)
            default: return nil
            }
        }
        return unit
    }

    /// A code point as UTF-8 would have it, also a lone surrogate, which no other spelling has.
    private func append(_ scalar: UInt32, to form: inout [UInt8]) {
        func rest(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: scalar >> shift & 0x3F) }
        switch scalar {
        case 0x22, 0x5C: form += [UInt8(ascii: "\\"), UInt8(truncatingIfNeeded: scalar)]
        case ..<0x80: form.append(UInt8(truncatingIfNeeded: scalar))
        case ..<0x800: form += [0xC0 | UInt8(truncatingIfNeeded: scalar >> 6), rest(0)]
        case ..<0x10000: form += [0xE0 | UInt8(truncatingIfNeeded: scalar >> 12), rest(6), rest(0)]
        default: form += [0xF0 | UInt8(truncatingIfNeeded: scalar >> 18), rest(12), rest(6), rest(0)]
        }
    }

    /// Digits without zeros at either end, and the power of ten that they are multiplied by: 1, 1.0 and 10e-1 are one.
    private mutating func number() -> [UInt8]? {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        var digits = takeDigits()
        guard !digits.isEmpty else { return nil }
        var exponent = 0
        if take(UInt8(ascii: ".")) {
            let fraction = takeDigits()
            exponent = -fraction.count
            digits += fraction
        }
        var hasLargeExponent = false
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            let isDivided = take(UInt8(ascii: "-"))
            if !isDivided { _ = take(UInt8(ascii: "+")) }
            let power = takeDigits().drop { $0 == 0x30 }
            hasLargeExponent = power.count > Self.exponentDigits
            if !hasLargeExponent {
                let size = power.reduce(0) { $0 * 10 + Int($1 - 0x30) }
                exponent += isDivided ? -size : size
            }
        }
        digits = Array(digits.drop { $0 == 0x30 })
        guard !digits.isEmpty else { return [0x30] }
        if hasLargeExponent { return Array(bytes[start..<position]) }
        while digits.last == 0x30 {
            digits.removeLast()
            exponent += 1
        }
        let sign = isNegative ? [UInt8(ascii: "-")] : []
        return sign + digits + (exponent == 0 ? [] : [UInt8(ascii: "e")] + Array(String(exponent).utf8))
    }

    private mutating func takeDigits() -> [UInt8] {
        let start = position
        while let byte = next, byte >= 0x30, byte <= 0x39 { position += 1 }
        return Array(bytes[start..<position])
    }
}
