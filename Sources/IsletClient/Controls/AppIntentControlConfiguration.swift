/// A kind whose controls a person configures.
///
/// An action depends on the configuration alone: it is that of the template which `content` makes of the
/// `previewValue(configuration:)`. One that needs the present value asks for it.
public struct AppIntentControlConfiguration: ControlWidgetConfiguration {
    /// All of it.
    public let definition: ControlDefinition

    /// A kind with values.
    ///
    /// - Parameters:
    ///   - kind: its name, which never changes: at most 64 characters, usually in reverse domain notation.
    ///   - content: how a value is drawn.
    public init<Provider: AppIntentControlValueProvider, Template: ControlWidgetTemplate>(
        kind: String, provider: Provider, content: @escaping @Sendable (Provider.Value) -> Template
    ) {
        definition = ControlDefinition(
            kind: kind, configuration: Provider.Configuration.self, hasProvider: true,
            preview: { ControlDrawing(provider.previewValue(configuration: $0), content) },
            current: { ControlDrawing(try await provider.currentValue(configuration: $0), content) })
    }

    /// A kind without a provider of values: its controls are drawn of what is configured.
    public init<Intent: ControlConfigurationIntent, Template: ControlWidgetTemplate>(
        kind: String, intent: Intent.Type, content: @escaping @Sendable (Intent) -> Template
    ) {
        definition = ControlDefinition(
            kind: kind, configuration: intent, hasProvider: false, preview: { ControlDrawing(content($0)) },
            current: { ControlDrawing(content($0)) })
    }
}
