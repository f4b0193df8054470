public import FoundationEssentials

/// What a provider is asked about: for values, timelines, actions and options alike, whichever runs.
///
///     func currentValue() async throws -> Bool {
///         try await lamps.isLit(of: ProviderContext.current?.device)
///     }
public struct ProviderContext: Sendable {
    /// That of the running call; nil outside of calls.
    @TaskLocal public static var current: ProviderContext?

    /// The bundle identifier.
    public let app: String
    /// The kind of the control or the widget.
    public let kind: String
    /// The control or the widget; nil where the call is about none that is placed, such as one for options.
    public let id: String?
    /// Whose it is; nil for one that stands on no device.
    public let device: String?
    /// The widget's family; nil for controls, and where the call is about no family.
    public let family: WidgetFamily?
    /// The service's domain time at the call, which may run fast or stand still; nil where the call does not say.
    public let now: Date?
    /// 1, and 2 where another provider was asked before.
    public let attempt: Int
    /// Who answers later is not heard.
    public let deadline: ContinuousClock.Instant
    private let members: RawObject

    init(_ call: ProviderCall) {
        app = call.app
        kind = call.kind
        id = call.instance
        device = call.device
        family = call.family
        now = call.now.map(Date.init(milliseconds:))
        attempt = call.attempt
        deadline = call.deadline
        members = call.configuration
    }

    /// What is configured; while options are asked for: so far. Nil where it is of another type.
    public func configuration<Intent: ConfigurationIntent>(of type: Intent.Type) -> Intent? {
        Intent(members: members)
    }
}
