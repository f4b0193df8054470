/// A kind whose widgets are all alike.
public struct StaticConfiguration: WidgetConfiguration {
    /// All of it.
    public let definition: WidgetDefinition

    /// A kind with this provider.
    ///
    /// - Parameter kind: its name, which never changes: at most 64 characters, usually in reverse domain notation.
    public init<Provider: TimelineProvider>(kind: String, provider: Provider) {
        definition = WidgetDefinition(
            kind: kind,
            source: .init(
                placeholder: { provider.placeholder(in: $0) },
                timeline: { try TimelineCoding.answer(await provider.timeline(in: $1)) },
                snapshot: { try TimelineCoding.answer(await provider.snapshot(in: $1)) },
                recommendations: nil,
                relevance: { try await provider.relevance().attributes.map { $0.context.json(nil) } }))
    }
}

/// A kind whose widgets a person configures.
public struct AppIntentConfiguration: WidgetConfiguration {
    /// All of it.
    public let definition: WidgetDefinition

    /// A kind with this provider.
    ///
    /// - Parameters:
    ///   - kind: its name, which never changes: at most 64 characters, usually in reverse domain notation.
    ///   - intent: what a person configures: the provider's.
    public init<Provider: AppIntentTimelineProvider>(
        kind: String, intent: Provider.Intent.Type = Provider.Intent.self, provider: Provider
    ) {
        definition = WidgetDefinition(
            kind: kind, parameters: intent.parameters, defaults: intent.defaults,
            source: .init(
                placeholder: { provider.placeholder(in: $0) },
                timeline: { members, context in
                    let configuration = try Provider.Intent.read(members)
                    return try TimelineCoding.answer(await provider.timeline(for: configuration, in: context))
                },
                snapshot: { members, context in
                    let configuration = try Provider.Intent.read(members)
                    return try TimelineCoding.answer(await provider.snapshot(for: configuration, in: context))
                },
                recommendations: { try await provider.recommendations().map { try $0.json() } },
                relevance: {
                    try await provider.relevance().attributes.map { $0.context.json(try $0.configuration.json()) }
                },
                findEntities: { try await Provider.Intent.findingEntities(of: $0) }))
    }
}
