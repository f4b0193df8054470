import IsletCore
import Testing

/// An engine with the owner's duties done for it: frames are built, events are taken after each call, and after every
/// step what a follower of the events would know is compared with what the engine says of itself.
final class EngineRig {
    static let start = Instant(1_767_225_600_000)

    var engine: Engine
    var now: Instant
    var dating: Engine.Dating = .whenNoticed
    /// The events of the last call.
    private(set) var events: [ActivityEvent] = []
    /// The stored alerts that they carried, as an encoder finds them.
    private(set) var storedAlerts: [[UInt8]] = []
    let follower = Follower()
    /// Whether everything is compared after each step; off where a test has very many activities.
    var isChecked = true
    private var lastID: UInt64 = 0

    init(_ rules: RuleSet = .standard, at start: Instant = EngineRig.start) {
        engine = Engine(rules: rules, start: start)
        now = start
    }

    /// An id that was not given before.
    func freshID() -> EntityID {
        lastID += 1
        return EntityID(lastID)
    }

    /// The id that was given last.
    var latest: EntityID { EntityID(lastID) }

    /// Sends one command and takes its events.
    func send(
        _ operation: Operation, _ frame: FrameBuilder, _ envelope: Envelope = Envelope(), freshID: EntityID? = nil
    ) -> Engine.Outcome {
        let command = Command(envelope: envelope, operation: operation)
        let id = freshID ?? self.freshID()
        let outcome = engine.apply(command, of: frame.bytes.span, at: now, dating: dating, freshID: id)
        take()
        return outcome
    }

    /// One call of `fireDue`; whether it left something.
    @discardableResult
    func fire(limit: Int = 1_000) -> Bool {
        let isLate = engine.fireDue(at: now, dating: dating, limit: limit)
        take()
        return isLate
    }

    /// Lets time pass and everything due take effect; returns all events.
    @discardableResult
    func pass(_ span: Milliseconds, limit: Int = 1_000) -> [ActivityEvent] {
        now = now + span
        return settle(limit: limit)
    }

    /// Everything due takes effect; returns all events.
    @discardableResult
    func settle(limit: Int = 1_000) -> [ActivityEvent] {
        var all: [ActivityEvent] = []
        var calls = 0
        while true {
            let isLate = fire(limit: limit)
            all += events
            calls += 1
            guard isLate else { break }
            guard calls < 1_000_000 else {
                Issue.record("the engine never comes to rest")
                break
            }
        }
        events = all
        return all
    }

    /// Takes events that a read made.
    func takeSettled() { take() }

    private func take() {
        // Each event is encoded from its slot before the events are released: the slot must still be the event's own.
        for index in engine.events.indices {
            let event = engine.events[index]
            let id = engine.record(at: event.slot)?.id
            if id != event.id {
                Issue.record("the event of \(event.id.short) points at a slot of \(id?.short ?? "nobody")")
            }
        }
        events = engine.events
        storedAlerts = events.filter { $0.alert == .stored }.compactMap { event in
            engine.record(at: event.slot).map { record in
                engine.withBytes(of: record.cold) { [UInt8]($0[record.alertRange]) }
            }
        }
        engine.releaseEvents()
        follower.follow(events, engine)
        if isChecked { follower.check(engine) }
    }

    // MARK: What a test asks

    /// The record of an id, listed or retained.
    func record(_ id: EntityID) -> ActivityRecord? { engine.slot(of: id).flatMap { engine.record(at: $0) } }

    func relevance(_ id: EntityID) -> Double? {
        engine.slot(of: id).flatMap { slot in
            engine.record(at: slot).map { engine.relevanceScore(of: slot, $0) }
        }
    }

    func state(_ id: EntityID) -> ActivityState? { record(id)?.state }

    /// The content of an id as text.
    func content(_ id: EntityID) -> String? {
        record(id).map { engine.withBytes(of: $0.content) { String(decoding: $0, as: UTF8.self) } }
    }

    /// The events of the last call, as short lines.
    var told: [String] { events.map(\.line) }

    /// What it renews and is renewed by.
    func renewal(_ id: EntityID) -> RenewalLinks? {
        guard let slot = engine.slot(of: id), let record = engine.record(at: slot) else { return nil }
        return engine.renewal(of: slot, record)
    }

    /// What `explain` shows, oldest first.
    func decisions(_ id: EntityID) -> [Decision] {
        engine.apps.apps.indices.flatMap { engine.newestDecisions(.max, about: id, of: AppID($0)) }
    }

    func app(_ name: String) -> AppRecord? { engine.apps.find(Array(name.utf8)).map { engine.apps[$0] } }
}

extension EntityID {
    /// The number it was made of.
    var short: String { "#\(low & 0xFFFF_FFFF)" }
}

extension ActivityEvent {
    /// `ended #3 r2 active>ended command`, with ` late 5` where a deadline made it.
    var line: String {
        let from = before.map { "\($0.state)" } ?? ""
        let late = lateBy.map { " late \($0)" } ?? ""
        return "\(name) \(id.short) r\(revision) \(from)>\(after.state) \(after.cause)\(late)"
    }
}

extension Engine.Outcome {
    /// As a test speaks of it.
    var text: String {
        switch self {
        case .applied: return "applied"
        case .ignored(_, let reason): return "ignored \(reason)"
        case .found: return "found"
        case .refused(let refusal):
            switch refusal {
            case .notFound: return "notFound"
            case .revisionConflict(let present): return "conflict r\(present)"
            case .keyHeld(let holder, let revision): return "held by \(holder.short) r\(revision)"
            case .quotaExceeded(let limit): return "quotaExceeded \(limit)"
            case .unavailable(let why): return "unavailable \(why)"
            case .authorization(.attributesTooLarge(let bytes, let limit)):
                return "attributesTooLarge \(bytes)/\(limit)"
            case .authorization(.targetMaximumExceeded(let limit)): return "targetMaximumExceeded \(limit)"
            case .authorization(.globalMaximumExceeded(let limit)): return "globalMaximumExceeded \(limit)"
            case .authorization(.muted(let until)): return "muted until \(until.milliseconds)"
            case .authorization(.denied): return "denied"
            case .authorization(.visibility): return "visibility"
            case .authorization(.reconnectNotPermitted): return "reconnectNotPermitted"
            default: return "\(refusal)"
            }
        }
    }

    /// The handle that the answer shows.
    var reference: SlotRef? {
        switch self {
        case .applied(let reference): reference
        case .ignored(let reference, _), .found(let reference): reference
        case .refused: nil
        }
    }
}
