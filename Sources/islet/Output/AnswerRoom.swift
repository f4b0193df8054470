import IsletClient

/// How much of the past an answer to `history` or `explain` has room for: the newest events or decisions. Where it is
/// full, older ones may be kept all the same.
enum AnswerRoom {
    /// No answer has more events or decisions.
    private static let rowsMax = 1_000
    /// What is left out for its bytes leaves at least so many of the 1 MiB that an answer has at most.
    private static let bytesLeast = 400_000

    /// Whether older rows may be kept that the answer had no room for.
    static func isFull(_ rows: [RawJSON]) -> Bool {
        rows.count >= rowsMax || rows.reduce(0) { $0 + $1.bytes.count } >= bytesLeast
    }
}
