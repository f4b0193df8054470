import FoundationEssentials

/// One flight of the demo: one leaves every two hours.
struct DemoFlight: Sendable {
    /// Counts them since 1970.
    let number: Int

    private static let interval: TimeInterval = 2 * 3_600

    /// The flight that matters at a date.
    init(at date: Date) {
        number = Int((date.timeIntervalSince1970 / Self.interval).rounded(.down))
    }

    /// Such as `IS 204`.
    var name: String { "IS \(number % 900 + 100)" }

    /// When the next one matters.
    var end: Date { at(minutes: Self.interval / 60) }

    /// What becomes of it, by date.
    var steps: [(date: Date, status: Status)] {
        [(0, .scheduled), (20, .boarding), (50, .departed), (90, .landed)].map { (at(minutes: $0), $1) }
    }

    private func at(minutes: Double) -> Date {
        Date(timeIntervalSince1970: Double(number) * Self.interval + minutes * 60)
    }

    /// Where it stands.
    enum Status: String, Codable, Sendable {
        case scheduled, boarding, departed, landed

        /// How much it matters against the other steps: nothing more than boarding.
        var score: Float {
            switch self {
            case .scheduled: 0
            case .boarding: 100
            case .departed: 40
            case .landed: 20
            }
        }
    }
}
