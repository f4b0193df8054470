/// What the contract takes of providers, in bytes of JSON.
enum ControlLimits {
    /// A value.
    static let value = 4_096
    /// All options of a parameter together: what fits a frame.
    static let options = 60_000
    /// A status, tint, hint, name or title, without its quotes.
    static let text = 256
    /// The message of a failure, without its quotes.
    static let message = 1_024
}

extension RawJSON {
    /// As much of a text as has so many bytes between its quotes.
    static func text(_ text: String, atMost limit: Int) -> RawJSON {
        var text = String(text.prefix(limit))
        var json = RawJSON.string(text)
        while json.count - 2 > limit {
            text.removeLast()
            json = .string(text)
        }
        return json
    }
}
