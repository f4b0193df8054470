/// How long to wait before something is tried again: longer each time, and by chance, so that many clients do not come
/// back together.
package struct Backoff: Sendable, Hashable {
    /// The wait before the first further attempt, at most.
    package var first: Duration
    /// What the waits grow to, doubling.
    package var maximum: Duration

    package init(first: Duration, maximum: Duration) {
        self.first = first
        self.maximum = maximum
    }

    /// No first wait is longer, however it is multiplied.
    private static let longest = Duration.seconds(86_400 * 365)

    /// For commands that get no answer.
    package static func commands(first: Duration) -> Backoff {
        Backoff(first: first, maximum: max(first, .seconds(4)))
    }
    /// For pulls that fail.
    package static let pulls = Backoff(first: .milliseconds(200), maximum: .seconds(5))
    /// For joins that get no answer.
    package static let joins = Backoff(first: .seconds(1), maximum: .seconds(10))

    /// The wait before attempt `attempt` (1 is the first further one): between half and the whole of the doubled time.
    package func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(max(attempt - 1, 0), 20)
        let whole = min(min(first, Self.longest) * (1 << doublings), maximum)
        return whole / 2 + whole / 2 * Double.random(in: 0...1, using: &generator)
    }
}
