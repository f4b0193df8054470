package import IsletCore

/// The field `members` of `group.create`: an array of apps.
package enum GroupMembers {
    /// The names that stand in an array of a frame, with their escapes read.
    ///
    /// - Throws: `badField` where one is no app's name, or where there are more than a group may have.
    package static func read(_ array: FrameRange, of frame: Span<UInt8>) throws(Refusal) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var refusal: Refusal.BadField?
        do {
            try JSONScanner.scanArray(frame, at: array) { element in
                guard refusal == nil else { return }
                guard element.kind == .string else { return refusal = .wrongType }
                guard names.count < GroupTable.maximumMembers else { return refusal = .tooLong }
                var name: [UInt8] = []
                guard element.text.unescape(in: frame, into: &name) else { return refusal = .badCharacters }
                refusal = TextRule.app.refusal(of: name.span, at: FrameRange(0..<name.count))
                names.append(name)
            }
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
        if let refusal { throw .badField(.members, refusal) }
        return names
    }
}
