import IsletCore
import Testing

/// An engine with controls and activities, and the owner's duties done for it: frames are built, events and calls are
/// taken after each step, and what an observer of both would know is compared with what the engine says of itself.
final class ControlRig {
    var engine: Engine
    var now: Instant
    var dating: Engine.Dating = .whenNoticed
    let observer: ControlObserver
    /// What happened in the last step, activities and controls in the order of the stream: `shown #3 r2 loading>shown`.
    private(set) var told: [String] = []
    /// The events of controls of the last step.
    private(set) var events: [ControlEvent] = []
    /// What the last step wanted of providers.
    private(set) var calls: [ControlCall] = []
    /// Gets every event before its slot is released, in the order of the stream.
    var recorder: (any ControlRecorder)?
    /// Whether everything is compared after each step; off where a test has very many controls.
    var isChecked = true
    private var lastID: UInt64 = 0

    init(_ rules: RuleSet = .standard, at start: Instant = EngineRig.start) {
        engine = Engine(rules: rules, start: start)
        now = start
        observer = ControlObserver()
    }

    /// One that goes on where another one stopped.
    init(_ engine: consuming Engine, goingOnFrom rig: ControlRig) {
        self.engine = engine
        now = rig.now
        dating = rig.dating
        observer = ControlObserver(rig.observer)
        lastID = rig.lastID
    }

    func freshID() -> EntityID {
        lastID += 1
        return EntityID(lastID)
    }

    var latest: EntityID { EntityID(lastID) }

    // MARK: What a test asks

    func record(_ id: EntityID) -> ControlRecord? {
        engine.controls.slot(of: id).flatMap { engine.controls.record(at: $0) }
    }

    func state(_ id: EntityID) -> ControlState? { record(id)?.machine.state }

    func reference(_ id: EntityID) -> SlotRef? {
        engine.controls.slot(of: id).map { engine.controls.reference(to: $0) }
    }

    func text(_ handle: PayloadHandle?) -> String? {
        handle.map { engine.withBytes(of: $0) { String(decoding: $0, as: UTF8.self) } }
    }

    func app(_ name: String) -> AppRecord? { engine.apps.find(Array(name.utf8)).map { engine.apps[$0] } }

    func kind(_ name: String, _ app: String = "com.a") -> ControlKindID? {
        engine.apps.find(Array(app.utf8)).flatMap { engine.controls.kinds.find($0, Array(name.utf8)) }
    }

    /// What `explain` shows, oldest first.
    func decisions(_ id: EntityID) -> [ControlDecision] {
        engine.apps.apps.indices.flatMap { engine.controls.newestDecisions(.max, about: id, of: AppID($0)) }
    }

    /// The last step's calls: `ask #1`, `perform(on) #1`, `cancel #1`.
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
        recorder?.stepBegins(engine, at: now)
        told = []
        events = engine.controls.events
        var next = 0
        for index in engine.events.indices {
            while next < events.count, events[next].position <= index + next {
                observe(events[next])
                next += 1
            }
            let event = engine.events[index]
            told.append(event.line)
            observer.follow(event, engine)
            recorder?.record(event, engine)
        }
        while next < events.count {
            observe(events[next])
            next += 1
        }
        calls = engine.controls.takeCalls()
        for call in calls { observer.follow(call, engine) }
        recorder?.stepEnds(engine)
        engine.releaseEvents()
        engine.releaseNotes()
        if isChecked { observer.check(engine) }
    }

    private func observe(_ event: ControlEvent) {
        told.append(event.line)
        observer.follow(event, engine)
        recorder?.record(event, engine)
    }
}

/// Who writes down what the engine did.
protocol ControlRecorder: AnyObject {
    func stepBegins(_ engine: borrowing Engine, at now: Instant)
    func record(_ event: ControlEvent, _ engine: borrowing Engine)
    func record(_ event: ActivityEvent, _ engine: borrowing Engine)
    func stepEnds(_ engine: borrowing Engine)
}

extension ControlEvent {
    /// `shown #3 r2 loading>shown on provider`, with ` late 5` where a deadline made it.
    var line: String {
        let from = before.map { "\($0.state)" } ?? ""
        let isOn = after.template == .toggle ? after.isOn ? " on" : " off" : ""
        let late = lateBy.map { " late \($0)" } ?? ""
        return "\(name) \(id.short) r\(revision) \(from)>\(after.state)\(isOn) \(after.cause)\(late)"
    }
}

extension Engine.ControlOutcome {
    /// As a test speaks of it.
    var text: String {
        switch self {
        case .applied: "applied"
        case .reloading(let count): "reloading \(count)"
        case .ignored(_, let reason): "ignored \(reason)"
        case .refused(let refusal): Engine.Outcome.refused(refusal).text
        case .notAToggle: "notAToggle"
        }
    }
}
