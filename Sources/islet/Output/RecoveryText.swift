import IsletServer

/// What a start brought back, as a line for people.
enum RecoveryText {
    /// Such as `recovered 1 000 000 activities in 1.4 s; 37 deadlines were due while down, oldest late by 4.2 s`.
    static func line(_ report: RecoveryReport, in duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
        let what = counted(report.activities, "activity", "activities")
        let line = "recovered \(what) in \(TimeText.span(milliseconds)); "
        guard report.overdue > 0 else { return line + "no deadline was due while down" }
        let were = report.overdue == 1 ? "was" : "were"
        return line + "\(counted(report.overdue, "deadline", "deadlines")) \(were) due while down, "
            + "oldest late by \(TimeText.span(report.oldestLateBy))"
    }

    /// `1 deadline`, `1 200 deadlines`.
    static func counted(_ count: Int, _ one: String, _ many: String) -> String {
        "\(grouped(count)) \(count == 1 ? one : many)"
    }

    /// `1 000 000`.
    static func grouped(_ number: Int) -> String {
        var groups: [Substring] = []
        var rest = Substring(String(number))
        while rest.count > 3 {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return ([rest] + groups).joined(separator: " ")
    }
}
