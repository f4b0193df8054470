import FoundationEssentials

/// A kind of control without its types: what the service is told of it, and what it calls.
public struct ControlDefinition: ControlWidgetConfiguration {
    /// Draws a control that is configured so.
    typealias Draw = @Sendable (RawObject) async throws -> ControlDrawing

    /// The kind's name.
    public let kind: String
    var displayName: String?
    var details: String?
    var promptsForUserConfiguration = false
    var reloadsSiblings = false
    var valueDeadline: Duration?
    var actionDeadline: Duration?
    let parameters: [IntentParameter]
    /// Nil where they cannot be written.
    private let defaults: RawObject?
    private let hasProvider: Bool
    private let preview: @Sendable (RawObject) throws -> ControlDrawing
    private let current: Draw
    private let findEntities: @Sendable (RawObject) async throws -> RawObject

    /// Itself.
    public var definition: ControlDefinition { self }

    init(
        kind: String, parameters: [IntentParameter], defaults: RawObject? = [:], hasProvider: Bool,
        preview: @escaping @Sendable (RawObject) throws -> ControlDrawing, current: @escaping Draw,
        findEntities: @escaping @Sendable (RawObject) async throws -> RawObject = { $0 }
    ) {
        self.kind = kind
        self.parameters = parameters
        self.defaults = defaults
        self.hasProvider = hasProvider
        self.preview = preview
        self.current = current
        self.findEntities = findEntities
    }

    /// A kind that is configured by an `Intent`.
    init<Intent: ControlConfigurationIntent>(
        kind: String, configuration: Intent.Type, hasProvider: Bool,
        preview: @escaping @Sendable (Intent) -> ControlDrawing,
        current: @escaping @Sendable (Intent) async throws -> ControlDrawing
    ) {
        self.init(
            kind: kind, parameters: Intent.parameters, defaults: Intent.defaults, hasProvider: hasProvider,
            preview: { preview(try Intent.read($0)) }, current: { try await current(try Intent.read($0)) },
            findEntities: { try await Intent.findingEntities(of: $0) })
    }

    // MARK: What is declared

    /// The kind as `provider.register` declares it.
    ///
    /// - Throws: ``IsletError/invalid(_:)`` where its preview or what it is configured with by default cannot be written.
    func declaration() throws(IsletError) -> RawJSON {
        guard let defaults else { throw .invalid(IntentParameter.unwritableDefaults(of: kind)) }
        guard let drawing = try? preview([:]) else { throw .invalid("\(kind): its defaults cannot be read again") }
        let template = drawing.template
        let isToggle = template.toggleValue != nil
        let look = template.appearance
        var members: RawObject = ["kind": .string(kind), "template": .string(isToggle ? "toggle" : "button")]
        members["displayName"] = .text(displayName ?? look.title, atMost: ProviderLimits.text)
        members["description"] = details.map { .text($0, atMost: ProviderLimits.text) }
        members["tint"] = look.tint.map { .text($0, atMost: ProviderLimits.text) }
        members["actionHint"] = look.actionHint.map { .text($0, atMost: ProviderLimits.text) }
        if isToggle || hasProvider {
            guard let value = try? drawing.json() else { throw .invalid("\(kind): its preview cannot be written") }
            members["previewValue"] = value
        }
        members["hasValue"] = .bool(isToggle || hasProvider)
        if !parameters.isEmpty {
            members["parameters"] = .array(parameters.map { $0.json(default: defaults[$0.name]) })
        }
        if reloadsSiblings { members["reloadsSiblings"] = .bool(true) }
        if look.isPrivacySensitive { members["privacySensitive"] = .bool(true) }
        if drawing.authenticationPolicy != .alwaysAllowed {
            members["authenticationPolicy"] = .string(drawing.authenticationPolicy.rawValue)
        }
        if promptsForUserConfiguration { members["promptsForUserConfiguration"] = .bool(true) }
        members["valueDeadline"] = valueDeadline.map { .integer($0.wholeMilliseconds) }
        members["actionDeadline"] = actionDeadline.map { .integer($0.wholeMilliseconds) }
        return members.json
    }

    // MARK: What is called

    /// What is configured, with the entities of which it has the identifiers alone.
    func findingEntities(of configuration: RawObject) async throws -> RawObject {
        try await findEntities(configuration)
    }

    /// The members of the answer to `control.value`.
    func value(_ configuration: RawObject) async throws -> RawObject {
        let drawing = try await current(configuration)
        let value = try drawing.json()
        // To the service `null` is no value at all.
        guard !value.isNull else { throw ProviderCallError.failed("the value is null, which stands for none") }
        guard value.count <= ProviderLimits.value else {
            throw ProviderCallError.failed("the value has \(value.count) bytes, and may have \(ProviderLimits.value)")
        }
        let look = drawing.template.appearance
        var members: RawObject = ["value": value]
        members["status"] = look.status.map { .text($0, atMost: ProviderLimits.text) }
        members["isActive"] = look.isActive.map(RawJSON.bool)
        members["tint"] = look.tint.map { .text($0, atMost: ProviderLimits.text) }
        members["actionHint"] = look.actionHint.map { .text($0, atMost: ProviderLimits.text) }
        if look.isDisabled { members["disabled"] = .bool(true) }
        return members
    }

    /// The members of the answer to `control.perform`.
    ///
    /// - Parameter value: the new value of a toggle.
    func perform(_ configuration: RawObject, value: Bool?) async throws -> RawObject {
        let result = try await preview(configuration).template.perform(value: value)
        var members = RawObject()
        members["status"] = result.status.map { .text($0, atMost: ProviderLimits.text) }
        // The action was performed: what the service would refuse must not make it one that failed.
        let url = result.url.map { RawJSON.string($0.absoluteString) }
        if let url, url.count - 2 <= ProviderLimits.url { members["url"] = url }
        return members
    }
}

/// A value with the template that it is drawn with.
struct ControlDrawing: Sendable {
    let template: any ControlWidgetTemplate
    let authenticationPolicy: IntentAuthenticationPolicy
    private let encode: @Sendable () throws -> RawJSON

    /// The value of a toggle is whether it is on; that of a button is the value itself.
    init<Value: Sendable & Codable, Template: ControlWidgetTemplate>(
        _ value: Value, _ content: (Value) -> Template
    ) {
        let template = content(value)
        self.template = template
        authenticationPolicy = Template.authenticationPolicy
        encode = { try template.toggleValue.map(RawJSON.bool) ?? PayloadCoding.encodeAny(value, as: "the value") }
    }

    /// Of a template alone: a button has no value.
    init<Template: ControlWidgetTemplate>(_ template: Template) {
        self.template = template
        authenticationPolicy = Template.authenticationPolicy
        encode = { template.toggleValue.map(RawJSON.bool) ?? .null }
    }

    /// The value as JSON.
    func json() throws -> RawJSON { try encode() }
}
