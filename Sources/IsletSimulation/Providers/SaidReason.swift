/// What a provider of the simulation says of a call that it fails, and what is to be shown of it.
struct SaidReason {
    /// The member of its frame, with the comma before it; empty: it says nothing.
    let field: String
    /// nil: nothing is shown.
    let shown: String?

    private init(_ json: String, _ shown: String?) {
        field = ",\"message\":\(json)"
        self.shown = shown
    }

    private init(plain text: String, _ shown: String) { self.init("\"\(text)\"", shown) }

    /// Written down, and not computed, so that what computes it is judged: plain ones, what is not printable, what JSON
    /// escapes, and lengths around the limit of 256 bytes.
    private static let all: [SaidReason] = {
        let (x255, x256) = (String(repeating: "x", count: 255), String(repeating: "x", count: 256))
        return [
            SaidReason("\"\"", nil), SaidReason("null", nil), SaidReason("\"  \"", nil),
            SaidReason("\"\\n\\t\\u0000\"", nil),
            SaidReason(plain: "RuntimeError: db down", "RuntimeError: db down"), SaidReason(plain: "x", "x"),
            SaidReason("\"a\\u0000b\\u001b[2J\\r\\nc\\u007fd\"", "a b [2J  c d"),
            SaidReason("\"\\u009b1m\\u202e\\u2028\\ufeff.\"", " 1m   ."),
            SaidReason("\"say \\\"no\\\" \\\\ \\/ \\u0022\"", "say \"no\" \\ / \""),
            SaidReason("\"\\ud83d\\ude00 \\ud800\"", "\u{1F600} \u{FFFD}"),
            SaidReason(plain: x255, x255), SaidReason(plain: x256, x256), SaidReason(plain: x256 + "y", x256),
            SaidReason(plain: x255 + "é", x255), SaidReason(plain: "é" + x255, "é" + String(x255.dropLast())),
            SaidReason(plain: String(repeating: "\\\"", count: 512), String(repeating: "\"", count: 256)),
        ]
    }()

    private static let nothing = SaidReason()

    private init() { (field, shown) = ("", nil) }

    static func random(_ random: inout SimRandom) -> SaidReason {
        random.oneIn(4) ? nothing : all[random.below(all.count)]
    }
}
