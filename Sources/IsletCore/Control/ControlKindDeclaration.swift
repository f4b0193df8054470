/// What a provider declares of a control kind (apple-semantics 4.1).
///
/// Texts are JSON strings with their quotes, byte for byte as they were declared; empty where absent.
package struct ControlKindDeclaration: KindDeclaration, Equatable {
    package var kind: [UInt8]
    package var template: ControlTemplate
    package var displayName: [UInt8] = []
    package var description: [UInt8] = []
    package var tint: [UInt8] = []
    package var actionHint: [UInt8] = []
    /// The exact bytes of the JSON value; empty: none.
    package var previewValue: [UInt8] = []
    /// Whether there is a value to ask for; a button may have none.
    package var hasValue: Bool
    package var parameters: [KindParameter] = []
    package var reloadsSiblings = false
    package var isPrivacySensitive = false
    package var authenticationPolicy = ControlAuthenticationPolicy.alwaysAllowed
    package var promptsForUserConfiguration = false
    /// How long a value may take, in milliseconds of real time.
    package var valueDeadline: Milliseconds = 1_000
    /// How long an action may take, in milliseconds of real time.
    package var actionDeadline: Milliseconds = 10_000
    package var json: [UInt8] = []

    package init(kind: [UInt8], template: ControlTemplate) {
        self.kind = kind
        self.template = template
        hasValue = template == .toggle
        if template == .toggle { previewValue = Array("false".utf8) }
    }

    /// A member of a declaration.
    package enum Member: String, Sendable, CaseIterable {
        case template, displayName, description, tint, actionHint, previewValue, hasValue, parameters, reloadsSiblings
        case privacySensitive, authenticationPolicy, promptsForUserConfiguration, valueDeadline, actionDeadline
    }

    /// The first member in which another declaration of the same kind differs; nil where both mean the same, whatever
    /// they are written like: two languages escape and space otherwise.
    package func difference(from other: ControlKindDeclaration) -> Member? {
        // What placed controls depend on comes first.
        if template != other.template { return .template }
        if hasValue != other.hasValue { return .hasValue }
        if !ConfigurationForm.areEqual(values: displayName, other.displayName) { return .displayName }
        if !ConfigurationForm.areEqual(values: description, other.description) { return .description }
        if !ConfigurationForm.areEqual(values: tint, other.tint) { return .tint }
        if !ConfigurationForm.areEqual(values: actionHint, other.actionHint) { return .actionHint }
        if !ConfigurationForm.areEqual(values: previewValue, other.previewValue) { return .previewValue }
        if !parameters.elementsEqual(other.parameters, by: { $0.isAlike($1) }) { return .parameters }
        if reloadsSiblings != other.reloadsSiblings { return .reloadsSiblings }
        if isPrivacySensitive != other.isPrivacySensitive { return .privacySensitive }
        if authenticationPolicy != other.authenticationPolicy { return .authenticationPolicy }
        if promptsForUserConfiguration != other.promptsForUserConfiguration { return .promptsForUserConfiguration }
        if valueDeadline != other.valueDeadline { return .valueDeadline }
        if actionDeadline != other.actionDeadline { return .actionDeadline }
        return nil
    }
}
