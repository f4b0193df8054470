/// How a control is drawn and what it does: a ``ControlWidgetToggle`` or a ``ControlWidgetButton``.
public protocol ControlWidgetTemplate: Sendable {
    /// The looks, which the modifiers change.
    var appearance: ControlAppearance { get set }
    /// Whether it is on; nil of a button.
    var toggleValue: Bool? { get }
    /// The policy of its action.
    static var authenticationPolicy: IntentAuthenticationPolicy { get }
    /// Runs its action.
    ///
    /// - Parameter value: the new value of a toggle; nil of a button.
    func perform(value: Bool?) async throws -> any IntentResult
}

/// What all templates show.
public struct ControlAppearance: Sendable, Hashable {
    /// The name on it.
    public var title: String
    /// The colour, as the clients that draw understand it.
    public var tint: String?
    /// In place of "Hold to turn on".
    public var actionHint: String?
    /// A short text, such as "On" or "18 °C".
    public var status: String?
    /// Of a button: what it does is going on.
    public var isActive: Bool?
    /// It is drawn, and cannot be tapped.
    public var isDisabled = false
    /// While the device is locked nothing of it is shown.
    public var isPrivacySensitive = false

    /// The looks of something with this name.
    public init(title: String) {
        self.title = title
    }
}

extension ControlWidgetTemplate {
    /// Sets the colour.
    public func tint(_ tint: String?) -> Self { changing { $0.tint = tint } }

    /// Draws it so that it cannot be tapped.
    public func disabled(_ isDisabled: Bool = true) -> Self { changing { $0.isDisabled = isDisabled } }

    /// Hides its value while the device is locked. It is the kind's: what the template of the preview says holds.
    public func privacySensitive(_ isSensitive: Bool = true) -> Self { changing { $0.isPrivacySensitive = isSensitive } }

    /// What a person reads in place of "Hold to turn on".
    public func controlWidgetActionHint(_ hint: String) -> Self { changing { $0.actionHint = hint } }

    /// A short text beside it.
    public func controlWidgetStatus(_ status: String) -> Self { changing { $0.status = status } }

    private func changing(_ change: (inout ControlAppearance) -> Void) -> Self {
        var copy = self
        change(&copy.appearance)
        return copy
    }
}

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
        var action = action
        action.value = value ?? !isOn
        return try await action.perform()
    }
}

/// A control that does one thing.
///
///     ControlWidgetButton("Garage", action: OpenGarageIntent(), isActive: state == .moving) { $0 ? "Moving" : "Closed" }
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
