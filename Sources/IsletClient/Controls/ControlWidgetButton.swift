/// A control that does one thing.
///
///     ControlWidgetButton("Garage", action: OpenGarageIntent(), isActive: isMoving) { $0 ? "Moving" : "Closed" }
public struct ControlWidgetButton<Action: AppIntent>: ControlWidgetTemplate {
    /// The looks.
    public var appearance: ControlAppearance
    private let action: Action

    /// A button with this name.
    ///
    /// - Parameters:
    ///   - action: what a tap runs.
    ///   - isActive: whether what it does is going on.
    ///   - actionLabel: the status text while it is, and while it is not.
    public init(
        _ title: String, action: Action, isActive: Bool? = nil, actionLabel: ((_ isActive: Bool) -> String)? = nil
    ) {
        self.action = action
        appearance = ControlAppearance(title: title)
        appearance.isActive = isActive
        appearance.status = actionLabel?(isActive ?? false)
    }

    /// None: a button has no value of its own.
    public var toggleValue: Bool? { nil }
    /// The action's.
    public static var authenticationPolicy: IntentAuthenticationPolicy { Action.authenticationPolicy }

    /// Runs the action.
    public func perform(value: Bool?) async throws -> any IntentResult {
        try await action.perform()
    }
}
