package import IsletCore

/// What a provider says of a call that it failed, as the entity shows it to whoever may read its app.
package enum FailureReason {
    /// The text as a JSON string with its quotes, or nothing where it says nothing: what is not printable is a space in it,
    /// and it ends before the character that would take it beyond ``CallFailure/reasonLimit`` bytes.
    ///
    /// - Parameter message: the JSON string with its quotes, which a decoder has read.
    package static func json(of message: FrameRange, in frame: Span<UInt8>) -> [UInt8] {
        let text = JSONValue(kind: .string, hasEscapes: true, range: message).text
        var shown = String.UnicodeScalarView()
        var count = 0
        for scalar in text.string(in: frame).unicodeScalars {
            let printable = scalar.isPrintable ? scalar : " "
            count += UTF8.width(printable)
            guard count <= CallFailure.reasonLimit else { break }
            shown.append(printable)
        }
        guard shown.contains(where: { $0 != " " }) else { return [] }
        var writer = JSONWriter(capacity: 2 * CallFailure.reasonLimit)
        writer.string(String(shown))
        return writer.copy()
    }
}

/// What providers said of calls of a control or widget that they failed, as its events tell it.
package struct ToldReasons {
    /// JSON strings with their quotes, by the sequence numbers of the events.
    private var reasons: [UInt64: [UInt8]] = [:]
    /// The one that holds behind the last event.
    private var reason: [UInt8]?

    package init() {}

    package subscript(seq: UInt64) -> [UInt8]? { reasons[seq] }

    /// Takes its next event. One that is damaged where it is stored tells nothing.
    package mutating func add(_ event: Span<UInt8>, seq: UInt64) {
        var isFailure = false
        try? JSONScanner.scanObject(event) { member in
            guard member.name.equals("event", in: event) else { return }
            isFailure = member.value.text.equals("control.failed", in: event)
                || member.value.text.equals("widget.failed", in: event)
        }
        // A patch leaves out what is as before.
        var told = reason
        for family: StaticString in ["control", "widget"] {
            try? JSONScanner.scanObject(event, under: family) { member in
                guard member.name.equals("failureReason", in: event) else { return }
                told = member.value.kind == .string ? event.bytes(member.value.range) : nil
            }
        }
        reason = told
        if isFailure, let told { reasons[seq] = told }
    }
}

extension Unicode.Scalar {
    /// Whether it does no more than to show something, or to join what shows: no control character (C0, DEL, C1), none that
    /// turns the direction of writing or ends a line, and none that Unicode does not know.
    ///
    /// The one place that decides what text of strangers a person gets to see as it is.
    package var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        // It makes one emoji of several.
        case .format: value == 0x200D
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber, .connectorPunctuation,
            .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation,
            .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol, .spaceSeparator,
            .privateUse:
            true
        @unknown default: false
        }
    }
}
