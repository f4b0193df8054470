package import IsletCore

/// Reads the recommendations that providers answer with (contract, `widget.recommendations`).
package enum RecommendationsReading {
    /// A provider recommends at most this many configurations of a kind.
    package static let maximumCount = 100

    /// Whether the bytes at `range` are recommendations for a kind: an array of objects, each with a `configuration`
    /// that fits its parameters, and a `description`, which is a text.
    package static func areRecommendations(
        _ frame: Span<UInt8>, at range: FrameRange, for kind: WidgetKindDeclaration
    ) -> Bool {
        guard let objects = ClosedObject.objects(frame, at: range, atMost: maximumCount) else { return false }
        for object in objects {
            guard let found = ClosedObject.members(of: object, ["configuration", "description"], frame),
                let configuration = found[0], configuration.kind == .object,
                KindParameter.misfit(of: frame.extracting(configuration.range.indices), to: kind.parameters) == nil,
                let description = found[1], description.kind == .string,
                description.text.range.count <= DeclarationLimits.maximumText
            else { return false }
        }
        return true
    }
}
