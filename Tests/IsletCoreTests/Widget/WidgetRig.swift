import IsletCore
import Testing

/// An engine with widgets, and the owner's duties done for it: frames are built, events and calls are taken after each
/// step, and what an observer of both would know is compared with what the engine says of itself.
final class WidgetRig {
    var engine: Engine
    var now: Instant
    var dating: Engine.Dating = .whenNoticed
    let observer: WidgetObserver
    /// What happened in the last step: `timeline #3 r2 loading>shown provider`.
    private(set) var told: [String] = []
    private(set) var events: [WidgetEvent] = []
    /// The entries that the events of the last step show, by their place.
    private(set) var entries: [String] = []
    /// What the last step wanted of providers.
    private(set) var calls: [WidgetCall] = []
    /// Gets every event before its slot is released.
    var journal: WidgetJournal?
    /// Whether everything is compared after each step; off where a test has very many widgets.
    var isChecked = true
    private var lastID: UInt64 = 0

    init(_ rules: RuleSet = .standard, at start: Instant = EngineRig.start) {
        engine = Engine(rules: rules, start: start)
        now = start
        observer = WidgetObserver()
    }

    /// One that goes on where another one stopped.
    init(_ engine: consuming Engine, goingOnFrom rig: WidgetRig) {
        self.engine = engine
        now = rig.now
        dating = rig.dating
        observer = WidgetObserver(rig.observer)
        lastID = rig.lastID
    }

    func freshID() -> EntityID {
        lastID += 1
        return EntityID(lastID)
    }

    var latest: EntityID { EntityID(lastID) }

    // MARK: What a test asks

    func record(_ id: EntityID) -> WidgetRecord? {
        engine.widgets.slot(of: id).flatMap { engine.widgets.record(at: $0) }
    }

    func machine(_ id: EntityID) -> WidgetMachine? { record(id)?.machine }

    func state(_ id: EntityID) -> WidgetState? { machine(id)?.state }

    func reference(_ id: EntityID) -> SlotRef? {
        engine.widgets.slot(of: id).map { engine.widgets.reference(to: $0) }
    }

    /// The bytes of the entry that is shown.
    func entry(_ id: EntityID) -> String? {
        record(id).map { engine.withEntry(of: $0) { String(decoding: $0, as: UTF8.self) } }
    }

    func text(_ handle: PayloadHandle) -> String {
        engine.withBytes(of: handle) { String(decoding: $0, as: UTF8.self) }
    }

    func budget(_ id: EntityID) -> WidgetBudget? { record(id).map { engine.budget(of: $0, at: now) } }

    /// How many reloads were not charged for a reason.
    func exempt(_ id: EntityID, _ exemption: ReloadExemption) -> Int {
        budget(id)?.exempt.first { $0.exemption == exemption }?.count ?? 0
    }

    func kind(_ name: String, _ app: String = "com.a") -> DeclaredKindID? {
        engine.apps.find(Array(app.utf8)).flatMap { engine.widgets.kinds.find($0, Array(name.utf8)) }
    }

    func app(_ name: String) -> AppRecord? { engine.apps.find(Array(name.utf8)).map { engine.apps[$0] } }

    /// What `explain` shows, oldest first.
    func decisions(_ id: EntityID) -> [WidgetDecision] {
        engine.apps.apps.indices.flatMap { engine.widgets.newestDecisions(.max, about: id, of: AppID($0)) }
    }

    /// `#1 entryRelevance 1.0, #2 placement`.
    func stack(_ device: String = "d") -> String {
        engine.smartStack(of: Array(device.utf8), at: now).map { row in
            "\(row.id.short) \(row.rule)" + (row.score.map { " \($0)" } ?? "")
        }.joined(separator: ", ")
    }

    /// The last step's calls: `ask #1`, `perform #1`, `cancel #1`.
    var wanted: [String] { calls.map { observer.line(of: $0) } }

    // MARK: The owner's duties

    /// Does something to the engine and takes what follows.
    @discardableResult
    func step<Result>(_ body: (inout Engine) -> Result) -> Result {
        let result = body(&engine)
        take()
        return result
    }

    private func take() {
        journal?.stepBegins(engine)
        events = engine.widgets.events
        told = events.map(\.line)
        entries = []
        for event in events {
            entries.append(engine.withEntry(of: event) { String(decoding: $0, as: UTF8.self) })
            observer.follow(event, engine)
            journal?.record(event, engine)
        }
        calls = engine.widgets.takeCalls()
        for call in calls { observer.follow(call, engine) }
        journal?.stepEnds(engine)
        engine.releaseEvents()
        engine.releaseNotes()
        if isChecked { observer.check(engine, at: now) }
    }
}

extension WidgetEvent {
    /// `timeline #3 r2 loading>shown provider`, with ` late 5` where a deadline made it and ` exempt x` where it says
    /// so.
    var line: String {
        let from = before.map { "\($0.state)" } ?? ""
        let late = lateBy.map { " late \($0)" } ?? ""
        let exempt = exemption.map { " exempt \($0)" } ?? ""
        return "\(name) \(id.short) r\(revision) \(from)>\(after.state) \(after.cause)\(late)\(exempt)"
    }
}

extension Engine.WidgetOutcome {
    /// As a test speaks of it.
    var text: String {
        switch self {
        case .applied: "applied"
        case .reloading(let count): "reloading \(count)"
        case .invalidated(let count): "invalidated \(count)"
        case .ignored(_, let reason): "ignored \(reason)"
        case .refused(let refusal): Engine.Outcome.refused(refusal).text
        }
    }
}

extension WidgetMachine {
    /// What events tell of it: not that a timeline is to be asked for once more, and not how many requests became one.
    var settled: String {
        let held = hold.map { "\($0.until) \($0.reason) \($0.cause)" } ?? "-"
        return [
            "\(state) \(cause) \(hasEntry) \(entryIndex.map { Int($0) } ?? -1) \(entryCount) \(policy) \(timelineAt)",
            "\(needsLogin) \(isOnTop) \(failure) \(failures) \(held) \(charge) \(isOver) \(shownAt) \(lastReloadAt)",
            "\(previousReloadAt) \(nextEntryAt) \(policyAt) \(retryAt) \(score) \(relevanceEndsAt)",
        ].joined(separator: " ")
    }
}
