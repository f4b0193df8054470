/// Figures in few characters.
package enum TopText {
    /// `12 031`.
    package static func count(_ number: Int64) -> String {
        number < 0 ? "-" + RecoveryText.grouped(Int(clamping: number.magnitude)) : RecoveryText.grouped(Int(number))
    }

    /// A number in a second: `0`, `0.4`, `12`, `1 204`, and `-` where it is not known.
    package static func rate(_ rate: Double?) -> String {
        guard let rate else { return "-" }
        if rate >= 9.95 || rate == 0 { return count(Int64(clamped: rate)) }
        let tenths = Int64((rate * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    /// A span of milliseconds: `0`, `0.04`, `0.4`, `12`, `1204`.
    package static func milliseconds(_ value: Double) -> String {
        if value >= 9.95 || value == 0 { return String(Int64(clamped: value)) }
        let hundredths = Int64(clamped: value * 100)
        if hundredths >= 100 {
            let tenths = (hundredths + 5) / 10
            return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        }
        guard hundredths > 0 else { return "0.01" }
        return hundredths % 10 == 0 ? "0.\(hundredths / 10)" : "0." + (hundredths < 10 ? "0" : "") + "\(hundredths)"
    }

    /// A length of time in one unit: `3s`, `12m`, `7h`, `2d`.
    package static func age(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        switch seconds {
        case ..<100: return "\(seconds)s"
        case ..<6_000: return "\(seconds / 60)m"
        case ..<172_800: return "\(seconds / 3_600)h"
        case _: return "\(seconds / 86_400)d"
        }
    }

    /// Bytes: `812 kB`, `61 MB`, `1.4 GB`.
    package static func bytes(_ bytes: Int64) -> String {
        switch bytes {
        case ..<1_000_000: "\(bytes / 1_000) kB"
        case ..<1_000_000_000: "\(bytes / 1_000_000) MB"
        case _: "\(bytes / 1_000_000_000).\(bytes % 1_000_000_000 / 100_000_000) GB"
        }
    }
}
