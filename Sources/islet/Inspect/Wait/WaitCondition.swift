import ArgumentParser
import IsletClient
import IsletFilter
import IsletServer

/// What `islet wait` waits for: one of some states, or a member with a value.
enum WaitCondition: ExpressibleByArgument, Equatable, Sendable {
    case states([String])
    /// Names from the entity inwards, such as `contentState`, `eta`; a mark is a flag that stands only where it is so.
    case member(path: [String], value: String, isMark: Bool = false)

    init?(argument: String) {
        if let equals = argument.firstIndex(of: "=") {
            let path = argument[..<equals].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            // `eta!=1`, `eta<=1` and the like are a filter's: here they would wait for a member of that name.
            guard path.allSatisfy({ !$0.isEmpty }), let end = path.last?.last, !"!<>~".contains(end) else {
                return nil
            }
            self = .member(path: path, value: String(argument[argument.index(after: equals)...]))
        } else {
            let states = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard states.allSatisfy({ !$0.isEmpty }) else { return nil }
            self = .states(states)
        }
    }

    /// How one is written, for messages.
    static let forms = "a state, several with commas between them, or member=value such as contentState.eta=0"

    /// As it was written.
    var text: String {
        switch self {
        case .states(let states): states.joined(separator: " or ")
        case .member(let path, let value, _): "\(path.joined(separator: "."))=\(value)"
        }
    }

    /// The same, with the members' names in the letters that the family's entities have; as in a filter, any will do.
    ///
    /// - Throws: a `Failure` that names what there is, where an entity of the family can never come to it.
    func resolved(_ noun: String, _ subject: FilterSubject) throws -> WaitCondition {
        switch self {
        case .states(let states):
            try Self.check(states, noun)
            return self
        case .member(let path, let value, _):
            let member: (path: [String], kind: FilterKind)
            do throws(FilterError) {
                member = try subject.member(at: path)
            } catch {
                throw Failure(.usage, "--for: \(error.message)")
            }
            try Self.check(value, member.path.joined(separator: "."), member.kind)
            if case .mark = member.kind { return .member(path: member.path, value: value, isMark: true) }
            return .member(path: member.path, value: value)
        }
    }

    /// That the family has such states.
    private static func check(_ states: [String], _ noun: String) throws {
        guard let known = Self.states[noun] else { return }
        for state in states where !known.contains(state) {
            let hint = Spelling.closest(to: state, among: known).map { "; did you mean \($0)?" } ?? ""
            let all = known.joined(separator: ", ")
            throw Failure(
                .usage, "a\(noun == "activity" ? "n" : "") \(noun) is never '\(state)'\(hint) (states: \(all))")
        }
    }

    /// That a member can have the value.
    private static func check(_ value: String, _ name: String, _ kind: FilterKind) throws {
        guard value != "null" else { return }
        switch kind {
        case .deadline:
            throw Failure(.usage, "--for: '\(name)' has members, and is never '\(value)': its date is \(name).at")
        case .date:
            guard case .at? = Moment(value) else {
                let meant = Moment.meant(by: value).map { "; \($0)" } ?? ""
                throw Failure(
                    .usage, "--for: '\(name)' is a date such as 2026-01-31T09:00Z, and never '\(value)'\(meant)")
            }
        case .number:
            guard ExactNumber(value) != nil else {
                throw Failure(.usage, "--for: '\(name)' is a number, and never '\(value)'")
            }
        case .flag, .mark, .toldMark:
            guard flags[value] != nil else {
                throw Failure(.usage, "--for: '\(name)' is true or false, and never '\(value)'")
            }
        case .words(let words):
            guard words.contains(value) else {
                throw Failure(.usage, "--for: '\(name)' is never '\(value)': \(words.joined(separator: ", "))")
            }
        case .text, .list, .object, .payload: break
        }
    }

    /// How true and false may be written.
    private static let flags = ["true": true, "on": true, "yes": true, "false": false, "off": false, "no": false]

    /// The states of each family by the contract.
    private static let states = [
        "activity": ["pending", "active", "stale", "ended", "dismissed"],
        "control": ["loading", "preview", "shown", "reloading", "acting", "authenticating", "disabled", "removed"],
        "widget": ["loading", "placeholder", "shown", "reloading", "acting", "removed"],
    ]

    /// Whether it holds for an entity. What was dismissed counts as ended.
    func holds(for entity: RawObject) -> Bool {
        switch self {
        case .states(let states): return Self.isState(of: entity, among: states)
        case .member(let path, let value, let isMark):
            // The state is the state, whichever way it is asked for.
            if path == ["state"] { return Self.isState(of: entity, among: [value]) }
            var member: RawJSON? = entity.json
            for name in path { member = member?.object?[name] }
            guard let member, !member.isNull else {
                return value == "null" || isMark && Self.flags[value] == false
            }
            if member.description == value || member.string == value || ControlText.text(member) == value {
                return true
            }
            if let flag = member.bool { return Self.flags[value] == flag }
            if let number = ExactNumber(member.description), number == ExactNumber(value) { return true }
            guard let date = member.integer, case .at(let wanted)? = Moment(value) else { return false }
            return date == wanted
        }
    }

    private static func isState(of entity: RawObject, among states: [String]) -> Bool {
        let state = entity["state"]?.string ?? ""
        return states.contains(state) || state == "dismissed" && states.contains("ended")
    }

    /// Whether it can never hold any more: nothing follows for the entity, or nothing that leads there.
    func isLost(for entity: RawObject) -> Bool {
        guard !holds(for: entity) else { return false }
        let state = entity["state"]?.string ?? ""
        if ["dismissed", "removed"].contains(state) { return true }
        let isActivity = entity["kind"] == nil
        switch self {
        case .states(let states): return isActivity && Self.arePast(states, in: state)
        case .member(let path, let value, _):
            switch path.first {
            case "state": return isActivity && Self.arePast([value], in: state)
            case "revision": return UInt64(value).map { $0 < entity["revision"]?.unsigned ?? 0 } ?? false
            case "contentState", "relevanceScore": return isActivity && state == "ended"
            case let name?: return Self.constants.contains(name)
            case nil: return false
            }
        }
    }

    /// Members that never change.
    private static let constants: Set = ["id", "app", "type", "kind", "key", "device", "attributes"]

    /// Whether an activity is in none of these states any more. Only what is stale becomes active again.
    private static func arePast(_ states: [String], in state: String) -> Bool {
        let past =
            switch state {
            case "active", "stale": ["pending"]
            case "ended": ["pending", "active", "stale"]
            case _: [String]()
            }
        return states.allSatisfy(past.contains)
    }
}
