/// What the contract takes of providers; in bytes of JSON, but for what is counted.
enum ProviderLimits {
    /// A control's value.
    static let value = 4_096
    /// A widget kind's placeholder.
    static let placeholder = 4_096
    /// All options of a parameter together, so that they fit the answer to whoever asked for them.
    static let options = 60_000
    /// The members of an answer, so that its frame has no more than 64 KiB.
    static let answer = 65_000
    /// A status, tint, hint, name or title, without its quotes.
    static let text = 256
    /// What an action or an entry opens, without its quotes.
    static let url = 2_048
    /// The entries of a timeline, where the service does not say what its rule is.
    static let entries = 256
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
