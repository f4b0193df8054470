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

    private let fieldNames = NameLookup(Field.allCases.map(\.name))
    private let operationNames = NameLookup(OperationName.allCases.map(\.name))
    private let allowedFields = OperationName.allCases.map(\.fields)

    // What the present frame holds: valid where `seen` has the field. Not an `InlineArray`: storing one element of it
    // from the scan's closure copied the whole of it, 1.1 kB a member (measured: 890 of an update's 30 000 instructions).
    private var values = [JSONValue](
        repeating: JSONValue(kind: .null, hasEscapes: false, range: FrameRange(0..<0)),
        count: CommandDecoder.maximumFields)
    private var seen = FieldSet()
    /// Those of `seen` that are not null.
    private(set) var present = FieldSet()
    private var hasUnknownField = false
    private var hasFieldTwice = false
    private var hasEscapes = false

    /// The frame with the strings of its own fields unescaped in place, where any of them was written with escapes.
    private var rewritten: [UInt8] = []

    package init() {}

    /// Decodes a frame and hands over the command, or why it is refused, with the bytes that its ranges point into.
    ///
    /// Those are the frame itself, or a copy in which the text of the command's own fields stands unescaped; payloads
    /// are the same in both, byte for byte.
    package mutating func withDecoded<Result, Failure: Error>(
        _ frame: Span<UInt8>,
        _ body: (_ outcome: Swift.Result<Command, RefusedCommand>, _ frame: Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome = outcome(of: frame)
        if hasEscapes { return try body(outcome, rewritten.span) }
        return try body(outcome, frame)
    }

    private mutating func outcome(of frame: Span<UInt8>) -> Swift.Result<Command, RefusedCommand> {
        do {
            return .success(try decode(frame))
        } catch {
            return .failure(error)
        }
    }

    private mutating func decode(_ frame: Span<UInt8>) throws(RefusedCommand) -> Command {
        (hasEscapes, hasUnknownField, hasFieldTwice) = (false, false, false)
        seen = FieldSet()
        present = FieldSet()
        guard frame.count <= CommandDecoder.maximumFrameLength else {
            throw RefusedCommand(.badMessage(.frameTooLong, offset: CommandDecoder.maximumFrameLength))
        }
        guard !frame.isEmpty else { throw RefusedCommand(.badMessage(.emptyFrame, offset: 0)) }
        do {
            try scan(frame)
        } catch {
            // The fields before the damage are not to be trusted: nothing is echoed.
            hasEscapes = false
            throw RefusedCommand(.badMessage(error.reason.badMessage, offset: error.offset))
        }
        guard hasEscapes else { return try command(frame, original: frame) }
        rewritten = frame.withUnsafeBufferPointer { Array($0) }
        unescapeOwnFields(of: frame)
        return try command(rewritten.span, original: frame)
    }

    private mutating func scan(_ frame: Span<UInt8>) throws(ScanError) {
        try JSONScanner.scanObject(frame) { found in
            guard let field = self.field(named: found.name, frame) else {
                hasUnknownField = true
                return
            }
            if seen.contains(field) {
                hasFieldTwice = true
                return
            }
            seen.insert(field)
            if found.value.kind != .null { present.insert(field) }
            if found.value.hasEscapes { hasEscapes = true }
            values[field.index] = found.value
        }
    }

    private func field(named name: JSONText, _ frame: Span<UInt8>) -> Field? {
        if !name.hasEscapes {
            return fieldNames.find(frame, at: name.range).flatMap { Field(rawValue: UInt8($0)) }
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
            // U+FFFD, three bytes for six, which no field of ours may hold.
            rewritten.replaceSubrange(start..<start + text.count, with: text)
            values[field.index] = JSONValue(
                kind: .string, hasEscapes: !isText, range: FrameRange(offset: start - 1, count: text.count + 2))
        }
    }

    /// The command of a frame that is well-formed and whose fields were found.
    private func command(_ frame: Span<UInt8>, original: Span<UInt8>) throws(RefusedCommand) -> Command {
        let name: OperationName
        do {
            name = try operation(frame)
            try refuseStrangers(to: name, original)
        } catch {
            throw RefusedCommand(error, readableEnvelope(frame))
        }
        do {
            return Command(envelope: try envelope(of: name, frame), operation: try operation(name, frame))
        } catch {
            throw RefusedCommand(error, readableEnvelope(frame))
        }
    }

    private func operation(_ frame: Span<UInt8>) throws(Refusal) -> OperationName {
        guard let value = self[.op] else { throw .badMessage(.missingOp, offset: frame.count) }
        guard value.kind == .string else { throw .badField(.op, .wrongType) }
        // What is left of escapes is a lone surrogate.
        guard !value.hasEscapes else { throw .badMessage(.invalidUTF8, offset: Int(value.range.offset)) }
        guard let index = operationNames.find(frame, at: value.text.range),
            let name = OperationName(rawValue: UInt8(index))
        else { throw .unknownOp(value.text.range) }
        return name
    }

    /// Refuses fields that the op does not have, and fields that stand twice: the first of them in the frame.
    private func refuseStrangers(to name: OperationName, _ frame: Span<UInt8>) throws(Refusal) {
        let allowed = allowedFields[Int(name.rawValue)]
        guard hasUnknownField || hasFieldTwice || !seen.isSubset(of: allowed) else { return }
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
