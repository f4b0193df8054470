/// A kind that a provider serves.
public enum ProviderKind: Sendable {
    /// A kind of control.
    case control(ControlDefinition)
    /// A kind of widget. It may have the name of a kind of control.
    case widget(WidgetDefinition)
}

/// The kinds of one process: its controls and its widgets.
///
///     struct HomeBundle: WidgetBundle {
///         var body: [ProviderKind] {
///             WeatherWidget()
///             TorchControl()
///         }
///     }
///     try await ProviderService(HomeBundle()).run()
public protocol WidgetBundle: Sendable {
    /// The kinds, listed one below the other.
    @WidgetBundleBuilder var body: [ProviderKind] { get }
}

/// Lists kinds: widgets, controls, their configurations, and bundles of them.
@resultBuilder public enum WidgetBundleBuilder {
    /// One control.
    public static func buildExpression(_ control: some ControlWidget) -> [ProviderKind] {
        [.control(control.body.definition)]
    }

    /// One control, by its configuration.
    public static func buildExpression(_ configuration: some ControlWidgetConfiguration) -> [ProviderKind] {
        [.control(configuration.definition)]
    }

    /// One widget.
    public static func buildExpression(_ widget: some Widget) -> [ProviderKind] {
        [.widget(widget.body.definition)]
    }

    /// One widget, by its configuration.
    public static func buildExpression(_ configuration: some WidgetConfiguration) -> [ProviderKind] {
        [.widget(configuration.definition)]
    }

    /// All of a bundle.
    public static func buildExpression(_ bundle: some WidgetBundle) -> [ProviderKind] { bundle.body }

    /// One after the other.
    public static func buildBlock(_ parts: [ProviderKind]...) -> [ProviderKind] { parts.flatMap(\.self) }

    /// `if` without `else`.
    public static func buildOptional(_ part: [ProviderKind]?) -> [ProviderKind] { part ?? [] }

    /// `if`.
    public static func buildEither(first part: [ProviderKind]) -> [ProviderKind] { part }

    /// `else`.
    public static func buildEither(second part: [ProviderKind]) -> [ProviderKind] { part }

    /// `for`.
    public static func buildArray(_ parts: [[ProviderKind]]) -> [ProviderKind] { parts.flatMap(\.self) }
}
