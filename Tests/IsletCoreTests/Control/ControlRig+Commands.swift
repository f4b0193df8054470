import IsletCore
import Testing

/// The commands about controls, what providers say, and a few about activities.
extension ControlRig {
    // MARK: Kinds

    @discardableResult
    func declare(
        _ name: String, _ app: String = "com.a", _ sample: ControlSample = .toggle, preview: Bool = false,
        policy: ControlAuthenticationPolicy = .alwaysAllowed, isPrivate: Bool = false, siblings: Bool = false,
        title: String = "", mayReplace: Bool = false
    ) -> ControlKindVerdict {
        var kind = ControlKindDeclaration(kind: Array(name.utf8), template: sample.template)
        kind.hasValue = sample.hasValue
        if sample == .toggle { kind.previewValue = Array("\(preview)".utf8) }
        kind.authenticationPolicy = policy
        kind.isPrivacySensitive = isPrivate
        kind.reloadsSiblings = siblings
        kind.displayName = Array(title.utf8)
        kind.json = Array("\(app)/\(name)/\(sample)/\(preview)/\(policy)/\(isPrivate)/\(siblings)/\(title)".utf8)
        observer.declarations[kind.json] = kind
        var frame = FrameBuilder()
        let range = frame.run(app)
        let bytes = frame.bytes
        return step { $0.declareControlKind(kind, app: range, bytes.span, mayReplace: mayReplace, at: now) }
    }

    /// A provider came for a kind that had none.
    func register(_ kind: String, _ app: String = "com.a") {
        guard let kind = self.kind(kind, app) else { return complain("\(kind) was not declared") }
        let now = now
        step { $0.controlKindIsProvided(kind, at: now) }
    }

    // MARK: Commands

    @discardableResult
    func add(
        _ kind: String, _ app: String = "com.a", device: String? = nil, configuration: String? = nil,
        id: EntityID? = nil, ifRevision: UInt64? = nil
    ) -> Engine.ControlOutcome {
        var frame = FrameBuilder()
        var add = ControlAdd(app: frame.run(app), kind: frame.run(kind))
        add.configuration = frame.run(configuration)
        add.device = frame.run(device)
        add.id = id
        let fresh = freshID()
        observer.expect(id ?? fresh, "\(app)/control/\(kind)/", app)
        return send(frame, ifRevision: ifRevision) { $0.addControl(add, $1, $2, at: $3, freshID: fresh) }
    }

    /// One that is added, and whose first value came where it has one.
    func placed(
        _ kind: String, _ app: String = "com.a", device: String? = nil, isOn: Bool = false
    ) -> EntityID {
        let outcome = add(kind, app, device: device)
        precondition(outcome.text == "applied", "it was not placed: \(outcome.text)")
        let id = latest
        if state(id) == .loading { answer(id, value: "\(isOn)") }
        return id
    }

    @discardableResult
    func configure(
        _ id: EntityID, _ configuration: String, _ app: String = "com.a", ifRevision: UInt64? = nil
    ) -> Engine.ControlOutcome {
        var frame = FrameBuilder()
        let configure = ControlConfigure(
            address: ControlAddress(app: frame.run(app), id: id), configuration: frame.run(configuration))
        let dating = dating
        return send(frame, ifRevision: ifRevision) { $0.configureControl(configure, $1, $2, at: $3, dating) }
    }

    @discardableResult
    func remove(_ id: EntityID, _ app: String = "com.a", ifRevision: UInt64? = nil) -> Engine.ControlOutcome {
        var frame = FrameBuilder()
        let address = ControlAddress(app: frame.run(app), id: id)
        let dating = dating
        return send(frame, ifRevision: ifRevision) { $0.removeControl(address, $1, $2, at: $3, dating) }
    }

    /// A tap; with a value, `control.set`.
    @discardableResult
    func tap(
        _ id: EntityID, _ app: String = "com.a", isOn: Bool? = nil, ifRevision: UInt64? = nil
    ) -> Engine.ControlOutcome {
        var frame = FrameBuilder()
        let address = ControlAddress(app: frame.run(app), id: id)
        let dating = dating
        return send(frame, ifRevision: ifRevision) { $0.tapControl(address, isOn: isOn, $1, $2, at: $3, dating) }
    }

    @discardableResult
    func reload(
        _ id: EntityID, _ app: String = "com.a", source: Source = .local, ifRevision: UInt64? = nil
    ) -> Engine.ControlOutcome {
        var frame = FrameBuilder()
        let reload = ControlReload.one(ControlAddress(app: frame.run(app), id: id))
        let dating = dating
        return send(frame, source, ifRevision: ifRevision) { $0.reloadControls(reload, $1, $2, at: $3, dating) }
    }

    @discardableResult
    func reload(kind: String?, _ app: String = "com.a", source: Source = .local) -> Engine.ControlOutcome {
        var frame = FrameBuilder()
        let app = frame.run(app)
        let reload =
            frame.run(kind).map { ControlReload.kind(ControlKindAddress(app: app, kind: $0)) } ?? .all(app: app)
        let dating = dating
        return send(frame, source) { $0.reloadControls(reload, $1, $2, at: $3, dating) }
    }

    private func send(
        _ frame: FrameBuilder, _ source: Source = .local, ifRevision: UInt64? = nil,
        _ body: (inout Engine, Envelope, Span<UInt8>, Instant) -> Engine.ControlOutcome
    ) -> Engine.ControlOutcome {
        let envelope = EngineRig.envelope(source, ifRevision: ifRevision)
        let (bytes, now) = (frame.bytes, now)
        return step { body(&$0, envelope, bytes.span, now) }
    }

    @discardableResult
    func report(_ device: String, _ kind: DeviceEventKind, app: String? = nil) -> String {
        var frame = FrameBuilder()
        let event = DeviceEvent(device: frame.run(device), kind: kind, app: frame.run(app))
        return apply(.deviceEvent(event), frame)
    }

    /// An operation that is the engine's own; what it came to.
    @discardableResult
    func apply(_ operation: Operation, _ frame: FrameBuilder, freshID: EntityID? = nil) -> String {
        let id = freshID ?? self.freshID()
        let (bytes, now, dating) = (frame.bytes, now, dating)
        let command = Command(envelope: EngineRig.envelope(), operation: operation)
        return step { $0.apply(command, of: bytes.span, at: now, dating: dating, freshID: id) }.text
    }

    @discardableResult
    func startActivity(
        _ app: String = "com.a", stale: Instant? = nil, device: String? = nil, id: EntityID? = nil
    ) -> String {
        var frame = FrameBuilder()
        var start = ActivityStart(
            app: frame.run(app), type: frame.run("order"), attributes: frame.run("{}"),
            contentState: frame.run("{\"n\":0}"))
        start.staleDate = stale
        start.device = frame.run(device)
        start.id = id
        let fresh = freshID()
        if id == nil { observer.expect(fresh, "\(app)/activity/order/", app) }
        return apply(.activityStart(start), frame, freshID: fresh)
    }

    @discardableResult
    func updateActivity(_ id: EntityID, _ app: String = "com.a", content: String) -> String {
        var frame = FrameBuilder()
        let address = ActivityAddress(app: frame.run(app), target: .id(id))
        return apply(.activityUpdate(ActivityUpdate(address: address, contentState: frame.run(content))), frame)
    }

    @discardableResult
    func dismissActivity(_ id: EntityID, _ app: String = "com.a") -> String {
        var frame = FrameBuilder()
        let address = ActivityAddress(app: frame.run(app), target: .id(id))
        return apply(.activityDismiss(ActivityDismiss(address: address)), frame)
    }

    // MARK: What providers say

    /// The provider's answer to the call that is out for a control; false where the engine calls it none.
    @discardableResult
    func answer(
        _ id: EntityID, isAction: Bool = false, value: String? = nil, status: String? = nil, tint: String? = nil,
        hint: String? = nil, isActive: Bool? = nil, isDisabled: Bool? = nil
    ) -> Bool {
        guard let reference = reference(id) else {
            Issue.record("\(id.short) is gone")
            return false
        }
        return answer(
            reference, isAction: isAction, value: value, status: status, tint: tint, hint: hint, isActive: isActive,
            isDisabled: isDisabled)
    }

    @discardableResult
    func answer(
        _ reference: SlotRef, isAction: Bool = false, value: String? = nil, status: String? = nil, tint: String? = nil,
        hint: String? = nil, isActive: Bool? = nil, isDisabled: Bool? = nil
    ) -> Bool {
        var frame = FrameBuilder()
        var answer = ProviderAnswer(provider: EntityID(9_999), call: frame.run("c"))
        answer.value = frame.run(value)
        answer.status = frame.run(status)
        answer.tint = frame.run(tint)
        answer.actionHint = frame.run(hint)
        answer.isActive = isActive
        answer.isDisabled = isDisabled
        let (bytes, now) = (frame.bytes, now)
        return step { $0.controlAnswered(reference, isAction: isAction, answer, bytes.span, at: now) }
    }

    /// - Parameter reason: what the provider says of it: a JSON string; empty: nothing.
    func fail(_ id: EntityID, isAction: Bool = false, _ failure: CallFailure = .timedOut, reason: String = "") {
        guard let reference = reference(id) else { return complain("\(id.short) is gone") }
        let now = now
        step { $0.controlCallFailed(reference, isAction: isAction, failure, reason: Array(reason.utf8), at: now) }
    }

    // MARK: Time

    /// One call of `fireDue`; whether it left something.
    @discardableResult
    func fire(limit: Int = 1_000) -> Bool {
        let (now, dating) = (now, dating)
        return step { $0.fireDue(at: now, dating: dating, limit: limit) }
    }

    /// Lets time pass and everything due take effect, whatever providers say; returns what was told.
    @discardableResult
    func pass(_ span: Milliseconds, limit: Int = 1_000) -> [String] {
        now = now + span
        var all: [String] = []
        var calls = 0
        while true {
            let isLate = fire(limit: limit)
            all += told
            calls += 1
            guard isLate else { return all }
            guard calls < 100_000 else {
                Issue.record("the engine never comes to rest")
                return all
            }
        }
    }
}
