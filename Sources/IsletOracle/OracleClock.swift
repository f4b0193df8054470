/// Domain time as the contract and the documents describe it, told from the readings of the machine's clocks alone.
///
/// The service says which time it is in every event; this is what it has to say.
package struct OracleClock: Sendable {
    /// A wall clock that is set forward by more milliseconds is doubted.
    private static let doubtfulStep: Int64 = 60_000
    /// For so many milliseconds of real time; then it is believed.
    private static let doubtLasts: Int64 = 30_000

    private let isManual: Bool
    package private(set) var now: Int64
    /// Where the wall clock stood at the last reading that was believed, and real time then.
    private var believed: (wall: Int64, monotonic: Int64)?
    private var doubtedFrom: Int64?

    /// A process starts.
    ///
    /// - Parameters:
    ///   - start: where a manual clock begins.
    ///   - kept: the domain time that the disk holds.
    package init(isManual: Bool, from start: Int64, kept: Int64) {
        self.isManual = isManual
        now = isManual ? max(start, kept) : kept
    }

    /// The process reads its clocks.
    ///
    /// - Returns: which time it is.
    @discardableResult
    package mutating func read(wall: Int64, monotonic: Int64) -> Int64 {
        guard !isManual else { return now }
        // Where it would stand if nobody had set it.
        let undisturbed = believed.map { $0.wall + (monotonic - $0.monotonic) } ?? wall
        if wall > undisturbed + Self.doubtfulStep {
            let since = doubtedFrom ?? monotonic
            if monotonic < since + Self.doubtLasts {
                doubtedFrom = since
                now = max(now, undisturbed)
                return now
            }
        }
        doubtedFrom = nil
        believed = (wall, monotonic)
        // Set back, it stands still until the wall has caught up.
        now = max(now, wall)
        return now
    }

    /// A manual clock was moved.
    package mutating func stand(at time: Int64) { now = max(now, time) }
}
