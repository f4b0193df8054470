import FoundationEssentials

/// The weather of the demo, which is the same each time it is asked for.
struct DemoWeather: Codable, Sendable {
    static let cities = ["berlin", "paris", "tokyo"]

    /// Degrees Celsius.
    var celsius: Int
    var sky: Sky

    enum Sky: String, Codable, Sendable {
        case sunny, cloudy, rain
    }

    /// That of a city in the hour of a date.
    init(in city: String, at date: Date) {
        let hour = Int((date.timeIntervalSince1970 / 3_600).rounded(.down))
        let place = Self.cities.firstIndex(of: city) ?? 0
        // The most at 15 o'clock.
        let warmth = abs((hour + 24 - 15) % 24 - 12)
        celsius = 8 + place * 3 + warmth
        sky =
            switch (hour * 7 + place * 3) % 10 {
            case 0, 5: .rain
            case 1...4: .cloudy
            case _: .sunny
            }
    }

    /// How much it matters: rain does.
    var score: Float {
        switch sky {
        case .rain: 30
        case .sunny, .cloudy: 10
        }
    }
}
