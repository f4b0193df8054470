package import IsletCore

/// Checks the rendering facts of one widget against those of its kind: what renderers need travels with the widget,
/// byte for byte, and is never interpreted here.
package enum RenderingCheck {
    /// The longest `rendering` of a widget, in bytes as it was sent.
    package static let maximumCount = 1_024

    static let modes: [StaticString] = ["fullColor", "accented", "vibrant"]
    static let mountingStyles: [StaticString] = ["elevated", "recessed"]
    static let levelsOfDetail: [StaticString] = ["default", "simplified"]
    static let supplementalFamilies: [StaticString] = ["small", "medium"]
    static let textures: KeyValuePairs<StaticString, [UInt8]> = [
        "glass": Array("glass".utf8), "paper": Array("paper".utf8),
    ]

    /// Why a widget cannot be drawn so; nil where its kind can, or where nothing is said.
    ///
    /// null equals absent.
    /// - Parameter rendering: the bytes of the JSON object.
    package static func refusal(
        of rendering: FrameRange?, _ frame: Span<UInt8>, by kind: WidgetKindDeclaration
    ) -> Refusal? {
        guard let rendering else { return nil }
        guard Int(rendering.count) <= maximumCount else { return .badField(.rendering, .tooLong) }
        var refusal: Refusal?
        var seen: [[UInt8]] = []
        do {
            try JSONScanner.scanObject(frame, at: rendering) { member in
                guard refusal == nil else { return }
                var name: [UInt8] = []
                member.name.unescape(in: frame, into: &name)
                if seen.contains(name) {
                    refusal = .badRendering(member: name, .twice)
                } else if let reason = misfit(member, frame, kind) {
                    refusal = .badRendering(member: name, reason)
                }
                seen.append(name)
            }
        } catch {
            return .badField(.rendering, .wrongType)
        }
        return refusal
    }

    private static func misfit(
        _ member: JSONField, _ frame: Span<UInt8>, _ kind: WidgetKindDeclaration
    ) -> Refusal.BadField? {
        func isNamed(_ name: StaticString) -> Bool { member.name.equals(name, in: frame) }
        let listed: [[UInt8]]
        if isNamed("mode") {
            listed = kind.rendering.modes
        } else if isNamed("mountingStyle") {
            listed = kind.rendering.mountingStyles
        } else if isNamed("levelOfDetail") {
            listed = kind.rendering.levelsOfDetail
        } else if isNamed("supplementalFamily") {
            listed = kind.supplementalFamilies
        } else if isNamed("showsContainerBackground") {
            switch member.value.kind {
            case .true, .null: return nil
            case .false: return kind.rendering.isContainerBackgroundRemovable ? nil : .unknownValue
            case .object, .array, .string, .integer, .number: return .wrongType
            }
        } else {
            return .unknown
        }
        if member.value.kind == .null { return nil }
        guard member.value.kind == .string else { return .wrongType }
        var word: [UInt8] = []
        member.value.text.unescape(in: frame, into: &word)
        return listed.contains(word) ? nil : .unknownValue
    }
}
