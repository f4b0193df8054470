package import IsletCore

/// What is remembered to have been decided about an entity: found once, and then both judged and written.
package struct RememberedDecisions {
    /// Whose images the stored events have.
    private enum Family { case activity, control, widget }

    private let family: Family
    fileprivate let told: [ToldDecision]
    /// The oldest event among them.
    package let first: (seq: UInt64, revision: UInt32)?

    /// - Parameters:
    ///   - reason: what the provider said of the call that it failed last, as the entity shows it; empty: nothing.
    private init(_ family: Family, _ found: [some DecisionEntry], _ told: [ToldDecision], reason: [UInt8] = []) {
        self.family = family
        var told = told
        // Whatever failed later had a reason of its own, or none.
        if !reason.isEmpty, let last = told.lastIndex(where: \.isFailure) { told[last].failureReason = reason }
        self.told = told
        first = found.lazy.compactMap(\.event).first
    }

    package init(aboutActivity id: EntityID, of app: AppID, in engine: borrowing Engine) {
        let found = engine.newestDecisions(JSONWriter.maximumDecisions, about: id, of: app)
        self.init(.activity, found, found.map { ToldDecision($0) })
    }

    package init(aboutControl id: EntityID, of app: AppID, in engine: borrowing Engine) {
        let found = engine.controls.newestDecisions(JSONWriter.maximumDecisions, about: id, of: app)
        let record = engine.controls.slot(of: id).flatMap { engine.controls.record(at: $0) }
        let handle = record.map { engine.shownFailureReason(of: $0) } ?? .empty
        self.init(.control, found, found.map { ToldDecision($0) }, reason: engine.withBytes(of: handle) { [UInt8]($0) })
    }

    package init(aboutWidget id: EntityID, of app: AppID, in engine: borrowing Engine) {
        let found = engine.widgets.newestDecisions(JSONWriter.maximumDecisions, about: id, of: app)
        let handle = engine.widgets.slot(of: id).flatMap { engine.widgets.record(at: $0) }?.failureReason ?? .empty
        self.init(.widget, found, found.map { ToldDecision($0) }, reason: engine.withBytes(of: handle) { [UInt8]($0) })
    }

    /// The memory that they take.
    package var bytes: Int {
        told.reduce(0) { $0 + MemoryLayout<ToldDecision>.stride + ($1.failureReason?.count ?? 0) }
    }

    /// Whether a provider failed a call for a reason that only its event tells.
    package var lacksReasons: Bool { told.contains { $0.isFailure && $0.failureReason == nil } }

    /// Whether nothing older than these is shown.
    package var isAll: Bool { told.count == JSONWriter.maximumDecisions || first?.revision == 1 }

    /// What a stored event's image says that its JSON does not; nil where that is none of the family's.
    fileprivate func told(_ image: [UInt8]) -> ToldImage? {
        switch family {
        case .activity:
            (try? ActivityImage(image.span)).map {
                ToldImage(rule: ($0.rule.source, $0.rule.text), revision: $0.revision, failure: nil)
            }
        case .control:
            (try? ControlImage(image.span)).map {
                ToldImage(
                    rule: ($0.rule.source, $0.rule.text), revision: $0.revision,
                    failure: $0.machine.failure == .none ? nil : $0.machine.failure.wireName)
            }
        case .widget:
            (try? WidgetImage(image.span)).map {
                ToldImage(
                    rule: ($0.rule.source, $0.rule.text), revision: $0.revision,
                    failure: $0.machine.failure == .none ? nil : $0.machine.failure.wireName)
            }
        }
    }
}

extension JSONWriter {
    /// The member `decisions` of `activity.explain` and those of the other families: what was decided about an entity,
    /// oldest first.
    ///
    /// - Parameters:
    ///   - stored: the events that are older than what is remembered, oldest first, with their images.
    ///   - reasons: what providers said of calls that they failed, as far as it may be told.
    package mutating func decisions(
        _ remembered: RememberedDecisions, before stored: [(json: [UInt8], image: [UInt8])] = [],
        reasons: ToldReasons = ToldReasons()
    ) {
        key("decisions")
        let start = count
        var kept = remembered.told[...]
        var older = stored.suffix(Self.maximumDecisions - kept.count)
        while true {
            beginArray()
            for event in older {
                guard let image = remembered.told(event.image) else { continue }
                storedDecision(event.json.span, image, reasons)
            }
            for decision in kept { self.decision(decision, reasons) }
            endArray()
            guard count - start > Self.maximumDecisionBytes, older.count + kept.count > 1 else { return }
            // The older half goes, until the rest fits.
            truncate(to: start)
            let rest = (older.count + kept.count) / 2
            kept = kept.suffix(rest)
            older = older.suffix(rest - kept.count)
        }
    }

    /// `explain` tells at most this many, the newest.
    package static var maximumDecisions: Int { 1_000 }
    /// And so many bytes of them, so that its answer fits into a frame of 1 MiB.
    private static var maximumDecisionBytes: Int { 900_000 }

    /// A decision as its event tells it. A stored event that is none of ours is left out: `verify` tells of it.
    private mutating func storedDecision(_ json: Span<UInt8>, _ image: ToldImage, _ reasons: ToldReasons) {
        guard let event = try? StoredTransition(json) else { return }
        beginObject()
        stored("at", event.at, of: json)
        field("rule", name: image.rule.source)
        field("text", name: image.rule.text)
        field("outcome", name: "applied")
        stored("event", event.event, of: json)
        stored("seq", event.seq, of: json)
        field("revision", image.revision)
        stored("from", event.from, of: json)
        stored("to", event.to, of: json)
        stored("cause", event.cause, of: json)
        if let failure = image.failure { field("failure", name: failure) }
        if let seq = event.seq.flatMap({ JSONNumber.integer(json, at: $0) }) { reason(reasons[UInt64(clamping: seq)]) }
        stored("exempt", event.exemption, of: json)
        stored("by", event.by, of: json)
        endObject()
    }

    private mutating func stored(_ name: StaticString, _ value: FrameRange?, of json: Span<UInt8>) {
        if let value { field(name, raw: json.extracting(value.indices)) }
    }

    private mutating func reason(_ json: [UInt8]?) {
        if let json { field("failureReason", raw: json.span) }
    }

    private mutating func decision(_ decision: ToldDecision, _ reasons: ToldReasons) {
        beginObject()
        field("at", decision.at)
        field("rule", name: decision.rule.source)
        field("text", name: decision.rule.text)
        switch decision.outcome {
        case .applied(let event, let seq, let revision):
            field("outcome", name: "applied")
            field("event", name: event)
            field("seq", seq)
            field("revision", revision)
        case .merged: field("outcome", name: "applied")
        case .ignored(let reason):
            field("outcome", name: "ignored")
            field("reason", name: reason.wireName)
        case .refused:
            field("outcome", name: "refused")
        }
        if let from = decision.from { field("from", name: from) }
        field("to", name: decision.to)
        if let cause = decision.cause { field("cause", name: cause) }
        if let failure = decision.failure { field("failure", name: failure) }
        reason(decision.failureReason ?? (decision.isFailure ? decision.outcome.event.flatMap { reasons[$0.seq] } : nil))
        if let exemption = decision.exemption { field("exempt", name: exemption) }
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

/// A decision about an entity of any family, in the contract's words.
struct ToldDecision {
    let at: Instant
    let rule: (source: StaticString, text: StaticString)
    let outcome: DecisionOutcome<StaticString>
    let from: StaticString?
    let to: StaticString
    let cause: StaticString?
    var failure: StaticString?
    /// Whether its event tells that a call ended so.
    var isFailure = false
    /// What the provider said of that: a JSON string with its quotes.
    var failureReason: [UInt8]?
    /// Why a reload was not charged.
    var exemption: StaticString?
    let client: EntityID?
    let req: InlineText

    init(_ decision: Decision) {
        at = decision.at
        rule = (decision.rule.source, decision.rule.text)
        outcome = decision.outcome.named(\.wireName)
        (from, to, cause) = (decision.from?.wireName, decision.to.wireName, decision.cause?.wireName)
        (client, req) = (decision.client, decision.req)
    }

    init(_ decision: ControlDecision) {
        at = decision.at
        rule = (decision.rule.source, decision.rule.text)
        outcome = decision.outcome.named(\.wireName)
        (from, to, cause) = (decision.from?.wireName, decision.to.wireName, decision.cause?.wireName)
        failure = decision.failure == .none ? nil : decision.failure.wireName
        if case .applied(.failed, _, _) = decision.outcome { isFailure = decision.failure == .threw }
        (client, req) = (decision.client, decision.req)
    }

    init(_ decision: WidgetDecision) {
        at = decision.at
        rule = (decision.rule.source, decision.rule.text)
        outcome = decision.outcome.named(\.wireName)
        (from, to, cause) = (decision.from?.wireName, decision.to.wireName, decision.cause?.wireName)
        failure = decision.failure == .none ? nil : decision.failure.wireName
        if case .applied(.failed, _, _) = decision.outcome { isFailure = decision.failure == .threw }
        exemption = decision.exemption?.wireName
        (client, req) = (decision.client, decision.req)
    }
}

/// What `explain` tells of a stored event by its image.
fileprivate struct ToldImage {
    let rule: (source: StaticString, text: StaticString)
    let revision: UInt32
    /// What the entity shows of the last failure.
    let failure: StaticString?
}

/// Where the members of a stored event stand that `explain` shows.
private struct StoredTransition {
    var at: FrameRange?
    var event: FrameRange?
    var seq: FrameRange?
    var from: FrameRange?
    var to: FrameRange?
    var cause: FrameRange?
    var exemption: FrameRange?
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
            if member.name.equals("exempt", in: json) { found.exemption = range }
            if member.name.equals("by", in: json) { found.by = range }
        }
        self = found
    }
}
