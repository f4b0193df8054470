package import IsletCore

/// Reads what providers declare of control kinds (contract, `provider.register`).
///
/// Members that are not known are refused, and the limits are those of ``DeclarationLimits``.
package enum KindDeclarations {
    /// Reads the array of declarations that stands at `range`.
    package static func read(_ frame: Span<UInt8>, at range: FrameRange) throws(Refusal) -> [ControlKindDeclaration] {
        try DeclarationReader.all(.kinds, at: range, frame, named: \.kind) { reader, element, frame throws(Refusal) in
            try reader.declaration(element, frame)
        }
    }

    /// Reads one declaration that was stored: the bytes of ``ControlKindDeclaration/json``.
    package static func readOne(_ json: Span<UInt8>) throws(Refusal) -> ControlKindDeclaration {
        try DeclarationReader.one(.kinds, json) { reader, value, json throws(Refusal) in
            try reader.declaration(value, json)
        }
    }
}

extension DeclarationReader {
    private static let kindMembers: [StaticString] = [
        "kind", "template", "displayName", "description", "tint", "actionHint", "previewValue", "hasValue",
        "parameters", "reloadsSiblings", "privacySensitive", "authenticationPolicy", "promptsForUserConfiguration",
        "valueDeadline", "actionDeadline",
    ]

    func declaration(_ object: JSONValue, _ bytes: Span<UInt8>) throws(Refusal) -> ControlKindDeclaration {
        let found = try members(object, Self.kindMembers, bytes)
        let kind = try name("kind", found[0], bytes)
        let template = try word(
            "template", found[1], bytes,
            ["toggle": .toggle, "button": .button]
                as KeyValuePairs<
                    StaticString, ControlTemplate
                >)
        guard let template else { throw bad("template", .missing) }
        var made = ControlKindDeclaration(kind: kind, template: template)
        made.displayName = try text("displayName", found[2], bytes)
        made.description = try text("description", found[3], bytes)
        made.tint = try text("tint", found[4], bytes)
        made.actionHint = try text("actionHint", found[5], bytes)
        if let preview = found[6] {
            if template == .toggle, try flag("previewValue", preview) == nil { throw bad("previewValue", .wrongType) }
            made.previewValue = try raw("previewValue", preview, bytes)
        }
        made.hasValue = try flag("hasValue", found[7]) ?? made.hasValue
        // A toggle is its value.
        if template == .toggle, !made.hasValue { throw bad("hasValue", .notAllowedHere) }
        made.parameters = try parameters(found[8], bytes)
        made.reloadsSiblings = try flag("reloadsSiblings", found[9]) ?? false
        made.isPrivacySensitive = try flag("privacySensitive", found[10]) ?? false
        made.authenticationPolicy =
            try word(
                "authenticationPolicy", found[11], bytes,
                [
                    "alwaysAllowed": .alwaysAllowed, "requiresAuthentication": .requiresAuthentication,
                    "requiresLocalDeviceAuthentication": .requiresLocalDeviceAuthentication,
                ]) ?? made.authenticationPolicy
        made.promptsForUserConfiguration = try flag("promptsForUserConfiguration", found[12]) ?? false
        made.valueDeadline = try deadline("valueDeadline", found[13], bytes) ?? made.valueDeadline
        made.actionDeadline = try deadline("actionDeadline", found[14], bytes) ?? made.actionDeadline
        made.json = bytes.copy(object.range)
        return made
    }
}
