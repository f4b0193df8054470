import ArgumentParser
import IsletClient
import IsletFilter
import IsletServer

/// `islet rules`: what the rules say that explanations name.
struct Rules: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the rules that explanations name.",
        discussion: """
            EXAMPLES:
              islet rules                        all of them
              islet rules staleDateReached       the one that islet explain has named,
                                                 with what to do about it
              islet rules --filter 'family=widget and setting'
              islet rules --json | jq -r '[.name, .setting] | @tsv'

            With a name it says when the rule applies, what follows, and on what it rests.
            FROM is Apple where it follows ActivityKit or WidgetKit, else the rule set or
            this service. SETTING is the member of the rule set that it depends on: islet
            info shows its value, ruleSet in the configuration file changes it. It asks no
            service: these are the rules of this version.
            """)

    @Argument(
        help: ArgumentHelp("What a rule is called; without one: all.", valueName: "name"),
        completion: .list(Set(RuleBook.all.map(\.name)).sorted()))
    var name: String?

    @OptionGroup var filter: FilterOption<RuleRows>
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let filter = filter.filter
        let named = RuleBook.all.filter { name == nil || $0.name.lowercased() == name?.lowercased() }
        if let name, named.isEmpty {
            let hint = Self.hint(for: name)
            throw Failure(.notFound, "no rule is called '\(name)'\(hint) (notFound)")
        }
        let rows = named.map(\.object).filter { filter?.matches($0, now: 0) ?? true }
        try await RowOutput.write(rows, output, name: { $0["name"]?.string ?? "?" }) { isWide in
            name == nil ? Self.table(rows, isWide: isWide).lines(style: .output) : Array(rows.map(Self.details).joined(separator: [""]))
        }
        Console.message(ShownCount.line(rows.count, of: Int64(named.count), "rule"))
    }

    /// The rules whose names have it in them, or the one that is spelled much like it.
    private static func hint(for name: String) -> String {
        let names = Set(RuleBook.all.map(\.name)).sorted()
        let having = names.filter { $0.lowercased().contains(name.lowercased()) }.prefix(maximumHints)
        guard !having.isEmpty else { return Suggestion.text(for: name, among: names) }
        return "; did you mean \(having.joined(separator: " or "))?"
    }

    private static let maximumHints = 4

    /// Everything about one rule.
    private static func details(_ row: RawObject) -> [String] {
        func text(_ name: String) -> String { row[name]?.string ?? "-" }
        let basis = RuleDetail.Basis(rawValue: text("basis"))?.text ?? text("basis")
        var lines = ["\(text("name")), a rule of \(families[text("family")] ?? "-")"]
        let words = text("text")
        let sentence = words.hasSuffix(".") ? words : "\(words.prefix(1).uppercased())\(words.dropFirst())."
        lines += "\(sentence) \(text("detail"))".wrapped(toColumns: columns - 2).map { line in
            "  " + (line.hasSuffix(" ") ? line.dropLast() : line[...])
        }
        lines += ["  basis    \(basis)", "  source   \(text("source"))"]
        if let setting = row["setting"]?.string {
            lines.append("  setting  \(setting) (islet info --json shows its value)")
        }
        return lines
    }

    private static let families = ["activity": "activities", "control": "controls", "widget": "widgets"]

    /// A help page's.
    private static let columns = 80

    private static func table(_ rows: [RawObject], isWide: Bool) -> TextTable {
        var table = TextTable("RULE", "OF", "FROM", "SETTING", "WHAT IT SAYS", more: isWide ? ["SOURCE"] : [])
        for row in rows {
            func text(_ name: String) -> String { row[name]?.string ?? "-" }
            table.add(
                text("name"), text("family"), text("origin"), text("setting"), text("text"),
                more: isWide ? [text("source")] : [])
        }
        return table
    }
}
