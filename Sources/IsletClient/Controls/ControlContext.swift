/// What a provider is asked about: for the value, the action and the options of a control, whichever runs.
///
///     func currentValue() async throws -> Bool {
///         try await lamps.isLit(of: ControlContext.current?.device)
///     }
public struct ControlContext: Sendable {
    /// That of the running call; nil outside of calls.
    @TaskLocal public static var current: ControlContext?

    /// The bundle identifier.
    public let app: String
    /// The control's kind.
    public let kind: String
    /// The control; nil where the options of a parameter are asked for.
    public let id: String?
    /// Whose control it is; nil for one that stands on no device.
    public let device: String?
    /// 1, and 2 where another provider was asked before.
    public let attempt: Int
    /// Who answers later is not heard.
    public let deadline: ContinuousClock.Instant
    private let members: RawObject

    init(_ call: ProviderCall) {
        app = call.app
        kind = call.kind
        id = call.control
        device = call.device
        attempt = call.attempt
        deadline = call.deadline
        members = call.configuration
    }

    /// What is configured; while options are asked for: so far. Nil where it is of another type.
    public func configuration<Intent: ControlConfigurationIntent>(of type: Intent.Type) -> Intent? {
        Intent(members: members)
    }
}
