import IsletClient

/// What `islet check` has found.
struct CheckReport: Sendable {
    /// One figure and what it is worth.
    struct Figure: Sendable {
        /// As programs read it, such as `lateness_p99`.
        let name: String
        /// As people read it.
        let title: String
        let value: Int64
        let unit: CheckUnit
        let threshold: Threshold

        var status: CheckStatus { threshold.status(of: value) }

        /// Such as `lateness p99 2.3 s, critical above 1 s`.
        var complaint: String {
            guard status != .ok else { return "\(title) \(unit.text(value))" }
            let limit = status == .critical ? threshold.critical : threshold.warning
            let side = threshold.isMinimum ? "below" : "above"
            let bound = limit.map { ", \(status.name) \(side) \(unit.text($0))" } ?? ""
            return "\(title) \(unit.text(value))\(bound)"
        }
    }

    /// Something that is wrong without a figure.
    struct Problem: Sendable {
        let status: CheckStatus
        let text: String
    }

    var figures: [Figure] = []
    var problems: [Problem] = []

    /// The worst of all.
    var status: CheckStatus {
        let all = problems.map(\.status) + figures.map(\.status)
        for status in [CheckStatus.critical, .warning, .unknown] where all.contains(status) { return status }
        return .ok
    }

    /// What is wrong, the worst first.
    var complaints: [String] {
        [CheckStatus.critical, .warning, .unknown].flatMap { status in
            problems.filter { $0.status == status }.map(\.text)
                + figures.filter { $0.status == status }.map(\.complaint)
        }
    }

    /// One sentence for people.
    var sentence: String {
        let told = complaints.isEmpty ? figures.prefix(Self.figuresTold).map(\.complaint) : complaints
        return told.isEmpty ? "nothing was judged" : told.joined(separator: "; ")
    }

    /// How many figures are told where all is well.
    private static let figuresTold = 4
}

/// A report as monitoring systems read it.
enum CheckText {
    /// One line with performance data after a bar, as the Monitoring Plugins' guidelines have it.
    static func line(_ report: CheckReport) -> String {
        let head = "ISLET \(report.status.name.uppercased()): \(report.sentence)"
        guard !report.figures.isEmpty else { return head }
        let data = report.figures.map { figure in
            let limits = [figure.threshold.warning, figure.threshold.critical].map { limit in
                // `10:` is their way to say that what is below 10 is bad.
                limit.map { figure.threshold.isMinimum ? "\($0):" : "\($0)" } ?? ""
            }
            return "\(figure.name)=\(figure.value)\(figure.unit.rawValue);\(limits[0]);\(limits[1]);0"
        }
        return "\(head) | \(data.joined(separator: " "))"
    }

    /// One JSON object.
    static func json(_ report: CheckReport) -> RawJSON {
        let figures = report.figures.map { figure in
            var members: [RawObject.Member] = [
                .init("name", .string(figure.name)), .init("status", .string(figure.status.name)),
                .init("value", .integer(figure.value)), .init("unit", .string(figure.unit.rawValue)),
            ]
            if let warning = figure.threshold.warning { members.append(.init("warning", .integer(warning))) }
            if let critical = figure.threshold.critical { members.append(.init("critical", .integer(critical))) }
            if figure.threshold.isMinimum { members.append(.init("isMinimum", .bool(true))) }
            return RawJSON.object(members)
        }
        return .object([
            .init("status", .string(report.status.name)), .init("code", .integer(report.status.rawValue)),
            .init("text", .string(report.sentence)),
            .init("problems", .array(report.complaints.map(RawJSON.string))), .init("figures", .array(figures)),
        ])
    }

    /// Prometheus' text format, as a node exporter's textfile collector reads it.
    static func prometheus(_ report: CheckReport) -> [String] {
        var lines = metric(
            "islet_check_status", "What islet check says: 0 ok, 1 warning, 2 critical, 3 unknown.",
            [("", "\(report.status.rawValue)")])
        lines += metric(
            "islet_check_figure_status", "What each figure is worth: 0 ok, 1 warning, 2 critical.",
            report.figures.map { ("{figure=\"\($0.name)\"}", "\($0.status.rawValue)") })
        for figure in report.figures {
            let (suffix, divisor) = figure.unit.base
            let value = divisor == 1 ? "\(figure.value)" : "\(Double(figure.value) / divisor)"
            lines += metric("islet_check_\(figure.name)\(suffix)", "The \(figure.title).", [("", value)])
        }
        return lines
    }

    private static func metric(_ name: String, _ help: String, _ samples: [(labels: String, value: String)]) -> [String]
    {
        guard !samples.isEmpty else { return [] }
        return ["# HELP \(name) \(help)", "# TYPE \(name) gauge"] + samples.map { "\(name)\($0.labels) \($0.value)" }
    }
}
