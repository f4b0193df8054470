package import IsletCore

/// Reads what providers declare of control kinds (contract, `provider.register`).
///
/// Members that are not known are refused; the limits keep a registration small, since all declarations are held in
/// memory and shown in errors.
package enum KindDeclarations {
    /// How many kinds a registration may have.
    package static let counts = 1...64
    /// The longest text for people, in bytes as it was sent.
    package static let maximumText = 256
    /// The longest `previewValue`, `default` or option, in bytes as it was sent.
    package static let maximumValue = 4_096
    package static let maximumParameters = 32
    /// Of one parameter.
    package static let maximumOptions = 100
    /// What `valueDeadline` and `actionDeadline` may be.
    package static let deadlines: ClosedRange<Milliseconds> = 10...60_000

    /// Reads the array of declarations that stands at `range`.
    package static func read(_ frame: Span<UInt8>, at range: FrameRange) throws(Refusal) -> [ControlKindDeclaration] {
        var elements: [JSONValue] = []
        var isTooLong = false
        do {
            try JSONScanner.scanArray(frame, at: range) { element in
                if elements.count < counts.upperBound { elements.append(element) } else { isTooLong = true }
            }
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
        guard !isTooLong, counts.contains(elements.count) else { throw .badField(.kinds, .outOfRange) }
        var declarations: [ControlKindDeclaration] = []
        for (index, element) in elements.enumerated() {
            let reader = DeclarationReader(index: index)
            let declaration = try reader.declaration(element, frame)
            if declarations.contains(where: { $0.kind == declaration.kind }) { throw reader.bad("kind", .twice) }
            declarations.append(declaration)
        }
        return declarations
    }

    /// Reads one declaration that was stored: the bytes of ``ControlKindDeclaration/json``.
    package static func readOne(_ json: Span<UInt8>) throws(Refusal) -> ControlKindDeclaration {
        let value: JSONValue
        do {
            value = try JSONScanner.scanValue(json)
        } catch {
            throw .badMessage(error.reason.badMessage, offset: error.offset)
        }
        return try DeclarationReader(index: 0).declaration(value, json)
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

    private func parameters(
        _ value: JSONValue?, _ bytes: Span<UInt8>
    ) throws(Refusal) -> [KindParameter] {
        var parameters: [KindParameter] = []
        let elements = try elements("parameters", value, atMost: KindDeclarations.maximumParameters, bytes)
        for (place, element) in elements.enumerated() {
            var reader = self
            reader.path = "parameters[\(place)]."
            let parameter = try reader.parameter(element, bytes)
            if parameters.contains(where: { $0.name == parameter.name }) { throw reader.bad("name", .twice) }
            parameters.append(parameter)
        }
        return parameters
    }

    private static let parameterMembers: [StaticString] = [
        "name", "type", "title", "default", "isOptional", "options", "dynamicOptions",
    ]

    private func parameter(
        _ object: JSONValue, _ bytes: Span<UInt8>
    ) throws(Refusal) -> KindParameter {
        let found = try members(object, Self.parameterMembers, bytes)
        let name = try name("name", found[0], bytes)
        let types: KeyValuePairs<StaticString, KindParameter.ValueType> = [
            "string": .string, "integer": .integer, "number": .number, "boolean": .boolean, "enum": .enum,
            "entity": .entity,
        ]
        guard let type = try word("type", found[1], bytes, types) else { throw bad("type", .missing) }
        var made = KindParameter(name: name, type: type)
        made.title = try text("title", found[2], bytes)
        made.isOptional = try flag("isOptional", found[4]) ?? false
        made.options = try options(of: type, found[5], bytes)
        made.hasDynamicOptions = try flag("dynamicOptions", found[6]) ?? false
        if type == .enum, made.options.isEmpty, !made.hasDynamicOptions { throw bad("options", .missing) }
        if let value = found[3] {
            guard made.type.holds(value.kind) else { throw bad("default", .wrongType) }
            guard made.allows(value, bytes) else { throw bad("default", .unknownValue) }
            made.defaultValue = try raw("default", value, bytes)
        }
        return made
    }

    private func options(
        of type: KindParameter.ValueType, _ value: JSONValue?, _ bytes: Span<UInt8>
    ) throws(Refusal) -> [KindParameter.Option] {
        var options: [KindParameter.Option] = []
        let elements = try elements("options", value, atMost: KindDeclarations.maximumOptions, bytes)
        for (place, element) in elements.enumerated() {
            var reader = self
            reader.path += "options[\(place)]."
            let found = try reader.members(element, ["value", "title"], bytes)
            guard let value = found[0] else { throw reader.bad("value", .missing) }
            guard type.holds(value.kind) else { throw reader.bad("value", .wrongType) }
            options.append(
                KindParameter.Option(
                    value: try reader.raw("value", value, bytes), title: try reader.text("title", found[1], bytes)))
        }
        return options
    }
}
