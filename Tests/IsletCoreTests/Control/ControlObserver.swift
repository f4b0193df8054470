import IsletCore
import Testing

/// Someone who knows the engine only by its events and calls: what the contract promises of a stream with controls and
/// activities, and of calls, is checked on each, and the numbers that the engine says of itself are computed once more.
final class ControlObserver {
    private struct Copy {
        var prefix: String
        var app: String
        /// Dismissed activities and removed controls are listed no more.
        var isListed: Bool
        var revision: UInt64
        var seq: UInt64
        /// The last machine, where it is a control's.
        var machine: ControlMachine?
        /// What its provider said of the call that it failed, as its events told; empty: nothing.
        var reason = ""
        /// The state before, where it is an activity's.
        var state: ActivityState?
    }

    private var copies: [EntityID: Copy] = [:]
    private var seqs: [String: UInt64] = [:]
    private var homes: [EntityID: (prefix: String, app: String)] = [:]
    private var lastAt: Instant?
    private var names: [SlotRef: EntityID] = [:]
    /// The call that is out for each control.
    private(set) var open: [EntityID: ControlCall] = [:]
    /// What kinds were declared as, by the bytes that are stored of them.
    var declarations: [[UInt8]: ControlKindDeclaration] = [:]
    /// Whether `at` must never fall.
    var expectsRisingDates = true

    init() {}

    init(_ other: ControlObserver) {
        copies = other.copies
        seqs = other.seqs
        homes = other.homes
        lastAt = other.lastAt
        declarations = other.declarations
        expectsRisingDates = other.expectsRisingDates
    }

    /// An entity that may come; one that is there stays what it is.
    func expect(_ id: EntityID, _ prefix: String, _ app: String) {
        if copies[id]?.isListed != true { homes[id] = (prefix, app) }
    }

    /// The listed controls.
    var controls: [EntityID] { copies.filter { $0.value.isListed && $0.value.machine != nil }.map(\.key).sorted() }
    /// The listed activities.
    var activities: [EntityID] { copies.filter { $0.value.isListed && $0.value.state != nil }.map(\.key).sorted() }
    /// Controls that were removed.
    var removed: [EntityID] { copies.filter { !$0.value.isListed && $0.value.machine != nil }.map(\.key).sorted() }
    func app(of id: EntityID) -> String { copies[id]?.app ?? "" }

    func follow(_ event: ControlEvent, _ engine: borrowing Engine) {
        guard let home = homes[event.id] else { return complain("\(event.line): nobody placed it") }
        let record = engine.controls.record(at: event.slot)
        #expect(record?.id == event.id, "\(event.line) points at a slot of \(record?.id.short ?? "nobody")")
        let copy = copies[event.id].flatMap { $0.isListed ? $0 : nil }
        let known = copy?.machine.map { "\($0.state)" } ?? "not there"
        #expect(event.before?.settled == copy?.machine?.settled, "\(event.line): it was \(known)")
        note(
            event.id, home, event.app, event.seq, event.previous, UInt64(event.revision), event.at, event.lateBy,
            event.line, copy, engine)
        copies[event.id]?.isListed = event.after.state != .removed
        copies[event.id]?.machine = event.after
        let reason = engine.withBytes(of: event.failureReason) { String(decoding: $0, as: UTF8.self) }
        #expect((reason != copy?.reason ?? "") == event.changes.failureReason, "\(event.line): \(reason)")
        #expect(reason.isEmpty || event.after.failure == .threw, "\(event.line): \(reason)")
        copies[event.id]?.reason = reason
        if event.before == nil { names[engine.controls.reference(to: event.slot)] = event.id }
    }

    func follow(_ event: ActivityEvent, _ engine: borrowing Engine) {
        guard let home = homes[event.id] else { return complain("\(event.line): nobody started it") }
        let copy = copies[event.id]
        #expect(event.before?.state == copy?.state, "\(event.line)")
        note(
            event.id, home, event.app, event.seq, event.previous, UInt64(event.revision), event.at, event.lateBy,
            event.line, copy, engine)
        copies[event.id]?.isListed = event.after.state.isListed
        copies[event.id]?.state = event.after.state
    }

    private func note(
        _ id: EntityID, _ home: (prefix: String, app: String), _ app: AppID, _ seq: UInt64, _ previous: UInt64,
        _ revision: UInt64, _ at: Instant, _ lateBy: Milliseconds?, _ line: String, _ copy: Copy?,
        _ engine: borrowing Engine
    ) {
        #expect(String(decoding: engine.apps[app].name, as: UTF8.self) == home.app, "\(line)")
        #expect(seq == (seqs[home.app] ?? 0) + 1, "\(line): the sequence of \(home.app) has a gap")
        seqs[home.app] = seq
        #expect(previous == copy?.seq ?? 0, "\(line): it was at \(copy?.seq ?? 0) before")
        #expect(revision == (copy?.revision ?? 0) + 1, "\(line): its revisions have a gap")
        if expectsRisingDates, let lastAt { #expect(at >= lastAt, "\(line): time goes back") }
        lastAt = at
        if let lateBy { #expect(lateBy >= 0, "\(line)") }
        copies[id] = Copy(prefix: home.prefix, app: home.app, isListed: true, revision: revision, seq: seq)
    }

    func follow(_ call: ControlCall, _ engine: borrowing Engine) {
        guard let id = names[call.control] else { return complain("a call for nobody") }
        switch call.kind {
        case .cancel(let isRemoved):
            #expect(isRemoved == (copies[id]?.isListed == false), "\(id.short)")
            open[id] = nil
        case .askValue, .perform:
            // What was out before has come to its end, or was given up in words.
            open[id] = call
        }
        #expect(engine.controls.record(call.control).map { call.serial <= $0.callSerial } ?? true)
    }

    func line(of call: ControlCall) -> String {
        let name = names[call.control]?.short ?? "nobody"
        switch call.kind {
        case .askValue: return "ask \(name)"
        case .perform(let wish): return "perform(\(wish)) \(name)"
        case .cancel: return "cancel \(name)"
        }
    }

    /// Learns the handles of an engine that was made anew.
    func meet(_ engine: borrowing Engine) {
        names = [:]
        for id in controls {
            guard let slot = engine.controls.slot(of: id) else { continue }
            names[engine.controls.reference(to: slot)] = id
        }
    }

    /// Compares digest, entities, counts and calls with what the events told.
    func check(_ engine: borrowing Engine) {
        var digests: [String: UInt64] = [:]
        var entities: [String: Int] = [:]
        var kinds: [String: Int] = [:]
        var states = [Int](repeating: 0, count: ControlState.allCases.count)
        for (id, copy) in copies where copy.isListed {
            digests[copy.app, default: 0] ^= NaiveDigest.share(topic: "\(copy.prefix)\(id)", revision: copy.revision)
            entities[copy.app, default: 0] += 1
            guard let machine = copy.machine else { continue }
            kinds[copy.prefix, default: 0] += 1
            states[Int(machine.state.rawValue)] += 1
            check(id, machine, copy, engine)
        }
        for app in engine.apps.apps {
            let name = String(decoding: app.name, as: UTF8.self)
            #expect(app.seq == seqs[name] ?? 0, "\(name)")
            #expect(app.digest.value == digests[name] ?? 0, "\(name)")
            #expect(app.entities == entities[name] ?? 0, "\(name)")
        }
        #expect(engine.entityCount == entities.values.reduce(0, +))
        #expect(engine.controls.count == kinds.values.reduce(0, +))
        #expect(engine.controls.countByState == states)
        for kind in engine.controls.kinds.records {
            #expect(kind.placed == kinds[String(decoding: kind.topicPrefix, as: UTF8.self)] ?? 0)
        }
    }

    /// A control is what its events told, and a call is out exactly where it waits for one.
    private func check(_ id: EntityID, _ machine: ControlMachine, _ copy: Copy, _ engine: borrowing Engine) {
        guard let slot = engine.controls.slot(of: id), let record = engine.controls.record(at: slot) else {
            return complain("\(id.short) is not there")
        }
        // That a value is to be asked for once more is told by no event.
        #expect(record.machine.settled == machine.settled, "\(id.short)")
        #expect(UInt64(record.revision) == copy.revision && record.lastSeq == copy.seq, "\(id.short)")
        let reason = engine.withBytes(of: record.failureReason) { String(decoding: $0, as: UTF8.self) }
        #expect(reason == copy.reason, "\(id.short)")
        guard machine.hasCall else { return }
        guard let call = open[id] else { return complain("\(id.short) is \(machine.state), and nothing is asked for") }
        #expect(call.serial == record.callSerial, "\(id.short): a newer call than the one that is out")
        switch call.kind {
        case .askValue: #expect(machine.state == .loading || machine.state == .reloading, "\(id.short)")
        case .perform(let wish): #expect(machine.state == .acting && machine.wish == wish, "\(id.short)")
        case .cancel: Issue.record("a call that is given up is not out")
        }
    }

    /// The digest over the listed entities whose topics begin with a prefix, and how many they are.
    func digest(_ app: String, prefix: String) -> (entities: Int, value: UInt64) {
        var result = (entities: 0, value: UInt64(0))
        for (id, copy) in copies where copy.app == app && copy.isListed && "\(copy.prefix)\(id)".hasPrefix(prefix) {
            result.entities += 1
            result.value ^= NaiveDigest.share(topic: "\(copy.prefix)\(id)", revision: copy.revision)
        }
        return result
    }
}

extension ControlMachine {
    /// Without the mark that its value is to be asked for once more, which no event tells.
    var settled: ControlMachine {
        guard state == .loading || state == .reloading else { return self }
        var machine = self
        _ = machine.restarted()
        return machine
    }
}

/// Records an issue and goes on.
func complain(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
    Issue.record("\(text)", sourceLocation: sourceLocation)
}
