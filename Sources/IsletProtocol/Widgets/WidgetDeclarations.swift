package import IsletCore

/// Reads what providers declare of widget kinds (contract, `provider.register`).
///
/// Members that are not known are refused, and the limits are those of ``DeclarationLimits``.
package enum WidgetDeclarations {
    /// Reads the array of declarations that stands at `range`.
    package static func read(_ frame: Span<UInt8>, at range: FrameRange) throws(Refusal) -> [WidgetKindDeclaration] {
        try DeclarationReader.all(.widgets, at: range, frame, named: \.kind) { reader, element, frame throws(Refusal) in
            try reader.widgetDeclaration(element, frame)
        }
    }

    /// Reads one declaration that was stored: the bytes of ``WidgetKindDeclaration/json``.
    package static func readOne(_ json: Span<UInt8>) throws(Refusal) -> WidgetKindDeclaration {
        try DeclarationReader.one(.widgets, json) { reader, value, json throws(Refusal) in
            try reader.widgetDeclaration(value, json)
        }
    }
}

extension DeclarationReader {
    private static let widgetMembers: [StaticString] = [
        "kind", "families", "displayName", "description", "parameters", "placeholder", "promptsForUserConfiguration",
        "providesRelevance", "providesRecommendations", "supplementalFamilies", "rendering", "timelineDeadline",
        "actionDeadline",
    ]

    func widgetDeclaration(_ object: JSONValue, _ bytes: Span<UInt8>) throws(Refusal) -> WidgetKindDeclaration {
        let found = try members(object, Self.widgetMembers, bytes)
        let kind = try name("kind", found[0], bytes)
        let known = WidgetFamily.allCases.map { (word: $0.wireName, $0) }
        guard let families = try words("families", found[1], bytes, known), !families.isEmpty else {
            throw bad("families", .missing)
        }
        var made = WidgetKindDeclaration(kind: kind, families: families)
        made.displayName = try text("displayName", found[2], bytes)
        made.description = try text("description", found[3], bytes)
        made.parameters = try parameters(found[4], bytes)
        made.placeholder = try raw("placeholder", found[5], bytes)
        made.promptsForUserConfiguration = try flag("promptsForUserConfiguration", found[6]) ?? false
        made.providesRelevance = try flag("providesRelevance", found[7]) ?? false
        made.providesRecommendations = try flag("providesRecommendations", found[8]) ?? false
        made.supplementalFamilies = try self.texts(
            "supplementalFamilies", found[9], bytes, RenderingCheck.supplementalFamilies)
        made.rendering = try rendering(found[10], bytes)
        made.timelineDeadline = try deadline("timelineDeadline", found[11], bytes) ?? made.timelineDeadline
        made.actionDeadline = try deadline("actionDeadline", found[12], bytes) ?? made.actionDeadline
        made.json = bytes.copy(object.range)
        return made
    }

    private static let renderingMembers: [StaticString] = [
        "modes", "accentedGroups", "containerBackgroundRemovable", "mountingStyles", "texture", "levelsOfDetail",
    ]

    private func rendering(
        _ value: JSONValue?, _ bytes: Span<UInt8>
    ) throws(Refusal) -> WidgetKindDeclaration.Rendering {
        var made = WidgetKindDeclaration.Rendering()
        if let value {
            var reader = self
            reader.path = "rendering."
            let found = try reader.members(value, Self.renderingMembers, bytes)
            made.modes = try reader.texts("modes", found[0], bytes, RenderingCheck.modes)
            made.accentedGroups = try reader.names(
                "accentedGroups", found[1], atMost: DeclarationLimits.maximumAccentedGroups, bytes)
            made.isContainerBackgroundRemovable =
                try reader.flag("containerBackgroundRemovable", found[2]) ?? made.isContainerBackgroundRemovable
            made.mountingStyles = try reader.texts("mountingStyles", found[3], bytes, RenderingCheck.mountingStyles)
            made.texture = try reader.word("texture", found[4], bytes, RenderingCheck.textures) ?? []
            made.levelsOfDetail = try reader.texts("levelsOfDetail", found[5], bytes, RenderingCheck.levelsOfDetail)
        }
        // Every widget can be drawn in its own colours.
        if made.modes.isEmpty { made.modes = [Array("fullColor".utf8)] }
        return made
    }

    /// Words of the contract as texts.
    private func texts(
        _ member: StaticString, _ array: JSONValue?, _ bytes: Span<UInt8>, _ known: [StaticString]
    ) throws(Refusal) -> [[UInt8]] {
        try words(member, array, bytes, known.map { (word: $0, Array("\($0)".utf8)) }) ?? []
    }
}
