import IsletCore
import Testing

/// Someone who knows the engine only by its events and calls: what the contract promises of a stream with widgets, and
/// of calls, is checked on each; the numbers that the engine says of itself, and the ledgers, are computed once more.
final class WidgetObserver {
    struct Copy {
        var prefix: String
        var app: String
        var device: String?
        var isListed = true
        var revision: UInt64 = 0
        var seq: UInt64 = 0
        var machine: WidgetMachine
        /// The dates of all reloads that were charged and not given back.
        var charged: [Instant] = []
        var exempt: [ReloadExemption: Int] = [:]
        /// What its provider said of the call that it failed, as its events told; empty: nothing.
        var reason = ""
        /// How the last one was paid.
        var lastPaid: ReloadExemption??
    }

    private(set) var copies: [EntityID: Copy] = [:]
    private var seqs: [String: UInt64] = [:]
    private var homes: [EntityID: (prefix: String, app: String, device: String?)] = [:]
    private var lastAt: Instant?
    private var names: [SlotRef: EntityID] = [:]
    /// The call that is out for each widget.
    private(set) var open: [EntityID: WidgetCall] = [:]
    /// Whether a provider got the call that fails now.
    var wasSent = true
    /// What kinds were declared as, by the bytes that are stored of them.
    var declarations: [[UInt8]: WidgetKindDeclaration] = [:]

    init() {}

    init(_ other: WidgetObserver) {
        copies = other.copies
        seqs = other.seqs
        homes = other.homes
        lastAt = other.lastAt
        declarations = other.declarations
    }

    /// A widget that may come; one that is there stays what it is.
    func expect(_ id: EntityID, _ prefix: String, _ app: String, _ device: String?) {
        if copies[id]?.isListed != true { homes[id] = (prefix, app, device) }
    }

    var widgets: [EntityID] { copies.filter { $0.value.isListed }.map(\.key).sorted() }
    var removed: [EntityID] { copies.filter { !$0.value.isListed }.map(\.key).sorted() }
    func app(of id: EntityID) -> String { copies[id]?.app ?? "" }

    func follow(_ event: WidgetEvent, _ engine: borrowing Engine) {
        guard let home = homes[event.id] else { return complain("\(event.line): nobody placed it") }
        #expect(engine.widgets.record(at: event.slot)?.id == event.id, "\(event.line) points at another slot")
        let old = copies[event.id].flatMap { $0.isListed ? $0 : nil }
        #expect((event.before == nil) == (old == nil), "\(event.line)")
        #expect(event.before?.settled == old?.machine.settled, "\(event.line): it was another one")
        if let before = event.before?.state {
            let isLegal = Self.legal(before, event.name).contains(event.after.state)
            #expect(isLegal, "\(event.line) is no legal step")
        }
        #expect(String(decoding: engine.apps[event.app].name, as: UTF8.self) == home.app, "\(event.line)")
        #expect(event.seq == (seqs[home.app] ?? 0) + 1, "\(event.line): the sequence of \(home.app) has a gap")
        seqs[home.app] = event.seq
        #expect(event.previous == old?.seq ?? 0, "\(event.line): it was at \(old?.seq ?? 0) before")
        #expect(UInt64(event.revision) == (old?.revision ?? 0) + 1, "\(event.line): its revisions have a gap")
        if let lastAt { #expect(event.at >= lastAt, "\(event.line): time goes back") }
        lastAt = event.at
        if let lateBy = event.lateBy { #expect(lateBy >= 0, "\(event.line)") }
        var copy = old ?? Copy(prefix: home.prefix, app: home.app, device: home.device, machine: event.after)
        copy.revision = UInt64(event.revision)
        copy.seq = event.seq
        copy.isListed = event.after.state != .removed
        pay(event, &copy)
        copy.machine = event.after
        let reason = engine.withBytes(of: event.failureReason) { String(decoding: $0, as: UTF8.self) }
        #expect((reason != copy.reason) == event.changes.failureReason, "\(event.line): \(reason)")
        #expect(reason.isEmpty || event.after.failure == .threw, "\(event.line): \(reason)")
        copy.reason = reason
        copies[event.id] = copy
        if event.before == nil { names[engine.widgets.reference(to: event.slot)] = event.id }
        // What the events show is an entry of that very machine.
        let hasBytes = engine.withEntry(of: event) { !$0.isEmpty }
        #expect(hasBytes == event.after.hasEntry || !copy.isListed, "\(event.line)")
    }

    /// The states that an event may lead to, as the machine's documentation has them.
    private static func legal(_ state: WidgetState, _ name: WidgetEventName) -> Set<WidgetState> {
        switch name {
        case .added: []
        case .configured: state == .removed ? [] : [state, .loading]
        case .reloading: state == .shown ? [.reloading] : state == .placeholder ? [.loading] : []
        case .timeline: state == .loading || state == .reloading ? [.shown, .placeholder] : []
        case .entry:
            state == .loading ? [.reloading] : state == .placeholder ? [.shown] : state == .removed ? [] : [state]
        case .held: state == .shown || state == .placeholder ? [state] : []
        case .failed: state == .loading ? [.placeholder] : state == .reloading || state == .acting ? [.shown] : []
        case .acting: state == .shown || state == .reloading ? [.acting] : []
        case .performed: state == .acting ? [.reloading] : []
        case .tapped, .rotated: state == .removed ? [] : [state]
        case .removed: state == .removed ? [] : [.removed]
        }
    }

    /// Keeps the books by the contract's words: what asks for a timeline is charged unless it says why not.
    private func pay(_ event: WidgetEvent, _ copy: inout Copy) {
        let asks: Bool
        switch event.name {
        case .added, .reloading, .performed: asks = true
        case .configured: asks = event.changes.configuration
        case .failed:
            asks = false
            let askedNobody = !wasSent || event.after.failure == .noProvider || event.after.failure == .busy
            if askedNobody, event.before?.state != .acting, let paid = copy.lastPaid {
                if let exemption = paid { copy.exempt[exemption, default: 0] -= 1 } else { copy.charged.removeLast() }
            }
            copy.lastPaid = nil
        case .timeline, .entry, .held, .acting, .tapped, .rotated, .removed: asks = false
        }
        guard asks else { return }
        if let exemption = event.exemption {
            copy.exempt[exemption, default: 0] += 1
        } else {
            copy.charged.append(event.at)
        }
        copy.lastPaid = .some(event.exemption)
    }

    func follow(_ call: WidgetCall, _ engine: borrowing Engine) {
        guard let id = names[call.widget] else { return complain("a call for nobody") }
        switch call.kind {
        case .cancel(let isRemoved):
            #expect(isRemoved == (copies[id]?.isListed == false), "\(id.short)")
            open[id] = nil
        case .askTimeline, .perform: open[id] = call
        }
    }

    func line(of call: WidgetCall) -> String {
        let name = names[call.widget]?.short ?? "nobody"
        switch call.kind {
        case .askTimeline: return "ask \(name)"
        case .perform: return "perform \(name)"
        case .cancel: return "cancel \(name)"
        }
    }

    /// Learns the handles of an engine that was made anew.
    func meet(_ engine: borrowing Engine) {
        names = [:]
        for id in widgets {
            guard let slot = engine.widgets.slot(of: id) else { continue }
            names[engine.widgets.reference(to: slot)] = id
        }
    }

    /// Compares digest, entities, counts, timers, ledgers and calls with what the events told.
    func check(_ engine: borrowing Engine, at now: Instant) {
        var digests: [String: UInt64] = [:]
        var entities: [String: Int] = [:]
        var kinds: [String: Int] = [:]
        var tops: [String: [EntityID]] = [:]
        var states = [Int](repeating: 0, count: WidgetState.allCases.count)
        for (id, copy) in copies where copy.isListed {
            digests[copy.app, default: 0] ^= NaiveDigest.share(topic: "\(copy.prefix)\(id)", revision: copy.revision)
            entities[copy.app, default: 0] += 1
            kinds[copy.prefix, default: 0] += 1
            states[Int(copy.machine.state.rawValue)] += 1
            if let device = copy.device {
                tops[device, default: []] += copy.machine.isOnTop ? [id] : []
            } else {
                #expect(!copy.machine.isOnTop)
            }
            check(id, copy, engine, at: now)
        }
        for app in engine.apps.apps {
            let name = String(decoding: app.name, as: UTF8.self)
            #expect(app.seq == seqs[name] ?? 0 && app.digest.value == digests[name] ?? 0, "\(name)")
            #expect(app.entities == entities[name] ?? 0, "\(name)")
        }
        #expect(engine.entityCount == entities.values.reduce(0, +))
        #expect(engine.widgets.count == kinds.values.reduce(0, +))
        #expect(engine.widgets.countByState == states)
        for (device, top) in tops {
            #expect(top.count == 1, "\(device) has \(top.count) tops")
        }
        for kind in engine.widgets.kinds.records {
            #expect(kind.placed == kinds[String(decoding: kind.topicPrefix, as: UTF8.self)] ?? 0)
        }
    }

    /// A widget is what its events told, a call is out exactly where it waits for one, and its ledger is the sum of
    /// them.
    private func check(_ id: EntityID, _ copy: Copy, _ engine: borrowing Engine, at now: Instant) {
        guard let slot = engine.widgets.slot(of: id), let record = engine.widgets.record(at: slot) else {
            return complain("\(id.short) is not there")
        }
        #expect(record.machine.settled == copy.machine.settled, "\(id.short)")
        #expect(UInt64(record.revision) == copy.revision && record.lastSeq == copy.seq, "\(id.short)")
        let reason = engine.withBytes(of: record.failureReason) { String(decoding: $0, as: UTF8.self) }
        #expect(reason == copy.reason, "\(id.short)")
        let budget = engine.budget(of: record, at: now)
        #expect(budget.spentAt == copy.charged.filter { now - $0 < 86_400_000 }, "\(id.short)")
        for (exemption, count) in budget.exempt {
            #expect(count == copy.exempt[exemption] ?? 0, "\(id.short) \(exemption)")
        }
        #expect((budget.hold != nil) == (copy.machine.hold != nil))
        guard copy.machine.hasCall else { return }
        guard let call = open[id] else { return complain("\(id.short) is \(copy.machine.state), and nobody is asked") }
        #expect(call.serial == record.callSerial, "\(id.short): a newer call than the one that is out")
        let isAction = call.kind == .perform
        #expect(isAction == (copy.machine.state == .acting), "\(id.short)")
    }
}
