import IsletClient

/// The service's time, waited for by asking the service: it need not run as fast as it was told.
struct DemoClock: Sendable {
    let connection: IsletConnection
    /// How fast it should run; only how long to sleep before the next look depends on it.
    let speed: Double

    /// No sleep is longer, so that a clock that was moved is noticed, nor shorter.
    private static let sleepRange = 0.005...2.0

    func now() async throws -> Int64 {
        try await connection.now()
    }

    /// Returns when the service's time has reached this date.
    func wait(until date: Int64) async throws {
        while true {
            let rest = Double(date - (try await now())) / 1_000 / speed
            guard rest > 0 else { return }
            try await Task.sleep(for: .seconds(min(max(rest, Self.sleepRange.lowerBound), Self.sleepRange.upperBound)))
        }
    }
}
