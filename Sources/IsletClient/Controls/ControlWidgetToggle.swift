/// A control that is on or off.
///
///     ControlWidgetToggle("Torch", isOn: isLit, action: SetTorchIntent()) { $0 ? "On" : "Off" }
public struct ControlWidgetToggle<Action: SetValueIntent>: ControlWidgetTemplate where Action.Value == Bool {
    /// The looks.
    public var appearance: ControlAppearance
    /// Whether it is on.
    public let isOn: Bool
    private let action: Action

    /// A toggle with this name.
    ///
    /// - Parameters:
    ///   - action: what a tap runs, with the new value set.
    ///   - valueLabel: the status text of a value.
    public init(
        _ title: String, isOn: Bool, action: Action, valueLabel: ((Bool) -> String)? = nil
    ) {
        self.isOn = isOn
        self.action = action
        appearance = ControlAppearance(title: title)
        appearance.status = valueLabel?(isOn)
    }

    /// Whether it is on.
    public var toggleValue: Bool? { isOn }
    /// The action's.
    public static var authenticationPolicy: IntentAuthenticationPolicy { Action.authenticationPolicy }

    /// Sets the action's value and runs it.
    public func perform(value: Bool?) async throws -> any IntentResult {
        guard let value else { throw ProviderCallError.failed("a toggle is set to a value") }
        var action = action
        action.value = value
        return try await action.perform()
    }
}
