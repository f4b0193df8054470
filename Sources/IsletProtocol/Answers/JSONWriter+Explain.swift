package import IsletCore

extension JSONWriter {
    /// The member `decisions` of `activity.explain`: what was decided about an entity, oldest first.
    package mutating func decisions(about id: EntityID, of engine: borrowing Engine) {
        key("decisions")
        beginArray()
        // The log is read into an array first, since a closure cannot write to this noncopyable writer.
        var remembered: [Decision] = []
        engine.forEachDecision(about: id) { remembered.append($0) }
        for decision in remembered.suffix(Self.maximumDecisions) { self.decision(decision) }
        endArray()
    }

    /// `explain` tells at most this many, the newest, so that its answer fits into a frame.
    private static var maximumDecisions: Int { 1_000 }

    private mutating func decision(_ decision: Decision) {
        beginObject()
        field("at", decision.at)
        field("rule", name: decision.rule.source)
        field("text", name: decision.rule.text)
        switch decision.outcome {
        case .applied(let name, let seq, let revision):
            field("outcome", name: "applied")
            field("event", name: name.wireName)
            field("seq", seq)
            field("revision", revision)
        case .ignored(let reason):
            field("outcome", name: "ignored")
            field("reason", name: reason.wireName)
        case .refused:
            field("outcome", name: "refused")
        }
        if let from = decision.from { field("from", name: from.wireName) }
        field("to", name: decision.to.wireName)
        if let cause = decision.cause { field("cause", name: cause.wireName) }
        if decision.client != nil || decision.req.count > 0 {
            key("by")
            beginObject()
            if let client = decision.client { field("client", client) }
            let req = decision.req.withBytes { Array($0) }
            if !req.isEmpty { field("req", plain: req.span) }
            endObject()
        }
        endObject()
    }
}
