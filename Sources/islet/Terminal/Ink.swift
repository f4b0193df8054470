/// How a piece of text looks.
package struct Ink: Hashable, Sendable {
    /// The code of a foreground colour, such as 32 for green; nil for the terminal's own.
    var colour: UInt8?
    var isBold = false
    var isDim = false
    var isReverse = false

    /// Text as it is.
    package static let plain = Ink()
    static let bold = Ink(isBold: true)
    static let dim = Ink(isDim: true)
    static let good = Ink(colour: 32)
    static let warning = Ink(colour: 33)
    /// What went wrong.
    package static let wrong = Ink(colour: 31, isBold: true)
    static let key = Ink(colour: 36)

    /// The colour of an entity's state.
    static func state(_ name: String) -> Ink { Ink(colour: Style.colour(ofState: name)) }

    /// What switches to it: nothing for plain text. Without colours (NO_COLOR) weight and reversal remain.
    func code(hasColours: Bool) -> String {
        var codes: [String] = []
        if isBold { codes.append("1") }
        if isDim { codes.append("2") }
        if isReverse { codes.append("7") }
        if hasColours, let colour { codes.append("\(colour)") }
        return codes.isEmpty ? "" : "\u{1B}[\(codes.joined(separator: ";"))m"
    }
}
