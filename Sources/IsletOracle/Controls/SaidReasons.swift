/// What providers said of calls that they failed, as the entities that asked must show it.
struct SaidReasons {
    /// By the question that a call belongs to; nil in a set: nothing was said.
    private var byQuestion: [String: Set<String?>] = [:]

    private static func question(_ id: String, life: Int, askedAt: Int) -> String { "\(id) \(life) \(askedAt)" }

    mutating func add(_ reason: String?, to call: WitnessedCall) {
        let question = Self.question(call.control, life: call.life, askedAt: call.askedAt)
        byQuestion[question, default: []].insert(reason)
    }

    /// What an entity may show after an event.
    ///
    /// - Parameters:
    ///   - before: what it may have shown before.
    ///   - askedAt: what its calls say of the question that it asked last.
    func possible(
        after name: String, _ entity: [String: JSON], before: Set<String?>, id: String, life: Int, askedAt: Int
    ) -> Set<String?> {
        guard entity["failure"] == .string("threw") else { return [nil] }
        return name == "failed" ? byQuestion[Self.question(id, life: life, askedAt: askedAt)] ?? [] : before
    }
}
