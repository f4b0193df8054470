import Glibc
import IsletClient

/// Colours, where somebody looks: on a terminal that has them, and without NO_COLOR (https://no-color.org).
struct Style {
    var isOn: Bool

    /// For standard output.
    static let output = Style(
        isOn: isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR") == nil && environment("TERM") != "dumb")

    func dim(_ text: String) -> String { code("2", text) }
    func bold(_ text: String) -> String { code("1", text) }

    /// A text in the colour of a state.
    func of(_ state: ActivityState?, _ text: String) -> String {
        switch state {
        case .pending: code("36", text)
        case .active: code("32", text)
        case .stale: code("33", text)
        case .ended: code("35", text)
        case .dismissed: code("90", text)
        case nil: text
        }
    }

    private func code(_ code: String, _ text: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
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
