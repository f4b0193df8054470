/// Which rule an event of a widget is made by: copied by hand from apple-semantics 5 and the contract.
extension WidgetPassages {
    /// Of a request that becomes one with a reload that is held.
    static let merged = "a request over the budget is held and merged, never lost"
    /// What may be done to a timeline that comes, as its event names it, and the rule of that.
    static let asides = [
        "pastEntriesDropped": "contract, entries in the past", "entriesCoalesced": "apple-semantics 5 entry spacing",
    ]

    /// The rules of which one made it: more than one where the event does not tell.
    static func rules(_ passage: WidgetPassage) -> [String] {
        switch passage.name {
        case "entry": entryRules(passage)
        case "held": heldRules(passage)
        default: rule(passage).map { [$0] } ?? []
        }
    }

    /// The event does not tell whether the budget that is spent is that of the first days.
    private static func heldRules(_ passage: WidgetPassage) -> [String] {
        passage.after["held"]?["reason"] == .string("budget")
            ? ["apple-semantics 5 budget", "apple-semantics 5 learning"] : ["rule set widgetReloadSpacing"]
    }

    /// An entry that comes later than its date, or with others that are passed over, stands for several.
    private static func entryRules(_ passage: WidgetPassage) -> [String] {
        let (alone, several) = ("apple-semantics 5 TimelineEntry", "apple-semantics 5 entry spacing")
        guard let date = passage.after["entry"]?["date"]?.integer, let lateBy = passage.event["lateBy"]?.integer,
            let index = passage.after["entryIndex"]?.integer
        else { return [] }
        if passage.at - lateBy > date { return [several] }
        // The clock may have come to the dates of those before it only now.
        return index == (passage.before["entryIndex"]?.integer ?? -1) + 1 ? [alone] : [alone, several]
    }

    private static func rule(_ passage: WidgetPassage) -> String? {
        switch passage.name {
        case "added": "apple-semantics 5 installs"
        case "configured":
            passage.cause == "configuration" ? "apple-semantics 5 AppIntentTimelineProvider" : "contract, rendering"
        case "reloading": reloads[passage.cause]
        case "timeline":
            passage.after["needsLogin"] == .bool(true)
                ? "apple-semantics 5 onboarding" : "apple-semantics 5 getTimeline"
        case "failed":
            if passage.from == "acting" {
                passage.cause == "recovery" ? "an action is performed at most once" : "apple-semantics 5 exempt"
            } else {
                "apple-semantics 5 error"
            }
        case "acting", "performed": "apple-semantics 5 exempt"
        case "tapped": "apple-semantics 5 deep links"
        case "rotated": "apple-semantics 5 Smart Stack"
        case "removed": "contract, widget.remove"
        default: nil
        }
    }

    private static let reloads = [
        "request": "apple-semantics 5 WidgetCenter", "push": "apple-semantics 5 widget push iOS 26",
        "visible": "apple-semantics 5 other system reloads", "location": "apple-semantics 5 other system reloads",
        "locale": "apple-semantics 5 exempt", "appearance": "apple-semantics 5 exempt",
        "foreground": "apple-semantics 5 exempt", "session": "apple-semantics 5 exempt",
        "standBy": "apple-semantics 5 exempt", "action": "apple-semantics 5 exempt",
        "recovery": "apple-semantics 5 exempt", "developerMode": "apple-semantics 5 not enforced",
        "atEnd": "apple-semantics 5 policy .atEnd", "after": "apple-semantics 5 policy .after(date)",
        "retry": "rule set widgetRetryFirst", "held": merged, "registration": whoHadNobody,
        "providerLost": whoHadNobody,
    ]
    private static let whoHadNobody = "who had nobody to ask is asked for again"
}
