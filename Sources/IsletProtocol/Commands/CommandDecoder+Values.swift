import IsletCore

/// Reading single fields: each gives nil where the field is absent or null, and refuses what it may not hold.
extension CommandDecoder {
    /// Integers have at most this size (contract, Messages): what every language's numbers hold exactly.
    static let maximumInteger: Int64 = 1 << 53

    /// The text of a string field that keeps a rule.
    @inline(__always)
    func text(_ field: Field, _ rule: TextRule, _ frame: Span<UInt8>) throws(Refusal) -> FrameRange? {
        guard let value = self[field] else { return nil }
        guard value.kind == .string else { throw .badField(field, .wrongType) }
        let range = value.text.range
        if let reason = rule.refusal(of: frame, at: range) { throw .badField(field, reason) }
        return range
    }

    @inline(__always)
    func requiredText(_ field: Field, _ rule: TextRule, _ frame: Span<UInt8>) throws(Refusal) -> FrameRange {
        guard let range = try text(field, rule, frame) else { throw .missingField(field) }
        return range
    }

    /// Bytes of a file's path at most.
    private static let maximumPathBytes = 1_024

    /// `path`: of a file, in any language; which characters a file system takes is its own affair, but for those that need
    /// escapes.
    func requiredPath(_ frame: Span<UInt8>) throws(Refusal) -> FrameRange {
        guard let value = self[.path] else { throw .missingField(.path) }
        guard value.kind == .string else { throw .badField(.path, .wrongType) }
        let range = value.text.range
        guard Int(range.count) <= Self.maximumPathBytes else { throw .badField(.path, .tooLong) }
        let isAllowed = frame.extracting(range.indices).withUnsafeBytes { bytes in
            bytes.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != 0x7F }
        }
        // What is left of escapes is a lone surrogate.
        guard isAllowed, range.count > 0, !value.hasEscapes else { throw .badField(.path, .badCharacters) }
        return range
    }

    /// A UUID.
    @inline(__always) func id(_ field: Field, _ frame: Span<UInt8>) throws(Refusal) -> EntityID? {
        guard let value = self[field] else { return nil }
        guard value.kind == .string else { throw .badField(field, .wrongType) }
        guard let id = EntityID(text: frame, at: value.text.range) else { throw .badField(field, .notAUUID) }
        return id
    }

    func requiredID(_ field: Field, _ frame: Span<UInt8>) throws(Refusal) -> EntityID {
        guard let id = try id(field, frame) else { throw .missingField(field) }
        return id
    }

    /// A string that is carried as it is, with its quotes.
    func carriedText(_ field: Field, atMost limit: Int) throws(Refusal) -> FrameRange? {
        guard let value = self[field] else { return nil }
        guard value.kind == .string else { throw .badField(field, .wrongType) }
        guard value.text.range.count <= limit else { throw .badField(field, .tooLong) }
        return value.range
    }

    /// A JSON object's exact bytes.
    @inline(__always) func object(_ field: Field) throws(Refusal) -> FrameRange? {
        guard let value = self[field] else { return nil }
        guard value.kind == .object else { throw .badField(field, .wrongType) }
        return value.range
    }

    /// A JSON array's exact bytes.
    func array(_ field: Field) throws(Refusal) -> FrameRange? {
        guard let value = self[field] else { return nil }
        guard value.kind == .array else { throw .badField(field, .wrongType) }
        return value.range
    }

    @inline(__always) func requiredObject(_ field: Field) throws(Refusal) -> FrameRange {
        guard let range = try object(field) else { throw .missingField(field) }
        return range
    }

    func flag(_ field: Field) throws(Refusal) -> Bool? {
        guard let value = self[field] else { return nil }
        switch value.kind {
        case .true: return true
        case .false: return false
        case .object, .array, .string, .integer, .number, .null: throw .badField(field, .wrongType)
        }
    }

    /// An integer of any sign, at most 2^53 in size.
    @inline(__always) func integer(_ field: Field, _ frame: Span<UInt8>) throws(Refusal) -> Int64? {
        guard let value = self[field] else { return nil }
        guard let integer = try integer(field, value, frame) else { throw .badField(field, .wrongType) }
        guard integer.magnitude <= CommandDecoder.maximumInteger.magnitude else { throw .badField(field, .outOfRange) }
        return integer
    }

    /// The value of an integer, nil for other kinds; one without a fraction that no 64 bits hold is out of range.
    func integer(_ field: Field, _ value: JSONValue, _ frame: Span<UInt8>) throws(Refusal) -> Int64? {
        switch value.kind {
        case .integer: return JSONNumber.integer(frame, at: value.range)
        case .number:
            for index in value.range.indices where frame[index] != UInt8(ascii: "-") {
                guard frame[index] &- UInt8(ascii: "0") < 10 else { return nil }
            }
            throw .badField(field, .outOfRange)
        case .object, .array, .string, .true, .false, .null: return nil
        }
    }

    /// An integer that is not negative.
    func count(_ field: Field, _ frame: Span<UInt8>) throws(Refusal) -> UInt64? {
        guard let integer = try integer(field, frame) else { return nil }
        guard integer >= 0 else { throw .badField(field, .outOfRange) }
        return UInt64(integer)
    }

    /// An integer within bounds.
    func integer(_ field: Field, in bounds: ClosedRange<Int64>, _ frame: Span<UInt8>) throws(Refusal) -> Int? {
        guard let integer = try integer(field, frame) else { return nil }
        guard bounds.contains(integer) else { throw .badField(field, .outOfRange) }
        return Int(integer)
    }

    /// Any finite number.
    func number(_ field: Field, _ frame: Span<UInt8>) throws(Refusal) -> Double? {
        guard let value = self[field] else { return nil }
        guard value.kind == .integer || value.kind == .number else { throw .badField(field, .wrongType) }
        guard let number = JSONNumber.double(frame, at: value.range) else { throw .badField(field, .outOfRange) }
        return number
    }

    /// One of a few words.
    func word<Value>(
        _ field: Field, _ frame: Span<UInt8>, _ words: KeyValuePairs<StaticString, Value>
    ) throws(Refusal) -> Value? {
        guard let value = self[field] else { return nil }
        guard value.kind == .string else { throw .badField(field, .wrongType) }
        for (word, meaning) in words where value.text.equals(word, in: frame) { return meaning }
        throw .badField(field, .unknownValue)
    }
}
