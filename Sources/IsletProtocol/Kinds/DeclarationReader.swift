import IsletCore

/// Reads the members of one declaration out of its bytes, and says of each what is wrong with it and where it stands.
///
/// It holds no bytes: they are given to every call, like the frame of a command.
struct DeclarationReader {
    /// The array of the registration that the declaration stands in.
    let array: Field
    /// The place of the declaration there.
    let index: Int
    /// What stands before a member's name in errors, such as `parameters[1].`.
    var path = ""

    init(_ array: Field, index: Int) {
        self.array = array
        self.index = index
    }

    /// Reads each declaration of an array of a registration; none may have the name of another.
    static func all<Declaration>(
        _ array: Field, at range: FrameRange, _ frame: Span<UInt8>, named name: (Declaration) -> [UInt8],
        read: (DeclarationReader, JSONValue, Span<UInt8>) throws(Refusal) -> Declaration
    ) throws(Refusal) -> [Declaration] {
        var elements: [JSONValue] = []
        var isTooLong = false
        do {
            try JSONScanner.scanArray(frame, at: range) { element in
                if elements.count < DeclarationLimits.counts.upperBound {
                    elements.append(element)
                } else {
                    isTooLong = true
                }
            }
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
        guard !isTooLong, DeclarationLimits.counts.contains(elements.count) else { throw .badField(array, .outOfRange) }
        var declarations: [Declaration] = []
        for (index, element) in elements.enumerated() {
            let reader = DeclarationReader(array, index: index)
            let declaration = try read(reader, element, frame)
            if declarations.contains(where: { name($0) == name(declaration) }) { throw reader.bad("kind", .twice) }
            declarations.append(declaration)
        }
        return declarations
    }

    /// Reads one declaration that was stored.
    static func one<Declaration>(
        _ array: Field, _ json: Span<UInt8>,
        read: (DeclarationReader, JSONValue, Span<UInt8>) throws(Refusal) -> Declaration
    ) throws(Refusal) -> Declaration {
        let value: JSONValue
        do {
            value = try JSONScanner.scanValue(json)
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
        return try read(DeclarationReader(array, index: 0), value, json)
    }

    func bad(_ member: StaticString, _ reason: Refusal.BadField) -> Refusal { bad(path + "\(member)", reason) }

    /// The error of one element of an array, such as `families[1]`.
    func bad(_ member: StaticString, at place: Int, _ reason: Refusal.BadField) -> Refusal {
        bad(path + "\(member)[\(place)]", reason)
    }

    /// The error of the object as a whole, such as `parameters[1]`.
    func badObject(_ reason: Refusal.BadField) -> Refusal {
        bad(path.hasSuffix(".") ? String(path.dropLast()) : path, reason)
    }

    private func bad(_ member: String, _ reason: Refusal.BadField) -> Refusal {
        var bad = BadDeclaration(index: index, member: member, reason: reason)
        bad.array = array
        return .badDeclaration(bad)
    }

    /// The members of an object by their place in `names`; absent ones and nulls are nil.
    func members(
        _ object: JSONValue, _ names: [StaticString], _ bytes: Span<UInt8>
    ) throws(Refusal) -> [JSONValue?] {
        guard object.kind == .object else { throw badObject(.wrongType) }
        var values: [JSONValue?] = Array(repeating: nil, count: names.count)
        var seen: UInt64 = 0
        var refusal: Refusal?
        do {
            try JSONScanner.scanObject(bytes, at: object.range) { member in
                guard refusal == nil else { return }
                guard let place = names.firstIndex(where: { member.name.equals($0, in: bytes) }) else {
                    refusal = bad(path + bytes.quoted(member.name.range), .unknown)
                    return
                }
                if seen & 1 << UInt64(place) != 0 { refusal = bad(names[place], .twice) }
                seen |= 1 << UInt64(place)
                if member.value.kind != .null { values[place] = member.value }
            }
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
        if let refusal { throw refusal }
        return values
    }

    /// The elements of an array, at most `limit` of them.
    func elements(
        _ member: StaticString, _ array: JSONValue?, atMost limit: Int, _ bytes: Span<UInt8>
    ) throws(Refusal) -> [JSONValue] {
        guard let array else { return [] }
        guard array.kind == .array else { throw bad(member, .wrongType) }
        var elements: [JSONValue] = []
        var isTooLong = false
        do {
            try JSONScanner.scanArray(bytes, at: array.range) { element in
                if elements.count < limit { elements.append(element) } else { isTooLong = true }
            }
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
        if isTooLong { throw bad(member, .tooLong) }
        return elements
    }

    /// A string of the contract's own, with its escapes read.
    func name(_ member: StaticString, _ value: JSONValue?, _ bytes: Span<UInt8>) throws(Refusal) -> [UInt8] {
        guard let value else { throw bad(member, .missing) }
        guard value.kind == .string else { throw bad(member, .wrongType) }
        var name: [UInt8] = []
        guard value.text.unescape(in: bytes, into: &name) else { throw bad(member, .badCharacters) }
        if let reason = TextRule.name.refusal(of: name.span, at: FrameRange(0..<name.count)) {
            throw bad(member, reason)
        }
        return name
    }

    /// Words of the contract, none of them twice; nil where the array is absent.
    func words<Value: Equatable>(
        _ member: StaticString, _ array: JSONValue?, _ bytes: Span<UInt8>, _ words: [(word: StaticString, Value)]
    ) throws(Refusal) -> [Value]? {
        guard array != nil else { return nil }
        var found: [Value] = []
        for (place, element) in try elements(member, array, atMost: words.count, bytes).enumerated() {
            guard element.kind == .string else { throw bad(member, at: place, .wrongType) }
            guard let (_, value) = words.first(where: { element.text.equals($0.word, in: bytes) }) else {
                throw bad(member, at: place, .unknownValue)
            }
            if found.contains(value) { throw bad(member, at: place, .twice) }
            found.append(value)
        }
        return found
    }

    /// Names of the declaration's own, none of them twice.
    func names(
        _ member: StaticString, _ array: JSONValue?, atMost limit: Int, _ bytes: Span<UInt8>
    ) throws(Refusal) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for (place, element) in try elements(member, array, atMost: limit, bytes).enumerated() {
            guard element.kind == .string else { throw bad(member, at: place, .wrongType) }
            var name: [UInt8] = []
            guard element.text.unescape(in: bytes, into: &name) else { throw bad(member, at: place, .badCharacters) }
            if let reason = TextRule.name.refusal(of: name.span, at: FrameRange(0..<name.count)) {
                throw bad(member, at: place, reason)
            }
            if found.contains(name) { throw bad(member, at: place, .twice) }
            found.append(name)
        }
        return found
    }

    /// A text for people, with its quotes, as it was sent; empty where it is absent.
    func text(_ member: StaticString, _ value: JSONValue?, _ bytes: Span<UInt8>) throws(Refusal) -> [UInt8] {
        guard let value else { return [] }
        guard value.kind == .string else { throw bad(member, .wrongType) }
        guard value.text.range.count <= DeclarationLimits.maximumText else { throw bad(member, .tooLong) }
        return bytes.copy(value.range)
    }

    /// The exact bytes of any value; empty where it is absent.
    func raw(_ member: StaticString, _ value: JSONValue?, _ bytes: Span<UInt8>) throws(Refusal) -> [UInt8] {
        guard let value else { return [] }
        guard value.range.count <= DeclarationLimits.maximumValue else { throw bad(member, .tooLong) }
        return bytes.copy(value.range)
    }

    func flag(_ member: StaticString, _ value: JSONValue?) throws(Refusal) -> Bool? {
        guard let value else { return nil }
        switch value.kind {
        case .true: return true
        case .false: return false
        case .object, .array, .string, .integer, .number, .null: throw bad(member, .wrongType)
        }
    }

    func word<Value>(
        _ member: StaticString, _ value: JSONValue?, _ bytes: Span<UInt8>, _ words: KeyValuePairs<StaticString, Value>
    ) throws(Refusal) -> Value? {
        guard let value else { return nil }
        guard value.kind == .string else { throw bad(member, .wrongType) }
        for (word, meaning) in words where value.text.equals(word, in: bytes) { return meaning }
        throw bad(member, .unknownValue)
    }

    /// Milliseconds of real time.
    func deadline(
        _ member: StaticString, _ value: JSONValue?, _ bytes: Span<UInt8>
    ) throws(Refusal) -> Milliseconds? {
        guard let value else { return nil }
        switch value.kind {
        case .integer:
            guard let span = JSONNumber.integer(bytes, at: value.range), DeclarationLimits.deadlines.contains(span)
            else { throw bad(member, .outOfRange) }
            return span
        case .object, .array, .string, .number, .true, .false, .null: throw bad(member, .wrongType)
        }
    }
}

extension Span<UInt8> {
    /// A copy of a part.
    func copy(_ range: FrameRange) -> [UInt8] {
        withUnsafeBufferPointer { Array($0[range.indices]) }
    }
}
