import ArgumentParser
import IsletClient
import IsletFilter
import IsletServer

/// What `islet wait` waits for: one of some states, or a member with a value.
enum WaitCondition: ExpressibleByArgument, Equatable, Sendable {
    case states([String])
    /// Names from the entity inwards, such as `contentState`, `eta`.
    case member(path: [String], value: String)

    init?(argument: String) {
        if let equals = argument.firstIndex(of: "=") {
            let path = argument[..<equals].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard path.allSatisfy({ !$0.isEmpty }) else { return nil }
            self = .member(path: path, value: String(argument[argument.index(after: equals)...]))
        } else {
            let states = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard states.allSatisfy({ !$0.isEmpty }) else { return nil }
            self = .states(states)
        }
    }

    /// As it was written.
    var text: String {
        switch self {
        case .states(let states): states.joined(separator: " or ")
        case .member(let path, let value): "\(path.joined(separator: "."))=\(value)"
        }
    }

    /// Checks that an entity of the family can come to it at all.
    ///
    /// - Throws: a `Failure` that names what there is.
    func check(_ noun: String, _ subject: FilterSubject) throws {
        if case .member(let path, let value) = self { return try Self.check(path, value, subject) }
        guard case .states(let states) = self, let known = Self.states[noun] else { return }
        for state in states where !known.contains(state) {
            let hint = Spelling.closest(to: state, among: known).map { "; did you mean \($0)?" } ?? ""
            let all = known.joined(separator: ", ")
            throw Failure(
                .usage, "a\(noun == "activity" ? "n" : "") \(noun) is never '\(state)'\(hint) (states: \(all))")
        }
    }

    /// That the family has such a member, and that it can have the value.
    private static func check(_ path: [String], _ value: String, _ subject: FilterSubject) throws {
        do throws(FilterError) {
            _ = try Filter(path.joined(separator: "."), for: subject)
        } catch {
            throw Failure(.usage, "--for: \(error.message)")
        }
        guard path.count == 1, let words = subject.words(of: path[0]), !words.contains(value), value != "null" else {
            return
        }
        throw Failure(.usage, "--for: '\(path[0])' is never '\(value)': \(words.joined(separator: ", "))")
    }

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
        case .member(let path, let value):
            // The state is the state, whichever way it is asked for.
            if path == ["state"] { return Self.isState(of: entity, among: [value]) }
            var member: RawJSON? = entity.json
            for name in path { member = member?.object?[name] }
            guard let member, !member.isNull else { return value == "null" }
            return member.description == value || member.string == value || ControlText.text(member) == value
        }
    }

    private static func isState(of entity: RawObject, among states: [String]) -> Bool {
        let state = entity["state"]?.string ?? ""
        return states.contains(state) || state == "dismissed" && states.contains("ended")
    }

    /// Whether it can never hold any more, since nothing follows for the entity.
    func isLost(for entity: RawObject) -> Bool {
        !holds(for: entity) && ["dismissed", "removed"].contains(entity["state"]?.string)
    }
}
