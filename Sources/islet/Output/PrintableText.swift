/// Text of users on its way to a terminal.
extension String {
    /// The text with everything made visible that a terminal would obey: control characters (C0, DEL, C1), characters
    /// that turn the direction of writing or show nothing, and line ends. What is plain stays as it is.
    ///
    /// Every text that comes from outside passes through this before a terminal gets it.
    package var printable: String {
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
        var result = String.UnicodeScalarView()
        var marks = 0
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark:
                marks += 1
                if marks <= Self.marksMax { result.append(scalar) }
                continue
            case .control:
                result.append(Self.picture(of: scalar))
            case .format where scalar != Self.joiner, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
                result.append(Self.replacement)
            case _:
                result.append(scalar)
            }
            marks = 0
        }
        return String(result)
    }

    /// More marks than this over one character are left out.
    private static let marksMax = 4
    /// U+200D, which makes one emoji of several.
    private static let joiner: Unicode.Scalar = "\u{200D}"
    private static let replacement: Unicode.Scalar = "\u{FFFD}"

    /// Unicode's pictures of the control characters, which take one column each.
    private static func picture(of control: Unicode.Scalar) -> Unicode.Scalar {
        switch control.value {
        case 0..<0x20: Unicode.Scalar(0x2400 + control.value) ?? replacement
        case 0x7F: "\u{2421}"
        case _: replacement
        }
    }
}
