import IsletCore

/// The member `parameters` of a declaration: what a person may configure.
extension DeclarationReader {
    func parameters(_ value: JSONValue?, _ bytes: Span<UInt8>) throws(Refusal) -> [KindParameter] {
        var parameters: [KindParameter] = []
        let elements = try elements("parameters", value, atMost: DeclarationLimits.maximumParameters, bytes)
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

    private func parameter(_ object: JSONValue, _ bytes: Span<UInt8>) throws(Refusal) -> KindParameter {
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
        let elements = try elements("options", value, atMost: DeclarationLimits.maximumOptions, bytes)
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
