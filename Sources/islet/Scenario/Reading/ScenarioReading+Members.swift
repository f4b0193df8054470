import IsletClient
import IsletFilter

/// What members can be. One that there cannot be is always absent, and a word that there cannot be is never said: to
/// expect it, or its opposite, would look at nothing.
extension ScenarioReading {
    static let subjects: [String: FilterSubject] = [
        "activity": .activity, "control": .control, "widget": .widget, "group": .groupItem,
    ]

    /// What a member of an answer can be; where nothing is known before, a user's own.
    static func kind(ofAnswer name: String) -> FilterKind {
        switch name {
        case "activity", "control", "widget": .object(subjects[name]?.members ?? [], words: [])
        case "activities": .object(FilterSubject.presentedActivity.members, words: [])
        case "controls": .object(FilterSubject.control.members, words: [])
        case "widgets": .object(FilterSubject.widget.members, words: [])
        case "group": .object(FilterSubject.groupItem.members + groupMembers, words: [])
        case "error": .object(errorMembers, words: [])
        case "outcome": .words(["applied", "ignored"])
        case "reason", "ignored": .words(reasons)
        case "ok": .flag
        case "seq", "now", "count": .number
        case _: .payload
        }
    }

    /// What `group.info` says of a group itself.
    private static let groupMembers: [FilterField] = [
        .init("owner", .text), .init("members", .payload), .init("keys", .number), .init("bytes", .number),
    ]

    private static let errorMembers: [FilterField] = [
        .init("code", .words(errorCodes)), .init("message", .text),
        .init("retry", .words(["never", "later", "refresh"])), .init("retryAfter", .number), .init("detail", .payload),
    ]

    static let errorCodes =
        [
            "badMessage", "unknownOp", "unknownField", "missingField", "badField", "implausibleDate", "notFound",
            "conflict", "expired", "busy", "requestReused", "outcomeUnknown", "tooOld", "tooMany", "quotaExceeded",
            "moved", "unauthorized", "unavailable", "badAnswer", "unknownCall",
        ] + ActivityAuthorizationError.allCases.map(\.rawValue)

    private static let reasons = [
        "ended", "dismissed", "olderTimestamp", "futureTimestamp", "unchanged", "disabled", "acting",
    ]

    // MARK: Events

    /// The members that events have, in proto-json/schemas/events.
    static let eventMembers = [
        "at", "from", "to", "cause", "by", "lateBy", "seq", "epoch", "activity", "control", "widget", "group", "alert",
        "notification", "interaction", "exempt", "rules",
    ]

    /// The members that an event of this name can have; of one without a name, all that there are.
    static func members(ofEvent name: String?) -> [String] {
        guard let name, eventNames.contains(name) else { return eventMembers }
        let family = String(name.prefix { $0 != "." })
        let always = ["at", "cause", "by", "seq", "epoch"]
        guard name != "group.notified" else { return always + ["notification"] }
        var more: [String] = []
        switch name {
        case "activity.tapped", "control.performed", "widget.acting", "widget.tapped": more = ["interaction"]
        case "widget.added", "widget.configured", "widget.performed", "widget.reloading": more = ["exempt"]
        case "widget.timeline": more = ["rules"]
        case _: if family == "activity" { more = ["alert"] }
        }
        return always + ["from", "to", "lateBy", family] + more
    }

    /// What a member of an event can be.
    static func kind(ofEvent event: String?, _ name: String) -> FilterKind {
        let family = event.map { String($0.prefix { $0 != "." }) }
        let subject = family.flatMap { subjects[$0] } ?? .event
        switch name {
        case "from", "to":
            if family == "group" { return .words(["present", "removed"]) }
            return .words(subject.words(of: "state") ?? [])
        case "cause": return .words(family == "group" ? ["command"] : subject.words(of: "cause") ?? [])
        case "exempt": return .words(FilterSubject.event.words(of: "exempt") ?? [])
        case "rules": return .words(["pastEntriesDropped", "entriesCoalesced"])
        case "at": return .date
        case "seq", "lateBy": return .number
        case "by": return .object([.init("client", .text), .init("req", .text)], words: [])
        case "notification":
            return .object([.init("group", .text), .init("name", .text), .init("by", .text)], words: [])
        case "interaction": return .object(interactionMembers, words: [])
        case "activity", "control", "widget", "group":
            return .object(subjects[name]?.members ?? [], words: [])
        case _: return .payload
        }
    }

    private static let interactionMembers: [FilterField] = [
        .init("type", .text), .init("kind", .text), .init("family", .text), .init("configuration", .payload),
        .init("url", .text), .init("link", .text), .init("action", .text), .init("parameters", .payload),
    ]

    // MARK: Looking

    /// Looks for members and words that there cannot be in what is expected of a value.
    ///
    /// - Parameter name: what it is called in messages, such as `'next'` or `an activity`.
    mutating func check(_ node: ScenarioNode, _ kind: FilterKind, of name: String, noun: String? = nil) {
        switch node.content {
        case .scalar(let text, let isPlain):
            let isCondition = isPlain && ["absent", "present"].contains(text)
            guard !node.isNull, !isCondition, ScenarioReference(text) == nil else { return }
            check(text, isPlain, kind, of: name, at: node.place)
        case .list(let elements): for element in elements { check(element, kind, of: name, noun: noun) }
        case .mapping(let entries):
            if !entries.isEmpty, entries.allSatisfy({ ScenarioPattern.words.contains($0.name) }) {
                let alike = ["equals", "one of", "all of", "not"] + (Self.isWords(kind) ? [] : ["contains"])
                let ordered = Self.isDate(kind) ? ScenarioPattern.Comparison.allCases.map(\.rawValue) : []
                for entry in entries where alike.contains(entry.name) || ordered.contains(entry.name) {
                    check(entry.value, kind, of: name, noun: noun)
                }
                if case .words(let known) = kind { for entry in entries { checkPart(entry, known, of: name) } }
                return
            }
            switch kind {
            case .object(let fields, _), .deadline(let fields):
                for entry in entries {
                    guard let field = fields.first(where: { $0.name == entry.name }) else {
                        noteUnknown(
                            "member of \(noun ?? "'\(name)'")", entry.name, at: entry.place, among: fields.map(\.name))
                        continue
                    }
                    check(entry.value, field.kind, of: field.name)
                }
            case .text, .words, .list, .number, .date, .flag, .mark, .toldMark:
                for entry in entries where !ScenarioPattern.words.contains(entry.name) {
                    noteUnknown(
                        "condition, and '\(name)' has no members", entry.name, at: entry.place,
                        among: ScenarioPattern.words)
                }
            case .payload: break
            }
        }
    }

    private static func isWords(_ kind: FilterKind) -> Bool {
        if case .words = kind { true } else { false }
    }

    /// Looks for an expression that no word has in it.
    private mutating func checkPart(_ condition: ScenarioNode.Entry, _ words: [String], of name: String) {
        guard let text = condition.value.text else { return }
        let part: NamePart
        switch condition.name {
        case "contains": part = .containing(text)
        case "matches": part = .matching(text)
        case _: return
        }
        guard !part.isIn(anyOf: words) else { return }
        note(
            condition.value.place,
            "no \(Self.noun(ofWord: name)) is \(part.text): one of \(words.joined(separator: ", "))")
    }

    private static func noun(ofWord name: String) -> String {
        ["from", "to"].contains(name) ? "state" : name == "code" ? "error code" : name
    }

    /// Whether something is compared as dates are: a number is one as well, so that of a date without its unit every
    /// comparison would say something.
    private static func isDate(_ kind: FilterKind) -> Bool {
        switch kind {
        case .date, .deadline: true
        case .text, .words, .number, .flag, .mark, .toldMark, .object, .list, .payload: false
        }
    }

    /// Looks at a value that is expected.
    private mutating func check(
        _ text: String, _ isPlain: Bool, _ kind: FilterKind, of name: String, at place: ScenarioPlace
    ) {
        let shown = text.shortened(to: 60)
        switch kind {
        case .words(let known):
            guard !known.contains(text) else { return }
            noteUnknown(Self.noun(ofWord: name), text, at: place, among: known)
        case .object(_, let words):
            guard !words.contains(text) else { return }
            guard words.isEmpty else { return noteUnknown(name, text, at: place, among: words) }
            note(place, "'\(name)' has members, and is never '\(shown)'")
        case .deadline: note(place, "'\(name)' has members, and is never '\(shown)': its date is 'at'")
        case .number where !isPlain || !Self.isNumber(text):
            note(place, "'\(name)' is a number, and never '\(shown)'")
        case .date where Moment(text) == nil || Self.isNumber(text) && !isPlain:
            let meant = Moment.meant(by: text).map { "; \($0)" } ?? ""
            note(place, "'\(name)' is \(Moment.forms), and never '\(shown)'\(meant)")
        case .flag where Self.json(text, isPlain: isPlain).bool == nil,
            .mark where Self.json(text, isPlain: isPlain).bool == nil,
            .toldMark where Self.json(text, isPlain: isPlain).bool == nil:
            note(place, "'\(name)' is true or false, and never '\(shown)'")
        case .text where Self.json(text, isPlain: isPlain).string == nil:
            note(place, "'\(name)' is a text, and never \(shown) without quotes")
        case .text, .list, .number, .date, .flag, .mark, .toldMark, .payload: break
        }
    }
}
