/// Which rule an event of a control is made by: copied by hand from apple-semantics 4 and the contract.
extension ControlPassages {
    /// The rules of which one made it.
    static func rules(_ passage: ControlPassage) -> [String] { rule(passage).map { [$0] } ?? [] }

    private static func rule(_ passage: ControlPassage) -> String? {
        switch passage.name {
        case "added": "apple-semantics 4.2 C2"
        case "shown": passage.from == "loading" ? "apple-semantics 4.2 C3" : "apple-semantics 4.2 C6 and C11"
        case "failed":
            switch passage.from {
            case "loading": "apple-semantics 4.2 C4"
            case "reloading": "apple-semantics 4.2 C7"
            default: passage.cause == "recovery" ? "an action is performed at most once" : "apple-semantics 4.2 C10"
            }
        case "reloading": passage.cause == "retry" ? "rule set controlRetryFirst" : "apple-semantics 4.2 C5"
        case "acting":
            switch passage.cause {
            case "authentication": "apple-semantics 4.2 C13"
            case "action": newestWish
            default: passage.from == "acting" ? newestWish : "apple-semantics 4.2 C8 and C12"
            }
        case "performed": "apple-semantics 4.2 C9 and C12"
        case "authenticating": "apple-semantics 4.2 C13"
        case "cancelled": "rule set authenticationLimit"
        case "redacted", "revealed": "apple-semantics 4.1 privacySensitive"
        case "configured": "apple-semantics 4.2 C15"
        case "removed": "apple-semantics 4.2 C16"
        default: nil
        }
    }

    private static let newestWish = "the newest wish of a person is performed next"
}
