package import IsletCore

/// Why a frame was refused, with as much of its envelope as could be read: what the answer echoes.
package struct RefusedCommand: Error, Equatable, Sendable {
    package var refusal: Refusal
    package var envelope: Envelope

    package init(_ refusal: Refusal, _ envelope: Envelope = Envelope()) {
        self.refusal = refusal
        self.envelope = envelope
    }
}

/// Turns frames into commands: all checks of the contract that need no state.
///
/// The order is: length, syntax, `op`, unknown and repeated fields (in the order of the frame), the envelope, and then
/// each field of the op in the order of the contract's table. Whatever arrives is answered with a refusal and never
/// traps. A decoder is kept and used again: decoding a frame without escapes in its own fields allocates nothing.
package struct CommandDecoder: ~Copyable {
    /// The longest frame (contract, Messages).
    package static let maximumFrameLength = 65_536
    /// There is room for so many fields (see `values`).
    package static let maximumFields = 96

    private let fields = Field.allCases
    private let fieldNames = NameLookup(Field.allCases.map(\.name))
    private let operationNames = NameLookup(OperationName.allCases.map(\.name))
    /// The fields of the envelope beside `req`.
    let rareEnvelope = FieldSet([.client, .ttl, .ifRevision, .minSeq, .source, .ack])
    /// The fields that tell which activity is meant, beside its id.
    let names = FieldSet([.key, .device])
    /// The fields of an update that most have not.
    let rareInUpdate = FieldSet([.relevanceScore, .alert, .timestamp])
    private let allowedFields = OperationName.allCases.map(\.fields)

    // What the present frame holds: valid where `seen` has the field. Not an `InlineArray`: storing one element of it
    // from the scan's closure copied the whole of it, 1.1 kB a member (measured: 890 of an update's 30 000 instructions).
    // And not an array, which asks the runtime at each store whether it is shared.
    //
    // Proof for the pointer: allocated with room for `maximumFields`, all initialised, owned by this noncopyable value
    // alone, and only ever indexed by `Field.index`, which is below (a test counts the fields).
    private let values: UnsafeMutablePointer<JSONValue>
    private var expectedNames = ExpectedNames()
    private var seen = FieldSet()
    /// Those of `seen` that are not null.
    private(set) var present = FieldSet()
    /// The `op` of the frame that was decoded last.
    package private(set) var name = OperationName.servicePing
    /// What a provider's answer or failure was about, where the frame that was decoded last is one and was refused: its
    /// call will not get another.
    package private(set) var refusedAnswer: RefusedAnswer?
    private var hasUnknownField = false
    private var hasFieldTwice = false
    private var hasEscapes = false

    /// The frame with the strings of its own fields unescaped in place, where any of them was written with escapes.
    private var rewritten: [UInt8] = []

    package init() {
        values = .allocate(capacity: CommandDecoder.maximumFields)
        values.initialize(
            repeating: JSONValue(kind: .null, hasEscapes: false, range: FrameRange(0..<0)),
            count: CommandDecoder.maximumFields)
    }

    deinit {
        values.deallocate()
    }

    /// The call that a refused `provider.answer` or `provider.fail` names; its ranges are as those of commands.
    package struct RefusedAnswer: Sendable {
        package var provider: EntityID
        package var call: FrameRange
    }

    /// Decodes a frame and hands over the command, or why it is refused, with the bytes that its ranges point into.
    package mutating func withDecoded<Result, Failure: Error>(
        _ frame: Span<UInt8>,
        _ body: (_ outcome: Swift.Result<Command, RefusedCommand>, _ frame: Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome = outcome(of: frame)
        return try withText(of: frame) { text throws(Failure) in try body(outcome, text) }
    }

    private mutating func outcome(of frame: Span<UInt8>) -> Swift.Result<Command, RefusedCommand> {
        var command = Command(operation: .servicePing)
        do {
            try decode(frame, into: &command)
            return .success(command)
        } catch {
            return .failure(error)
        }
    }

    /// The bytes that the ranges of the frame that was decoded last point into.
    ///
    /// Those are the frame itself, or a copy in which the text of the command's own fields stands unescaped; payloads
    /// are the same in both, byte for byte.
    @inline(__always) package mutating func withText<Result, Failure: Error>(
        of frame: Span<UInt8>, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if hasEscapes { return try body(rewritten.span) }
        return try body(frame)
    }

    /// Decodes a frame into a command that is kept and used again: handed on as a value, its operation's 147 bytes were
    /// copied fourteen times more an update.
    package mutating func decode(_ frame: Span<UInt8>, into command: inout Command) throws(RefusedCommand) {
        (hasEscapes, hasUnknownField, hasFieldTwice) = (false, false, false)
        seen = FieldSet()
        present = FieldSet()
        guard frame.count <= CommandDecoder.maximumFrameLength else {
            refusedAnswer = nil
            throw RefusedCommand(.badMessage(.frameTooLong, offset: CommandDecoder.maximumFrameLength))
        }
        guard !frame.isEmpty else {
            refusedAnswer = nil
            throw RefusedCommand(.badMessage(.emptyFrame, offset: 0))
        }
        do {
            try scan(frame)
        } catch {
            // The fields before the damage are not to be trusted: nothing is echoed.
            hasEscapes = false
            refusedAnswer = nil
            throw RefusedCommand(.badMessage(error.reason.badMessage, offset: error.offset))
        }
        if hasEscapes {
            rewritten = frame.withUnsafeBufferPointer { Array($0) }
            unescapeOwnFields(of: frame)
        }
        do {
            name = hasEscapes
                ? try read(&command, rewritten.span, original: frame) : try read(&command, frame, original: frame)
        } catch {
            refusedAnswer = hasEscapes ? answer(in: rewritten.span) : answer(in: frame)
            throw error
        }
    }

    /// What a well-formed frame that was refused is about.
    private func answer(in frame: Span<UInt8>) -> RefusedAnswer? {
        do {
            switch try operation(frame) {
            case .providerAnswer, .providerFail:
                return RefusedAnswer(
                    provider: try requiredID(.provider, frame), call: try requiredText(.call, .name, frame))
            default: return nil
            }
        } catch {
            return nil
        }
    }

    private mutating func scan(_ frame: Span<UInt8>) throws(ScanError) {
        try JSONScanner.scanObject(frame) { cursor throws(ScanError) in
            // A loop and not a closure for each member, which would be called with the seven parts of one: 1,856 → 1,501
            // instructions an update, together with the pointer to `values`.
            var place = ExpectedNames.start
            while true {
                let start = cursor.position
                let field: Field?
                if let expected = expectedNames.next(after: place, &cursor) {
                    cursor.skipWhitespace()
                    field = expected
                } else {
                    guard let name = try cursor.nextName(isFirst: place == ExpectedNames.start) else { return }
                    field = self.field(named: name, frame)
                    if let field { expectedNames.expect(field, after: place, from: start, to: cursor) }
                }
                let value = try cursor.scanValue(depthLimit: JSONScanner.maximumDepth)
                if let field {
                    note(value, of: field)
                    place = field.index
                } else {
                    hasUnknownField = true
                    place = ExpectedNames.unknown
                }
            }
        }
    }

    @inline(__always) private mutating func note(_ value: JSONValue, of field: Field) {
        let this = FieldSet(only: field)
        if !seen.isDisjoint(with: this) {
            hasFieldTwice = true
            return
        }
        seen.formUnion(this)
        if value.kind != .null { present.formUnion(this) }
        if value.hasEscapes { hasEscapes = true }
        values[field.index] = value
    }

    @inline(__always)
    private func field(named name: JSONText, _ frame: Span<UInt8>) -> Field? {
        if !name.hasEscapes {
            return fieldNames.find(frame, at: name.range).map { fields[$0] }
        }
        // Names with escapes are rare, and one that is too long even for six bytes a character is none of ours.
        guard name.range.count <= fieldNames.longest * 6 else { return nil }
        return Field.allCases.first { name.equals($0.name, in: frame) }
    }

    /// Strings that are carried as they came, escapes and all.
    private static let carriedFields = FieldSet([.pushType, .value, .status, .tint, .actionHint, .message, .url, .policy])

    /// Reads the escapes of the strings that are the command's own; what is user's JSON stays as it is.
    private mutating func unescapeOwnFields(of frame: Span<UInt8>) {
        for field in Field.allCases where seen.contains(field) && !Self.carriedFields.contains(field) {
            let value = values[field.index]
            guard value.kind == .string, value.hasEscapes else { continue }
            var text: [UInt8] = []
            let isText = value.text.unescape(in: frame, into: &text)
            let start = Int(value.text.range.offset)
            // An escape is never shorter than what it means, so the text fits where it stood; a lone surrogate became
            // U+FFFD, three bytes for six; no field of ours may hold that, and a path says by its escapes where it came from.
            rewritten.replaceSubrange(start..<start + text.count, with: text)
            values[field.index] = JSONValue(
                kind: .string, hasEscapes: !isText, range: FrameRange(offset: start - 1, count: text.count + 2))
        }
    }

    /// The command of a frame that is well-formed and whose fields were found.
    ///
    /// - Returns: its `op`.
    private func read(
        _ command: inout Command, _ frame: Span<UInt8>, original: Span<UInt8>
    ) throws(RefusedCommand) -> OperationName {
        do {
            let name = try operation(frame)
            try refuseStrangers(to: name, original)
            command.envelope = try envelope(of: name, frame)
            command.operation = try operation(name, frame)
            return name
        } catch {
            throw RefusedCommand(error, readableEnvelope(frame))
        }
    }

    private func operation(_ frame: Span<UInt8>) throws(Refusal) -> OperationName {
        guard let value = self[.op] else { throw .missingField(.op) }
        guard value.kind == .string else { throw .badField(.op, .wrongType) }
        // What is left of escapes is a lone surrogate.
        guard !value.hasEscapes else { throw .badMessage(.invalidUTF8, offset: Int(value.range.offset)) }
        guard let index = operationNames.find(frame, at: value.text.range),
            let name = OperationName(rawValue: UInt8(index))
        else { throw .unknownOp(value.text.range) }
        return name
    }

    /// Refuses fields that the op does not have, and fields that stand twice: the first of them in the frame.
    @inline(__always) private func refuseStrangers(to name: OperationName, _ frame: Span<UInt8>) throws(Refusal) {
        let allowed = allowedFields[Int(name.rawValue)]
        guard hasUnknownField || hasFieldTwice || !seen.isSubset(of: allowed) else { return }
        try refuseStranger(beside: allowed, frame)
    }

    private func refuseStranger(beside allowed: FieldSet, _ frame: Span<UInt8>) throws(Refusal) {
        var first: Refusal?
        var before = FieldSet()
        do {
            // This frame was scanned before without an error; it is looked at again so that the first stranger is named.
            try JSONScanner.scanObject(frame) { found in
                guard first == nil else { return }
                guard let field = self.field(named: found.name, frame), allowed.contains(field) else {
                    first = .unknownField(found.name.range)
                    return
                }
                if before.contains(field) { first = .badField(field, .twice) }
                before.insert(field)
            }
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
        if let first { throw first }
    }

    /// The value of a field, nil where it is absent or null.
    @inline(__always) subscript(field: Field) -> JSONValue? {
        present.contains(field) ? values[field.index] : nil
    }
}

extension ScanError.Reason {
    /// What the contract's error says of it.
    var badMessage: Refusal.BadMessage {
        switch self {
        case .unexpectedEnd, .unexpectedByte, .controlCharacter, .invalidEscape, .invalidNumber, .trailingBytes:
            .invalidJSON
        case .invalidUTF8: .invalidUTF8
        case .tooDeep: .tooDeep
        case .notAnObject: .notAnObject
        }
    }
}
