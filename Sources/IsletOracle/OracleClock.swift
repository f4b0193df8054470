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
    /// What the wall clock and the monotonic one showed together.
    private struct Pair {
        let wall: Int64
        let monotonic: Int64

        /// Where the wall clock would stand later if nobody had set it.
        func undisturbed(_ later: Int64) -> Int64 { wall + (later - monotonic) }
    }

    /// The last reading that was believed.
    private var believed: Pair?
    /// The last one at which domain time was the wall clock's.
    private var inStep: Pair?
    /// The first reading after the step that is doubted.
    private var doubted: Pair?

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
        if let believed, let inStep, wall > inStep.undisturbed(monotonic) + Self.doubtfulStep {
            // Another step is doubted for as long as the first one.
            var step = doubted ?? Pair(wall: wall, monotonic: monotonic)
            let apart = wall - step.undisturbed(monotonic)
            if max(apart, -apart) > Self.doubtfulStep { step = Pair(wall: wall, monotonic: monotonic) }
            if monotonic < step.monotonic + Self.doubtLasts {
                doubted = step
                now = max(now, believed.undisturbed(monotonic), inStep.undisturbed(monotonic))
                return now
            }
        }
        doubted = nil
        let read = Pair(wall: wall, monotonic: monotonic)
        believed = read
        // Set back, it stands still until the wall has caught up.
        if inStep == nil || wall >= now { inStep = read }
        now = max(now, wall)
        return now
    }

    /// A manual clock was moved.
    package mutating func stand(at time: Int64) { now = max(now, time) }
}
