import IsletClient

/// The rows of `problem.list` as people read them.
struct ProblemsText {
    private let now: Int64
    private let style: Style

    init(now: Int64, style: Style) {
        self.now = now
        self.style = style
    }

    /// A table of the problems; nothing where there are none.
    func table(_ rows: [RawObject], isWide: Bool) -> [String] {
        guard !rows.isEmpty else { return [] }
        let more = isWide ? ["KIND", "ID", "DEVICE", "STATE", "UNTIL"] : []
        var table = TextTable("SEVERITY", "WHAT", "NAME", "APP", "SINCE", more: more + ["WHY"])
        for row in rows {
            let wide = [
                row["kind"]?.string ?? "-", row["id"]?.string ?? "-", row["device"]?.string ?? "-",
                row["state"]?.string ?? "-", row["until"]?.integer.map { TimeText.distance(to: $0, now: now) } ?? "-",
            ]
            table.add(
                row["severity"]?.string ?? "?", row["what"]?.string ?? "?", Self.name(row), row["app"]?.string ?? "-",
                row["since"]?.integer.map { TimeText.distance(to: $0, now: now) } ?? "-",
                more: (isWide ? wide : []) + [Self.why(row)])
        }
        return table.lines(style: style)
    }

    /// What to do, once for each sort of problem.
    func advice(_ rows: [RawObject]) -> [String] {
        var seen: Set<String> = []
        var lines: [String] = []
        for row in rows {
            guard let advice = row["advice"]?.string, seen.insert(advice).inserted else { continue }
            let what = row["what"]?.string ?? "?"
            lines.append("\(what.printable.padded(to: Self.whatWidth)) \(advice.printable)")
        }
        return lines.isEmpty ? [] : ["", style.dim("WHAT TO DO")] + lines
    }

    /// As long as the longest sort.
    private static let whatWidth = 9

    /// The place of a problem among others, the worst first: what is about more than one entity comes before single ones,
    /// then what has lasted longest.
    static func order(_ row: RawObject) -> Int64 {
        let severities = ["critical", "warning", "notice"]
        let severity = severities.firstIndex(of: row["severity"]?.string ?? "") ?? severities.count
        let isOfEntity = [Activities.noun, Controls.noun, Widgets.noun].contains(row["family"]?.string)
        let since = min(max(row["since"]?.integer ?? .max, 0), (1 << 50) - 1)
        return Int64(severity) << 52 | (isOfEntity ? 1 << 51 : 0) | since
    }

    /// What other subcommands take for it: the key of an activity that is on no device, else the id, else the kind.
    static func address(_ row: RawObject) -> String {
        let key = row["device"]?.string == nil ? row["key"]?.string : nil
        return key ?? row["id"]?.string ?? row["kind"]?.string ?? row["family"]?.string ?? "?"
    }

    /// `activity order-7`, `widget Flight/27e5fe81cfb1`, `kind Torch`, `provider 27e5fe81cfb1`, `journal`.
    static func name(_ row: RawObject) -> String {
        let family = row["family"]?.string ?? "?"
        if let key = row["key"]?.string { return "\(family) \(key)" }
        switch (row["kind"]?.string, row["id"]?.string) {
        case (let kind?, nil): return "\(family) \(PlacedText.shortKind(kind))"
        case (_?, _?): return "\(family) \(PlacedText.name(row))"
        case (nil, let id?): return "\(family) \(EntityText.isID(id) ? EntityText.shortID(id) : id)"
        case (nil, nil): return family
        }
    }

    /// What is wrong, how it failed, and how many there are.
    static func why(_ row: RawObject) -> String {
        let failure = PlacedText.failureWords(row).map { ": \($0)" } ?? ""
        let count = row["count"]?.integer.map { " (\(RecoveryText.grouped(Int(clamping: $0))))" } ?? ""
        return (row["text"]?.string ?? "?") + failure + count
    }

    /// Such as `showing 50 of 61 problems: 1 critical, 12 warnings, 48 notices`.
    static func total(_ answer: Answer, shown: Int, _ filters: KeyValuePairs<String, String?>) -> String {
        let counts = answer["counts"]?.object ?? [:]
        let told = [("critical", "critical"), ("warning", "warning"), ("notice", "notice")].compactMap { name, noun in
            let count = counts[name]?.integer ?? 0
            guard count > 0 else { return nil as String? }
            let plural = count == 1 || name == "critical" ? "" : "s"
            return "\(RecoveryText.grouped(Int(clamping: count))) \(noun)\(plural)"
        }
        let line = ShownCount.line(
            shown, of: answer["total"]?.integer, "problem", isExact: answer["exact"]?.bool ?? true, filters: filters)
        return told.isEmpty ? line : "\(line): \(told.joined(separator: ", "))"
    }

    /// Such as ` (activity 1 001, kind 1)`.
    static func byFamily(_ counts: [(family: String, count: Int64)]) -> String {
        let told = counts.map { "\($0.family) \(RecoveryText.grouped(Int(clamping: $0.count)))" }
        return told.isEmpty ? "" : " (\(told.joined(separator: ", ")))"
    }

    /// Whether it is that of a full disk, while which the service looks at nothing that is on it.
    static func isDiskFull(_ row: RawObject) -> Bool {
        row["family"]?.string == "journal" && row["what"]?.string == "full" && row["severity"]?.string == "critical"
    }

    /// What the worst is worth, where so many are of each severity.
    static func worst(counts: RawObject) -> CheckStatus {
        if counts["critical"]?.integer ?? 0 > 0 { return .critical }
        return counts["warning"]?.integer ?? 0 > 0 ? .warning : .ok
    }

    /// What the worst of some is worth.
    static func worst(of rows: [RawObject]) -> CheckStatus {
        let severities = Set(rows.compactMap { $0["severity"]?.string })
        if severities.contains("critical") { return .critical }
        return severities.contains("warning") ? .warning : .ok
    }
}
