/// A control kind as its providers declare it: what the witness holds its controls to.
package struct WitnessedKind: Sendable, Equatable {
    package let name: String
    package let isToggle: Bool
    package let hasValue: Bool
    /// What is shown while the truth is unknown.
    package let preview: JSON?
    package let isSensitive: Bool
    package let needsAuthentication: Bool
    package let reloadsSiblings: Bool
    /// Milliseconds of real time.
    package let valueDeadline: Int64
    package let actionDeadline: Int64

    /// A toggle, a sensitive toggle behind a lock, a button with a value, and one without.
    package static let all = [
        WitnessedKind(
            name: "Torch", isToggle: true, hasValue: true, preview: .bool(true), isSensitive: false,
            needsAuthentication: false, reloadsSiblings: false, valueDeadline: 300, actionDeadline: 500),
        WitnessedKind(
            name: "Door", isToggle: true, hasValue: true, preview: .bool(false), isSensitive: true,
            needsAuthentication: true, reloadsSiblings: false, valueDeadline: 150, actionDeadline: 2_000),
        WitnessedKind(
            name: "Heating", isToggle: false, hasValue: true, preview: .integer(-1), isSensitive: true,
            needsAuthentication: false, reloadsSiblings: true, valueDeadline: 300, actionDeadline: 200),
        WitnessedKind(
            name: "Bell", isToggle: false, hasValue: false, preview: nil, isSensitive: false,
            needsAuthentication: true, reloadsSiblings: false, valueDeadline: 300, actionDeadline: 300),
    ]

    package static func named(_ name: String) -> WitnessedKind? { all.first { $0.name == name } }

    /// The declarations as `provider.register` carries them: of an older and a newer version of the app, which differ in what
    /// no placed one shows.
    package var declarations: [String] { [declaration(isNewer: false), declaration(isNewer: true)] }

    package func declaration(isNewer: Bool) -> String {
        let more = isNewer ? ",{\"name\":\"mode\",\"type\":\"string\",\"isOptional\":true}" : ""
        var fields = ["\"kind\":\"\(name)\"", "\"template\":\"\(isToggle ? "toggle" : "button")\""]
        if let preview { fields.append("\"previewValue\":\(preview.text)") }
        if !isToggle { fields.append("\"hasValue\":\(hasValue)") }
        if isSensitive { fields.append("\"privacySensitive\":true") }
        if needsAuthentication { fields.append("\"authenticationPolicy\":\"requiresAuthentication\"") }
        if reloadsSiblings { fields.append("\"reloadsSiblings\":true") }
        fields.append("\"parameters\":[{\"name\":\"room\",\"type\":\"string\",\"isOptional\":true}\(more)]")
        fields.append("\"valueDeadline\":\(valueDeadline),\"actionDeadline\":\(actionDeadline)")
        return "{" + fields.joined(separator: ",") + "}"
    }
}
