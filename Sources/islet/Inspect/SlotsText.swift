package import IsletClient

/// The answer to `slot.list` as people read it.
package struct SlotsText {
    private let perApp: Int64?
    private let perDevice: Int64?
    private let style: Style

    /// - Parameter answer: one that says the maxima.
    init(_ answer: Answer, style: Style) {
        self.init(
            perApp: answer["maximumPerApp"]?.integer, perDevice: answer["maximumPerDevice"]?.integer, style: style)
    }

    /// The maxima; nil where they are not known.
    package init(perApp: Int64?, perDevice: Int64?, style: Style) {
        self.perApp = perApp
        self.perDevice = perDevice
        self.style = style
    }

    /// A table of devices with a head.
    package func table(_ rows: [RawObject]) -> [String] {
        var table = TextTable("DEVICE", "HELD", "APPS")
        for row in rows {
            let apps = row["apps"]?.elements?.compactMap(\.object) ?? []
            let held = apps.map { "\($0["app"]?.string ?? "?") \(count($0["held"]?.integer, of: perApp))" }
            table.add(
                row["device"]?.string ?? "?", count(row["held"]?.integer, of: perDevice), held.joined(separator: ", "))
        }
        return table.lines(style: style)
    }

    /// `3 of 5`, `5 of 5 full`.
    private func count(_ held: Int64?, of most: Int64?) -> String {
        guard let held else { return "?" }
        guard let most else { return "\(held)" }
        return "\(held) of \(most)" + (held >= most ? " full" : "")
    }
}
