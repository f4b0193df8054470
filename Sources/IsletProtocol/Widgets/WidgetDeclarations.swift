package import IsletCore

/// Reads what providers declare of widget kinds (contract, `provider.register`).
package enum WidgetDeclarations {
    /// Reads the array of declarations that stands at `range`.
    package static func read(_ frame: Span<UInt8>, at range: FrameRange) throws(Refusal) -> [WidgetKindDeclaration] {
        throw .badField(.widgets, .unknownValue)
    }
}
