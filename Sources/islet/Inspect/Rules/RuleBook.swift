package import IsletClient
import IsletCore

/// Every rule that a decision can name, from the service's own tables.
package enum RuleBook {
    /// One rule, for a person who asks what it says and where it comes from.
    package struct Entry: Sendable, Hashable {
        /// What it decides about: `activity`, `control` or `widget`.
        package let family: String
        /// What people call it, such as `staleDateReached`.
        package let name: String
        /// What it says.
        package let text: String
        /// As `explain` of the contract names it.
        package let source: String
        /// The member of the rule set that it depends on.
        package let setting: String?
        /// When it applies, what follows, and what to do about it.
        package let detail: RuleDetail

        /// Who made it.
        package var origin: String {
            if source.hasPrefix("apple-semantics") { return "Apple" }
            return source.hasPrefix(RuleBook.ruleSet) ? "rule set" : "Islet"
        }

        /// The name, and what it depends on.
        package var shown: String { name + (setting.map { " (setting \($0))" } ?? "") }

        /// As an object of the command's own, for `--json` and filters.
        package var object: RawObject {
            var object: RawObject = [
                "name": .string(name), "family": .string(family), "origin": .string(origin), "text": .string(text),
                "source": .string(source), "detail": .string(detail.text), "basis": .string(detail.basis.rawValue),
            ]
            object["setting"] = setting.map(RawJSON.string)
            return object
        }
    }

    /// All of them, family after family.
    package static let all: [Entry] =
        Rule.allCases.map { entry("activity", "\($0)", $0.text, $0.source, $0.detail, activitySettings) }
        + ControlRule.allCases.map { entry("control", "\($0)", $0.text, $0.source, $0.detail, controlSettings) }
        + WidgetRule.allCases.map { entry("widget", "\($0)", $0.text, $0.source, $0.detail, widgetSettings) }

    /// What a decision names; nil for a rule of another version.
    ///
    /// - Parameters:
    ///   - source: the decision's `rule`, which several may have.
    ///   - text: its `text`, which tells them apart.
    package static func entry(source: String, text: String) -> Entry? { byWords[[source, text]] }

    private static let byWords = Dictionary(all.map { ([$0.source, $0.text], $0) }) { first, _ in first }
    private static let ruleSet = "rule set "

    private static func entry(
        _ family: String, _ name: String, _ text: StaticString, _ source: StaticString, _ detail: RuleDetail,
        _ settings: [String: String]
    ) -> Entry {
        let source = "\(source)"
        let named = source.hasPrefix(ruleSet) ? String(source.dropFirst(ruleSet.count)) : nil
        return Entry(
            family: family, name: name, text: "\(text)", source: source, setting: named ?? settings[name],
            detail: detail)
    }

    // What Apple's rules depend on here.

    private static let activitySettings = [
        "startedAtOnce": "activeLimit", "activeLimitReached": "activeLimit", "endedByDefault": "dismissalLimit",
        "endedAfterDate": "dismissalLimit", "futureTimestamp": "futureTimestampLimit",
        "endedByOlderPush": "pushEndAcceptsOlderTimestamp", "contentLimit": "contentLimit",
        "maximumPerApp": "maximumPerApp", "maximumPerDevice": "maximumPerDevice",
    ]
    private static let controlSettings = ["authenticationRequired": "authenticationLimit"]
    private static let widgetSettings = [
        "budgetSpent": "widgetDailyBudget", "learningBudget": "widgetLearningBudget",
        "entriesCoalesced": "widgetEntrySpacing", "developerMode": "widgetDeveloperMode",
        "jittered": "widgetReloadJitter",
    ]
}
