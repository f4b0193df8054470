package import IsletCore

extension JSONWriter {
    /// The member `decisions` of `activity.explain`: what was decided about an entity, oldest first.
    ///
    /// - Parameter stored: the events that are older than what the engine remembers, oldest first, with their images.
    package mutating func decisions(
        about id: EntityID, before stored: [(json: [UInt8], image: [UInt8])] = [], of engine: borrowing Engine
    ) {
        key("decisions")
        beginArray()
        // The log is read into an array first, since a closure cannot write to this noncopyable writer.
        var remembered: [Decision] = []
        engine.forEachDecision(about: id) { remembered.append($0) }
        let kept = remembered.suffix(Self.maximumDecisions)
        for event in stored.suffix(Self.maximumDecisions - kept.count) {
            guard let image = try? ActivityImage(event.image.span) else { continue }
            storedDecision(event.json.span, image.rule.source, image.rule.text, revision: image.revision)
        }
        for decision in kept { self.decision(decision) }
        endArray()
    }

    /// `explain` tells at most this many, the newest, so that its answer fits into a frame.
    static var maximumDecisions: Int { 1_000 }

    /// A decision as its event tells it. A stored event that is none of ours is left out: `verify` tells of it.
    mutating func storedDecision(
        _ json: Span<UInt8>, _ rule: StaticString, _ text: StaticString, revision: UInt32
    ) {
        guard let event = try? StoredTransition(json) else { return }
        beginObject()
        stored("at", event.at, of: json)
        field("rule", name: rule)
        field("text", name: text)
        field("outcome", name: "applied")
        stored("event", event.event, of: json)
        stored("seq", event.seq, of: json)
        field("revision", revision)
        stored("from", event.from, of: json)
        stored("to", event.to, of: json)
        stored("cause", event.cause, of: json)
        stored("by", event.by, of: json)
        endObject()
    }

    private mutating func stored(_ name: StaticString, _ value: FrameRange?, of json: Span<UInt8>) {
        if let value { field(name, raw: json.extracting(value.indices)) }
    }

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

/// Where the members of a stored event stand that `explain` shows.
private struct StoredTransition {
    var at: FrameRange?
    var event: FrameRange?
    var seq: FrameRange?
    var from: FrameRange?
    var to: FrameRange?
    var cause: FrameRange?
    var by: FrameRange?

    init(_ json: Span<UInt8>) throws(ScanError) {
        var found = self
        try JSONScanner.scanObject(json) { member in
            let range = member.value.range
            if member.name.equals("at", in: json) { found.at = range }
            if member.name.equals("event", in: json) { found.event = range }
            if member.name.equals("seq", in: json) { found.seq = range }
            if member.name.equals("from", in: json) { found.from = range }
            if member.name.equals("to", in: json) { found.to = range }
            if member.name.equals("cause", in: json) { found.cause = range }
            if member.name.equals("by", in: json) { found.by = range }
        }
        self = found
    }
}
