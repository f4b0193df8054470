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
    public func privacySensitive(_ isSensitive: Bool = true) -> Self {
        changing { $0.isPrivacySensitive = isSensitive }
    }

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
