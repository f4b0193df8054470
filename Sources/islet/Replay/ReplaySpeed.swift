import ArgumentParser

/// How fast a recording is played: `1`, `10`, `0.5`, `max`.
enum ReplaySpeed: ExpressibleByArgument, Equatable {
    case times(Double)
    case max

    init?(argument: String) {
        guard argument != "max" else {
            self = .max
            return
        }
        guard let number = Double(argument.hasSuffix("x") ? argument.dropLast() : argument[...]), number.isFinite,
            (1e-6...1e9).contains(number)
        else { return nil }
        self = .times(number)
    }

    /// nil for as fast as can be.
    var factor: Double? {
        switch self {
        case .times(let number): number
        case .max: nil
        }
    }

    /// Such as `×10`.
    var text: String {
        switch self {
        case .times(let number): "×" + (Int(exactly: number).map(RecoveryText.grouped) ?? "\(number)")
        case .max: "as fast as it went"
        }
    }
}
