import IsletServer

/// What may be meant by a misspelt name.
enum Suggestion {
    /// Such as `; did you mean order-7?`; empty where nothing is close.
    static func text(for name: String, among known: [String]) -> String {
        Spelling.closest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
    }
}
