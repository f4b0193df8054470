package import IsletClient
import IsletFilter

/// Which rows a person wants to see: words that all must fit, each a text that stands anywhere in the row, or
/// `name=value` (`state`, `type` or `kind`, `device`, `key`, `app`, `family`), which means what it does in the lists'
/// grammar, but is a beginning while it is typed. With `~`, `!=`, `<`, `and` … the whole is of that grammar.
package struct TopFilter: Sendable, Hashable {
    /// Longer ones are cut.
    static let lengthMax = 200

    /// As it was typed.
    let text: String
    private let words: [String]
    private let fields: [Field]
    /// What the whole text means in the lists' grammar, where it is of that.
    private let expression: Filter?
    /// What all `name=value` beside words mean in it; nil where there are none.
    private let values: Filter?
    /// Whether it looks like one and is none, as while it is typed.
    private let isUnfinished: Bool
    /// Why it selects nothing that there can be, as while it is typed; nil: it is well.
    package let problem: String?

    private struct Field: Hashable {
        var name: String
        /// In lower case, as everything is compared.
        var value: String
        /// As it was typed.
        var spelled: String
    }

    /// The filter of what was typed; empty: all rows fit.
    package init(_ text: String = "") {
        let text = String(text.prefix(Self.lengthMax))
        self.text = text
        var problem: String?
        var expression: Filter?
        if Self.isExpression(text) {
            do throws(FilterError) {
                expression = try Filter(text, for: .top)
            } catch {
                problem = error.sentence
            }
        }
        self.expression = expression
        isUnfinished = problem != nil
        var words: [String] = []
        var fields: [Field] = []
        let simple = expression == nil ? text : Self.conjunction(text)
        for word in simple.split(separator: " ").map(String.init) {
            guard let equals = word.firstIndex(of: "="), Self.names.contains(String(word[..<equals])) else {
                words.append(word.lowercased())
                continue
            }
            let value = String(word[word.index(after: equals)...])
            fields.append(Field(name: String(word[..<equals]), value: value.lowercased(), spelled: value))
        }
        var values: Filter?
        if expression == nil, problem == nil, !fields.isEmpty {
            do throws(FilterError) {
                let terms = fields.map { "\($0.name)=\($0.spelled)" }
                values = try Filter(terms.joined(separator: " and "), for: .top)
            } catch {
                problem = error.message
            }
        }
        self.values = values
        self.problem = problem
        self.words = expression == nil ? words : []
        self.fields = fields
    }

    /// Everything follows from the text.
    package static func == (one: TopFilter, other: TopFilter) -> Bool { one.text == other.text }

    /// As `==`.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    private static let names: Set = ["severity", "what", "state", "type", "kind", "device", "key", "app", "family"]

    /// Whether it is of the lists' grammar, and not of words and `name=value` alone.
    private static func isExpression(_ text: String) -> Bool {
        text.hasPrefix("not ") || text.hasPrefix("(") || signs.contains { text.contains($0) }
            || text.split(separator: " ").contains { word in
                word.firstIndex(of: "=").map { !names.contains(String(word[..<$0])) } ?? false
            }
    }

    /// The parts of an expression that must all hold, as words; empty where it is not of that kind.
    private static func conjunction(_ text: String) -> String {
        let others = [" or ", "not ", "(", "!", "'", "\"", "\\"]
        return others.contains { text.contains($0) } ? "" : text
    }

    /// What only the lists' grammar has.
    private static let signs = ["!=", "~", "<", ">", "(", " and ", " or ", "='", "=\""]

    var isEmpty: Bool { words.isEmpty && fields.isEmpty && expression == nil }

    /// Whether a row fits.
    ///
    /// - Parameters:
    ///   - cells: what the row shows.
    ///   - isTyping: a value that is not finished fits as a beginning.
    ///   - now: domain time in milliseconds since 1970.
    package func matches(
        _ row: RawObject, _ tab: TopTab, cells: [String], isTyping: Bool, now: Int64 = 0
    ) -> Bool {
        if let expression { return expression.matches(row, now: now) }
        guard !isEmpty, !(isUnfinished && isTyping) else { return true }
        if isTyping {
            let fits = fields.allSatisfy { row[$0.name]?.string?.lowercased().hasPrefix($0.value) ?? $0.value.isEmpty }
            guard fits else { return false }
        } else if !fields.isEmpty {
            guard let values, values.matches(row, now: now) else { return false }
        }
        guard !words.isEmpty else { return true }
        let text = (cells + [row["app"]?.string, row["id"]?.string].compactMap(\.self)).joined(separator: "\n")
            .lowercased()
        return words.allSatisfy(text.contains)
    }

    /// The fields of the list's command that say the same, so that what fits is found among all that there are.
    package func fields(for tab: TopTab) -> RawObject {
        var result = RawObject()
        for field in fields where Self.isName(field.spelled) {
            switch field.name {
            case "state" where tab.states.contains(field.spelled): result["state"] = .string(field.spelled)
            case tab.kindMember where tab.family != nil: result[tab.kindMember] = .string(field.spelled)
            case "device" where tab.family != nil: result["device"] = .string(field.spelled)
            // The service takes it as a beginning, which is enough to find it.
            case "key" where tab == .activities: result["key"] = .string(field.spelled)
            case "family" where tab == .widgets: result["family"] = .string(field.spelled)
            case _: break
            }
        }
        return result
    }

    /// The one word of a filter that may be the beginning of a key.
    package var possibleKey: String? {
        guard fields.isEmpty, words.count == 1 else { return nil }
        let word = text.split(separator: " ").joined()
        return Self.isName(word) ? word : nil
    }

    /// The app that it names, where there can be such a one.
    var app: String? { fields.first { $0.name == "app" && ContextBook.isApp($0.spelled) }?.spelled }

    /// Whether it asks for what problems alone have.
    var isOfProblems: Bool {
        let asked = Set(fields.map(\.name)).union(expression?.members ?? [])
        return !asked.isDisjoint(with: ["severity", "what"])
    }

    /// Whether an app is to be asked.
    package func includes(app: String) -> Bool {
        fields.allSatisfy { $0.name != "app" || app == $0.spelled }
    }

    /// Whether the contract takes it as a name.
    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "-")].contains(byte)
            }
    }
}
