import IsletFilter

/// From where on a figure is worth a warning, and from where on it is critical.
struct Threshold: Equatable, Sendable {
    var warning: Int64?
    var critical: Int64?
    /// Whether what is below is bad, instead of what is above.
    var isMinimum = false

    /// Reads `WARN:CRIT`, either of which may be left out; `off` judges nothing.
    ///
    /// - Throws: a `Failure` that says how to write it.
    static func reading(_ text: String, option: String, unit: CheckUnit, isMinimum: Bool) throws -> Threshold {
        if text == "off" { return Threshold(isMinimum: isMinimum) }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let values = parts.map { unit.value($0) }
        let isWhole = parts.count == 2 && zip(parts, values).allSatisfy { $0.isEmpty || $1 != nil } && text != ":"
        guard isWhole else {
            throw CheckProblem("--\(option) wants WARN:CRIT such as \(unit.example), or off: '\(text)'")
        }
        let threshold = Threshold(warning: values[0], critical: values[1], isMinimum: isMinimum)
        if let warning = threshold.warning, let critical = threshold.critical {
            let isInOrder = isMinimum ? warning >= critical : warning <= critical
            guard isInOrder else {
                throw CheckProblem(
                    "--\(option) warns only where it is critical already: WARN is \(isMinimum ? "below" : "above") "
                        + "CRIT in '\(text)'")
            }
        }
        return threshold
    }

    /// What a value is worth.
    func status(of value: Int64) -> CheckStatus {
        func isPast(_ limit: Int64?) -> Bool { limit.map { isMinimum ? value < $0 : value > $0 } ?? false }
        if isPast(critical) { return .critical }
        return isPast(warning) ? .warning : .ok
    }
}

extension CheckUnit {
    /// How thresholds are written.
    fileprivate var example: String {
        switch self {
        case .milliseconds, .microseconds: "250ms:2s"
        case .bytes: "1GiB:2GiB"
        case .percent: "80:95"
        case .count: "1:10"
        }
    }
}

/// Why nothing can be judged.
struct CheckProblem: Error {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// What monitoring systems know: the exit code is the raw value.
enum CheckStatus: Int32, Sendable {
    case ok, warning, critical, unknown

    var name: String {
        switch self {
        case .ok: "ok"
        case .warning: "warning"
        case .critical: "critical"
        case .unknown: "unknown"
        }
    }
}
