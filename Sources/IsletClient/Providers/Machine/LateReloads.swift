/// The reloads that a provider owes: those of the entities whose action ended for a call that the service no longer waits
/// for, and of their siblings where the kind says that an action is about those, too. The service holds what was true
/// before such an action, and asks again only when it is told to.
///
/// A pure value. A reload is owed until the service has answered it, beyond the loss of a connection, too.
package struct LateReloads: Sendable {
    /// Beyond so many, all entities of the family are reloaded in place of single ones.
    package static let maximumCount = 1_024

    /// What is reloaded: an entity of the app, all of a kind, or all of a family where there is neither.
    private struct Target: Sendable, Hashable {
        var op: String
        var kind: String?
        var id: String?
    }

    private let app: String
    /// The kinds of controls whose values are all asked for after an action.
    private let kindsWithSiblings: Set<String>
    private var owed: [Target] = []
    /// What was asked and is not answered, by its `req`.
    private var asked: [String: Target] = [:]
    private var lastNumber: UInt64 = 0
    /// What is owed is not asked before this.
    private var notBefore: ContinuousClock.Instant?

    init(app: String, kindsWithSiblings: Set<String>) {
        self.app = app
        self.kindsWithSiblings = kindsWithSiblings
    }

    /// When there is something to ask; nil: not until answers or actions come.
    var due: ContinuousClock.Instant? {
        owed.isEmpty || asked.count >= Self.maximumCount ? nil : notBefore
    }

    /// The action of this call has ended; other calls have no effect that the service must learn of.
    mutating func ended(_ call: ProviderCall, now: ContinuousClock.Instant) {
        switch call.purpose {
        case .control(.perform):
            let hasSiblings = kindsWithSiblings.contains(call.kind)
            let target = Target(
                op: "control.reload", kind: hasSiblings ? call.kind : nil, id: hasSiblings ? nil : call.instance)
            add(target, at: now)
        case .widget(.perform): add(Target(op: "widget.reload", id: call.instance), at: now)
        case .control(.value), .control(.options): break
        case .widget(.timeline), .widget(.snapshot), .widget(.options), .widget(.recommendations), .widget(.relevance):
            break
        }
    }

    private mutating func add(_ target: Target, at time: ContinuousClock.Instant) {
        notBefore = max(notBefore ?? time, time)
        guard !owed.contains(target), !owed.contains(Target(op: target.op)) else { return }
        if owed.count >= Self.maximumCount {
            owed.removeAll { $0.op == target.op }
            owed.append(Target(op: target.op))
        } else {
            owed.append(target)
        }
    }

    /// The commands that are to be sent now, while the provider is registered.
    mutating func frames(now: ContinuousClock.Instant) -> [[UInt8]] {
        guard let due, due <= now else { return [] }
        let asking = owed.prefix(Self.maximumCount - asked.count)
        owed.removeFirst(asking.count)
        return asking.map { target in
            lastNumber += 1
            let req = "reload-\(lastNumber)"
            asked[req] = target
            var members: RawObject = ["app": .string(app)]
            members["kind"] = target.kind.map(RawJSON.string)
            members["id"] = target.id.map(RawJSON.string)
            return Command(target.op, members).frame(req: req, client: nil)
        }
    }

    /// Takes an answer in; false where it belongs to something else.
    mutating func received(
        _ result: Result<Answer, IsletError>, to req: String?, now: ContinuousClock.Instant
    ) -> Bool {
        guard let req, let target = asked.removeValue(forKey: req) else { return false }
        guard case .failure(.refused(let error)) = result, error.retry == .later else { return true }
        add(target, at: now + .milliseconds(max(Self.leastWait, error.retryAfter ?? 0)))
        return true
    }

    private static let leastWait: Int64 = 100

    /// What has no answer may never have been taken.
    mutating func connectionLost(now: ContinuousClock.Instant) {
        let unanswered = asked.sorted { $0.key < $1.key }.map(\.value)
        asked = [:]
        for target in unanswered { add(target, at: now) }
    }
}
