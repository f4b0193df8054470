import IsletCore
import IsletServer

/// A table and what it wants done, in words that a test can compare; ids and connections have names.
///
/// Calls are named in the order in which they were sent: `#1`, `#2`. A provider `a` is on the connection `a`, unless
/// another is said.
final class ProviderDesk {
    private var table: ProviderTable
    var now: Milliseconds = 1_000_000
    private var batch: [ProviderTable.Effect] = []
    private(set) var sent: [CallID] = []
    private var names: [ProviderRef: String] = [:]
    let base: UInt64

    init(base: UInt64 = 0xFFFF_FFFF_FFF0_0000, _ change: (inout ProviderTable.Limits) -> Void = { _ in }) {
        var limits = ProviderTable.Limits()
        change(&limits)
        self.base = base
        table = ProviderTable(limits: limits, base: base, at: now)
    }

    static func id(_ name: String) -> EntityID {
        EntityID(high: 7, low: name.utf8.reduce(0) { $0 << 8 | UInt64($1) })
    }

    static func value(_ control: UInt32) -> ProviderTable.Purpose {
        .value(SlotRef(slot: control, generation: 1))
    }

    static func perform(_ control: UInt32) -> ProviderTable.Purpose {
        .perform(SlotRef(slot: control, generation: 1))
    }

    func isInFlight(_ number: Int) -> Bool { table.isInFlight(call(number)) }

    /// The id of the `number`th call that was sent, from 1.
    func call(_ number: Int) -> CallID { number <= sent.count ? sent[number - 1] : CallID(12_345) }

    @discardableResult
    func register(
        _ name: String, on peer: String? = nil, kinds: [UInt32] = [1], capacity: Int = 16
    ) -> ProviderTable.Registration {
        let registration = table.register(
            Self.id(name), peer: Array((peer ?? name).utf8), kinds: kinds, capacity: capacity, at: now)
        switch registration {
        case .registered(let reference), .again(let reference): names[reference] = name
        case .refused: break
        }
        return registration
    }

    /// Registers a provider and lets it fail the value of control 1, which is call #1; what comes of that is not taken yet.
    func registerFailing(_ name: String, capacity: Int = 16) {
        register(name, capacity: capacity)
        ask(Self.value(1))
        _ = effects()
        fail(1, by: name)
    }

    func hasRoomForReads(_ kind: UInt32, failed: Bool = false) -> Bool {
        table.hasRoomForReads(of: kind, failed: failed)
    }

    func takesProbes(_ kind: UInt32) -> Bool { table.takesProbes(of: kind) }

    @discardableResult
    func ask(
        _ purpose: ProviderTable.Purpose, kind: UInt32 = 1, within: Milliseconds = 1_000, hasFailed: Bool = false,
        isAwaited: Bool? = nil
    ) -> ProviderTable.Request {
        table.request(purpose, kind: kind, within: within, hasFailed: hasFailed, isAwaited: isAwaited ?? !purpose.isRead, at: now)
    }

    @discardableResult
    func answer(_ number: Int, by name: String, on peer: String? = nil) -> ProviderTable.Verdict {
        table.answered(by: Self.id(name), peer: Array((peer ?? name).utf8), call: call(number), at: now)
    }

    @discardableResult
    func fail(
        _ number: Int, by name: String, retryable: Bool = false, reason: String = ""
    ) -> ProviderTable.Verdict {
        table.failed(
            by: Self.id(name), peer: Array(name.utf8), call: call(number), isRetryable: retryable,
            reason: Array(reason.utf8), at: now)
    }

    /// What was said of a call that is over.
    func reason(of purpose: ProviderTable.Purpose) -> String {
        String(decoding: table.takeReason(of: purpose), as: UTF8.self)
    }

    @discardableResult
    func reject(_ number: Int, by name: String) -> ProviderTable.Verdict {
        table.rejected(by: Self.id(name), peer: Array(name.utf8), call: call(number), at: now)
    }

    func hear(_ peer: String) { table.heard(from: Array(peer.utf8), at: now) }

    func pong(_ name: String, on peer: String? = nil, over descriptor: Int32? = nil) -> Bool {
        table.pong(Self.id(name), peer: Array((peer ?? name).utf8), over: descriptor, at: now)
    }

    /// A registration is about to come over a connection.
    func registers(_ peer: String, over descriptor: Int32?) {
        table.registers(Array(peer.utf8), over: descriptor, at: now)
    }

    /// A provider's connection of this descriptor ends.
    func cutOff(_ peer: String, descriptor: Int32 = 9) {
        table.registered(Array(peer.utf8), over: descriptor)
        table.ended(descriptor)
    }

    @discardableResult
    func cancel(_ purpose: ProviderTable.Purpose, _ reason: ProviderTable.CancelReason) -> ProviderTable.Cancellation {
        table.cancel(purpose, reason, at: now)
    }

    @discardableResult
    func leave(_ name: String, on peer: String? = nil) -> Bool {
        table.leave(Self.id(name), peer: Array((peer ?? name).utf8), at: now)
    }

    @discardableResult
    func drain(_ name: String, on peer: String? = nil) -> Bool {
        table.drain(Self.id(name), peer: Array((peer ?? name).utf8), at: now)
    }

    func unreachable(_ peer: String) { table.unreachable(Array(peer.utf8), at: now) }

    func stop() { table.stop(at: now) }

    @discardableResult
    func advance(isListening: Bool = true) -> Bool { table.advance(to: now, isListening: isListening) }

    // What can be asked of a table; here, because `#expect` takes no noncopyable value.
    var problem: String? { table.checkInvariants() }
    var nextWork: Milliseconds? { table.nextWork() }
    var openCalls: Int { table.openCalls }
    var providerCount: Int { table.providerCount }
    func purpose(_ number: Int, by name: String) -> ProviderTable.Purpose? {
        table.purpose(of: call(number), by: Self.id(name), peer: Array(name.utf8))
    }
    func isServed(_ kind: UInt32) -> Bool { table.isServed(kind) }
    func providers(of kind: UInt32) -> [ProviderRef] { table.providers(of: kind) }
    func hasProvider(of kind: UInt32, otherThan name: String) -> Bool {
        table.hasProvider(of: kind, otherThan: Self.id(name))
    }
    func provider(_ name: String) -> ProviderRef? { table.provider(Self.id(name)) }
    func peer(of provider: ProviderRef) -> [UInt8]? { table.peer(of: provider) }
    func id(of provider: ProviderRef) -> EntityID? { table.id(of: provider) }
    func statistics(of provider: ProviderRef) -> ProviderStatistics? { table.statistics(of: provider) }

    /// Lets time pass as a service does: from one thing that is due to the next.
    ///
    /// - Parameter isListening: whether the service takes messages meanwhile.
    func pass(_ span: Milliseconds, isListening: Bool = true) {
        let end = now + span
        while let due = table.nextWork(), due <= end {
            now = max(now, due)
            table.advance(to: now, isListening: isListening)
        }
        now = end
        table.advance(to: now, isListening: isListening)
    }

    /// What is to be done, without pings; calls that are to be sent are.
    func effects() -> [String] { allEffects().filter { !$0.hasPrefix("ping") } }

    func allEffects() -> [String] {
        table.takeEffects(into: &batch)
        return batch.map { effect in
            if case .send(let id, _, _, _, _) = effect { table.delivered(id) }
            return describe(effect)
        }
    }

    /// The ends of calls alone.
    func ends() -> [String] {
        table.takeEnds(into: &batch)
        return batch.map(describe)
    }

    private func describe(_ effect: ProviderTable.Effect) -> String {
        switch effect {
        case .send(let id, let provider, let purpose, let attempt, let within):
            sent.append(id)
            let again = attempt == 1 ? "" : " again"
            return "#\(sent.count) \(describe(purpose)) to \(name(provider))\(again) within \(within)"
        case .cancel(let id, let provider, let reason):
            return "cancel #\((sent.firstIndex(of: id) ?? -1) + 1) at \(name(provider)): \(reason)"
        case .givenBack(let purpose, let isAwaited):
            return "\(describe(purpose)) given back\(isAwaited ? ", awaited" : "")"
        case .failed(let purpose, let failure, _): return "\(describe(purpose)) failed: \(failure)"
        case .ping(let provider): return "ping \(name(provider))"
        case .dropped(let provider, let reason): return "dropped \(name(provider)): \(reason)"
        }
    }

    private func describe(_ purpose: ProviderTable.Purpose) -> String {
        switch purpose {
        case .value(let control): "value \(control.slot)"
        case .perform(let control): "perform \(control.slot)"
        case .timeline(let widget): "timeline \(widget.slot)"
        case .performWidget(let widget): "perform widget \(widget.slot)"
        case .question(let number): "question \(number)"
        }
    }

    private func name(_ provider: ProviderRef) -> String { names[provider] ?? "nobody" }
}
