/// One property of a configuration, as a configuration sheet shows it.
///
/// Its default is what ``ConfigurationIntent/init()`` has.
public struct IntentParameter: Sendable {
    /// What its values are.
    public enum ValueType: String, Sendable, Hashable, CaseIterable {
        case string, integer, number, boolean
        /// One of its options, by name; closed, unless a provider computes more.
        case `enum`
        /// Something of the app's: its identifier, or an object.
        case entity
    }

    /// The property's name.
    public var name: String
    /// What its values are.
    public var type: ValueType
    /// What a person reads.
    public var title: String?
    /// It has no default: nothing can be added without it. Its property is an Optional, nil in `init()`.
    public var isRequired: Bool
    /// What can be chosen, where that never changes; at most 100.
    public var options: [IntentParameterOption]
    /// Computes what can be chosen, each time when it is asked for; nil: nothing does.
    public var optionsProvider: (any DynamicOptionsProvider)?

    /// A parameter of these.
    public init(
        _ name: String, type: ValueType, title: String? = nil, isRequired: Bool = false,
        options: [IntentParameterOption] = [], optionsProvider: (any DynamicOptionsProvider)? = nil
    ) {
        self.name = name
        self.type = type
        self.title = title
        self.isRequired = isRequired
        self.options = options
        self.optionsProvider = optionsProvider
    }

    /// A text.
    public static func string(
        _ name: String, title: String? = nil, isRequired: Bool = false, options: [IntentParameterOption] = [],
        optionsProvider: (any DynamicOptionsProvider)? = nil
    ) -> IntentParameter {
        IntentParameter(
            name, type: .string, title: title, isRequired: isRequired, options: options,
            optionsProvider: optionsProvider)
    }

    /// A whole number.
    public static func integer(
        _ name: String, title: String? = nil, isRequired: Bool = false, options: [IntentParameterOption] = [],
        optionsProvider: (any DynamicOptionsProvider)? = nil
    ) -> IntentParameter {
        IntentParameter(
            name, type: .integer, title: title, isRequired: isRequired, options: options,
            optionsProvider: optionsProvider)
    }

    /// A number.
    public static func number(_ name: String, title: String? = nil, isRequired: Bool = false) -> IntentParameter {
        IntentParameter(name, type: .number, title: title, isRequired: isRequired)
    }

    /// Yes or no.
    public static func boolean(_ name: String, title: String? = nil, isRequired: Bool = false) -> IntentParameter {
        IntentParameter(name, type: .boolean, title: title, isRequired: isRequired)
    }

    /// One of an enumeration's cases, by their raw values.
    public static func `enum`<Cases: CaseIterable & RawRepresentable<String>>(
        _ name: String, of cases: Cases.Type, title: String? = nil, isRequired: Bool = false
    ) -> IntentParameter {
        let options = cases.allCases.map { IntentParameterOption($0.rawValue) }
        return IntentParameter(name, type: .enum, title: title, isRequired: isRequired, options: options)
    }

    /// Something of the app's: its identifier (a text), or an object.
    public static func entity(
        _ name: String, title: String? = nil, isRequired: Bool = false,
        optionsProvider: (any DynamicOptionsProvider)? = nil
    ) -> IntentParameter {
        IntentParameter(
            name, type: .entity, title: title, isRequired: isRequired, optionsProvider: optionsProvider)
    }

    /// Something of the app's, which a query finds: an object, of the property's own type. Where what is configured
    /// has its identifier alone, the query is asked for the object before a handler runs.
    public static func entity(
        _ name: String, title: String? = nil, isRequired: Bool = false, query: some EntityQuery
    ) -> IntentParameter {
        IntentParameter(
            name, type: .entity, title: title, isRequired: isRequired, optionsProvider: EntityOptions(query: query))
    }

    /// Who finds its entity, where these members have no more of that than its identifier: a text, or an object that
    /// cannot be read; nil where there is nothing to find.
    func entityNamed(by members: RawObject) -> (finder: any EntityFinder, identifier: String)? {
        guard let finder = optionsProvider as? any EntityFinder, let value = members[name], !finder.isEntity(value),
            let identifier = IntentParameterOption(json: value).identifier
        else { return nil }
        return (finder, identifier)
    }

    /// As `provider.register` declares it.
    func json(default value: RawJSON?) -> RawJSON {
        var members: RawObject = ["name": .string(name), "type": .string(type.rawValue)]
        members["title"] = title.map { .text($0, atMost: ProviderLimits.text) }
        if !isRequired {
            members["default"] = value
            if value == nil { members["isOptional"] = .bool(true) }
        }
        if !options.isEmpty { members["options"] = .array(options.map(\.json)) }
        if optionsProvider != nil { members["dynamicOptions"] = .bool(true) }
        return members.json
    }

    /// Why a kind cannot be declared whose intent's `init()` has what JSON has not.
    static func unwritableDefaults(of kind: String) -> String {
        "\(kind): the defaults of its configuration cannot be written as JSON: numbers must be finite; give each property "
            + "another value in init(), or make it an Optional that is nil there"
    }
}

/// One value that a parameter may have.
public struct IntentParameterOption: Sendable, Hashable {
    /// The value itself.
    public var value: RawJSON
    /// What a person reads; nil: the value.
    public var title: String?

    /// An option of any value.
    public init(json value: RawJSON, title: String? = nil) {
        self.value = value
        self.title = title
    }

    /// A text, or an identifier.
    public init(_ value: String, title: String? = nil) {
        self.init(json: .string(value), title: title)
    }

    /// What it is known by: a text itself, or the `id` of an object; nil for any other value.
    var identifier: String? { value.string ?? value.object?["id"]?.string }

    /// A whole number.
    public init(_ value: Int, title: String? = nil) {
        self.init(json: .integer(value), title: title)
    }

    var json: RawJSON {
        var members: RawObject = ["value": value]
        members["title"] = title.map { .text($0, atMost: ProviderLimits.text) }
        return members.json
    }
}
