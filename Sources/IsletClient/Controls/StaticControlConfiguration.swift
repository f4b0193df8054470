/// A kind whose controls are all alike.
///
/// An action depends on the kind alone: it is that of the template which `content` makes of the `previewValue`. One
/// that needs the present value asks for it.
public struct StaticControlConfiguration: ControlWidgetConfiguration {
    /// All of it.
    public let definition: ControlDefinition

    /// A kind with values.
    ///
    /// - Parameters:
    ///   - kind: its name, which never changes: at most 64 characters, usually in reverse domain notation.
    ///   - content: how a value is drawn.
    public init<Provider: ControlValueProvider, Template: ControlWidgetTemplate>(
        kind: String, provider: Provider, content: @escaping @Sendable (Provider.Value) -> Template
    ) {
        definition = ControlDefinition(
            kind: kind, parameters: [], hasProvider: true,
            preview: { _ in ControlDrawing(provider.previewValue, content) },
            current: { _ in ControlDrawing(try await provider.currentValue(), content) })
    }

    /// A kind without a provider of values: a button, or a toggle that is drawn anew each time.
    public init<Template: ControlWidgetTemplate>(kind: String, content: @escaping @Sendable () -> Template) {
        definition = ControlDefinition(
            kind: kind, parameters: [], hasProvider: false, preview: { _ in ControlDrawing(content()) },
            current: { _ in ControlDrawing(content()) })
    }
}
