/// A kind of widget without its types: what the service is told of it, and what it calls.
public struct WidgetDefinition: WidgetConfiguration {
    /// The provider's functions, of the configuration's members.
    struct Source: Sendable {
        typealias Draw = @Sendable (RawObject, TimelineProviderContext) async throws -> RawObject

        let placeholder: @Sendable (TimelineProviderContext) -> any TimelineEntry
        let timeline: Draw
        let snapshot: Draw
        /// Nil of a kind that cannot be configured.
        let recommendations: (@Sendable () async throws -> [RawJSON])?
        let relevance: @Sendable () async throws -> [RawJSON]
        /// The configuration with the entities that it names.
        var findEntities: @Sendable (RawObject) async throws -> RawObject = { $0 }
    }

    /// Runs an action with a tap's parameters.
    typealias Action = @Sendable (RawObject) async throws -> Void

    /// The kind's name.
    public let kind: String
    var families = WidgetFamily.allCases
    var displayName: String?
    var details: String?
    var promptsForUserConfiguration = false
    var supplementalFamilies: [SupplementalFamily] = []
    var rendering = RenderingSupport()
    var timelineDeadline: Duration?
    var actionDeadline: Duration?
    var actions: [String: Action] = [:]
    let parameters: [IntentParameter]
    /// Nil where they cannot be written.
    private let defaults: RawObject?
    private let source: Source

    /// Itself.
    public var definition: WidgetDefinition { self }

    init(kind: String, parameters: [IntentParameter] = [], defaults: RawObject? = [:], source: Source) {
        self.kind = kind
        self.parameters = parameters
        self.defaults = defaults
        self.source = source
    }

    // MARK: What is declared

    /// The kind as `provider.register` declares it.
    ///
    /// - Throws: ``IsletError/invalid(_:)`` where it has no family, or its placeholder or what it is configured with by
    ///   default cannot be written.
    func declaration() throws(IsletError) -> RawJSON {
        guard let defaults else { throw .invalid(IntentParameter.unwritableDefaults(of: kind)) }
        guard let family = families.first else { throw .invalid("\(kind): a widget comes in at least one family") }
        var members: RawObject = ["kind": .string(kind), "families": .names(families)]
        members["displayName"] = displayName.map { .text($0, atMost: ProviderLimits.text) }
        members["description"] = details.map { .text($0, atMost: ProviderLimits.text) }
        if !parameters.isEmpty {
            members["parameters"] = .array(parameters.map { $0.json(default: defaults[$0.name]) })
        }
        let placeholder = try TimelineCoding.content(source.placeholder(.placeholder(family)))
        if !placeholder.members.isEmpty { members["placeholder"] = placeholder.json }
        let size = members["placeholder"]?.count ?? 0
        guard size <= ProviderLimits.placeholder else {
            throw .invalid("\(kind): the placeholder has \(size) bytes, and may have \(ProviderLimits.placeholder)")
        }
        if promptsForUserConfiguration { members["promptsForUserConfiguration"] = .bool(true) }
        // Whether a provider has its own answer cannot be known before it is asked; most have none, and say so.
        members["providesRelevance"] = .bool(true)
        if source.recommendations != nil { members["providesRecommendations"] = .bool(true) }
        if !supplementalFamilies.isEmpty { members["supplementalFamilies"] = .names(supplementalFamilies) }
        members["rendering"] = rendering.json
        members["timelineDeadline"] = timelineDeadline.map { .integer($0.wholeMilliseconds) }
        members["actionDeadline"] = actionDeadline.map { .integer($0.wholeMilliseconds) }
        return members.json
    }

    // MARK: What is called

    /// What is configured, with the entities of which it has the identifiers alone.
    func findingEntities(of configuration: RawObject) async throws -> RawObject {
        try await source.findEntities(configuration)
    }

    /// The members of the answer to `widget.timeline`.
    func timeline(_ configuration: RawObject, in context: TimelineProviderContext) async throws -> RawObject {
        try await source.timeline(configuration, context)
    }

    /// The members of the answer to `widget.snapshot`.
    func snapshot(_ configuration: RawObject, in context: TimelineProviderContext) async throws -> RawObject {
        try await source.snapshot(configuration, context)
    }

    /// The members of the answer to `widget.perform`: none.
    func perform(_ action: String, _ parameters: RawObject) async throws -> RawObject {
        guard let perform = actions[action] else { throw ProviderCallError.failed("there is no action '\(action)'") }
        try await perform(parameters)
        return [:]
    }

    /// The members of the answer to `widget.recommendations`.
    func recommendations() async throws -> RawObject {
        ["value": .array(try await source.recommendations?() ?? [])]
    }

    /// The members of the answer to `widget.relevance`.
    func relevance() async throws -> RawObject {
        ["value": .array(try await source.relevance())]
    }
}
