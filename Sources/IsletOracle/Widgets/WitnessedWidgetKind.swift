/// A widget kind as its providers declare it: what the witness holds its widgets to.
package struct WitnessedWidgetKind: Sendable, Equatable {
    package let name: String
    package let families: [String]
    package let providesRelevance: Bool
    /// Milliseconds of real time.
    package let timelineDeadline: Int64
    package let actionDeadline: Int64

    /// One with links and relevance, a small plain one, and one that shares its name with a control.
    package static let all = [
        WitnessedWidgetKind(
            name: "Weather", families: ["systemSmall", "systemMedium"], providesRelevance: true,
            timelineDeadline: 300, actionDeadline: 500),
        WitnessedWidgetKind(
            name: "Steps", families: ["accessoryCircular"], providesRelevance: false, timelineDeadline: 150,
            actionDeadline: 200),
        WitnessedWidgetKind(
            name: "Door", families: ["systemLarge"], providesRelevance: false, timelineDeadline: 1_000,
            actionDeadline: 2_000),
    ]

    package static func named(_ name: String) -> WitnessedWidgetKind? { all.first { $0.name == name } }

    /// The families in whose entries links may stand.
    package static func allowsLinks(_ family: String) -> Bool {
        ["systemMedium", "systemLarge", "systemExtraLarge", "systemExtraLargePortrait"].contains(family)
    }

    /// The declarations as `provider.register` carries them: of an older and a newer version of the app, which differ in what
    /// no placed one shows.
    package var declarations: [String] { [declaration(isNewer: false), declaration(isNewer: true)] }

    package func declaration(isNewer: Bool) -> String {
        let more = isNewer ? ",{\"name\":\"mode\",\"type\":\"string\",\"isOptional\":true}" : ""
        var fields = ["\"kind\":\"\(name)\""]
        fields.append("\"families\":[" + families.map { "\"\($0)\"" }.joined(separator: ",") + "]")
        fields.append("\"parameters\":[{\"name\":\"room\",\"type\":\"string\",\"isOptional\":true}\(more)]")
        if providesRelevance { fields.append("\"providesRelevance\":true") }
        fields.append("\"rendering\":{\"modes\":[\"fullColor\",\"vibrant\"]}")
        fields.append("\"timelineDeadline\":\(timelineDeadline),\"actionDeadline\":\(actionDeadline)")
        return "{" + fields.joined(separator: ",") + "}"
    }
}
