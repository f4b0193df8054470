package import IsletCore

extension KindParameter {
    /// Whether a configuration fits parameters: each of its members is one of them and of its type, and each parameter
    /// that is neither optional nor has a default is there.
    ///
    /// An `enum` is closed to its options, unless its provider computes more. null equals absent.
    /// - Parameter configuration: the bytes of the JSON object; empty: none, which is `{}`.
    /// - Returns: the name of the first member that does not fit, else of the first parameter that is missing; nil
    ///   where all is well. Bytes that are no JSON object do not fit, under an empty name.
    package static func misfit(of configuration: Span<UInt8>, to parameters: [KindParameter]) -> [UInt8]? {
        var isGiven = [Bool](repeating: false, count: parameters.count)
        var isNamed = isGiven
        if !configuration.isEmpty {
            var misfit: [UInt8]?
            do {
                try JSONScanner.scanObject(configuration) { member in
                    guard misfit == nil else { return }
                    var name: [UInt8] = []
                    member.name.unescape(in: configuration, into: &name)
                    guard let place = parameters.firstIndex(where: { $0.name == name }), !isNamed[place] else {
                        misfit = name
                        return
                    }
                    isNamed[place] = true
                    guard member.value.kind != .null else { return }
                    isGiven[place] = true
                    let parameter = parameters[place]
                    if !parameter.type.holds(member.value.kind) || !parameter.allows(member.value, configuration) {
                        misfit = name
                    }
                }
            } catch {
                return []
            }
            if let misfit { return misfit }
        }
        for (place, parameter) in parameters.enumerated() where !isGiven[place] {
            if !parameter.isOptional, parameter.defaultValue.isEmpty { return parameter.name }
        }
        return nil
    }
}

extension KindParameter.ValueType {
    /// Whether a value of this type is written as that kind of JSON. An `enum` is the name of its case; an `entity` is
    /// its identifier, or an object.
    func holds(_ kind: JSONKind) -> Bool {
        switch self {
        case .string, .enum: kind == .string
        case .integer: kind == .integer
        case .number: kind == .integer || kind == .number
        case .boolean: kind == .true || kind == .false
        case .entity: kind == .string || kind == .object
        }
    }
}

extension KindParameter {
    /// Whether the options, where they are closed, have a value, whatever escapes either is written with.
    func allows(_ value: JSONValue, _ bytes: Span<UInt8>) -> Bool {
        guard type == .enum, !hasDynamicOptions else { return true }
        // Most are written as they were declared, and to read each option takes a hundred times as long as to compare
        // it.
        let isSame = bytes.extracting(value.range.indices).withUnsafeBytes { written in
            options.contains { $0.value.withUnsafeBytes { equal($0, written) } }
        }
        if isSame { return true }
        var text: [UInt8] = []
        guard value.text.unescape(in: bytes, into: &text) else { return false }
        return options.contains { option in
            guard let known = try? JSONScanner.scanValue(option.value.span) else { return false }
            var name: [UInt8] = []
            known.text.unescape(in: option.value.span, into: &name)
            return name == text
        }
    }
}
