import Glibc

/// Colours, where somebody looks: on a terminal that has them, and without NO_COLOR (https://no-color.org). What gets
/// one becomes printable here.
package struct Style {
    var isOn: Bool

    /// - Parameter isOn: whether there are colours.
    package init(isOn: Bool) {
        self.isOn = isOn
    }

    /// For standard output.
    static let output = Style(
        isOn: isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR") == nil && environment("TERM") != "dumb")

    func dim(_ text: String) -> String { code("2", text) }
    func bold(_ text: String) -> String { code("1", text) }

    /// What went wrong.
    func wrong(_ text: String) -> String { code("31", text) }

    /// A text in the colour of an entity's state, which has its name on the wire.
    func of(state: String?, _ text: String) -> String {
        guard let state, let colour = Self.colours[state] else { return text }
        return code(colour, text)
    }

    /// The code of the colour that a state has; nil for one that is not known.
    static func colour(ofState state: String) -> UInt8? { colours[state].flatMap { UInt8($0) } }

    private static let colours = [
        "pending": "36", "active": "32", "stale": "33", "ended": "35", "dismissed": "90",
        "loading": "36", "preview": "36", "shown": "32", "reloading": "33", "acting": "33", "authenticating": "35",
        "disabled": "90", "removed": "90", "placeholder": "36", "present": "32",
    ]

    private func code(_ code: String, _ text: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text.printable)\u{1B}[0m" : text.printable
    }
}

/// Text cells of a fixed width.
extension String {
    /// Filled up with spaces.
    func padded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }

    /// Cut with an ellipsis.
    func shortened(to width: Int) -> String {
        count <= width ? self : String(prefix(max(width - 1, 0))) + "…"
    }
}
