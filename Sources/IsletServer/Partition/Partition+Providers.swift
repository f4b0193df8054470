import IsletCore
import IsletProtocol

/// Providers come, rest and go.
extension Partition {
    /// `provider.register`.
    func register(_ register: ProviderRegister, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let declarations: [ControlKindDeclaration]
        do throws(Refusal) {
            // A closure could not take the frame along.
            if let kinds = register.kinds { declarations = try KindDeclarations.read(frame, at: kinds) } else { declarations = [] }
        } catch {
            return refuse(envelope, frame, error)
        }
        // All or none: what was declared before the one that differs would be taken for provided.
        for declaration in declarations {
            if let refusal = refusal(of: declaration, register, frame) { return refuse(envelope, frame, refusal) }
        }
        var kinds: [ControlKindID] = []
        for declaration in declarations {
            let mayReplace = !isProvidedByOthers(declaration, register, frame)
            switch engine.declareControlKind(declaration, app: register.app, frame, mayReplace: mayReplace) {
            case .declared(let kind): kinds.append(kind)
            case .differs, .tooMany:
                return refuse(envelope, frame, .quotaExceeded(limit: ControlKindTable.maximumKinds))
            }
        }
        let fresh = kinds.filter { !providers.isServed($0) }
        let peer = routeFrames().first ?? []
        switch providers.register(
            register.provider, peer: peer, kinds: kinds, capacity: register.capacity, at: now.monotonic)
        {
        case .registered, .again: break
        case .tooManyProviders:
            return refuse(envelope, frame, .quotaExceeded(limit: ProviderTable.Limits().maximumProviders))
        case .tooManyKinds:
            return refuse(envelope, frame, .quotaExceeded(limit: ProviderTable.Limits().maximumKindsPerProvider))
        case .banned(let retryAfter): return refuse(envelope, frame, .busy(retryAfter: retryAfter))
        }
        for kind in fresh { engine.controlKindIsProvided(kind, at: now.domain) }
        encodeEvents(frame, envelope)
        let limits = ProviderTable.Limits()
        return answer { writer in
            writer.registered(
                envelope, frame, provider: register.provider, pingEvery: limits.pingEvery, pingLimit: limits.pingLimit,
                kinds: declarations.map(\.kind))
        }
    }

    private func isProvidedByOthers(
        _ declaration: ControlKindDeclaration, _ register: ProviderRegister, _ frame: Span<UInt8>
    ) -> Bool {
        guard let app = engine.apps.find(register.app, of: frame),
            let kind = engine.controls.kinds.find(app, declaration.kind)
        else { return false }
        return providers.hasProvider(of: kind, otherThan: register.provider)
    }

    /// Why a kind cannot be declared so: somebody else lives by another declaration, or what is placed does.
    private func refusal(
        of declaration: ControlKindDeclaration, _ register: ProviderRegister, _ frame: Span<UInt8>
    ) -> Refusal? {
        guard let app = engine.apps.find(register.app, of: frame),
            let number = engine.controls.kinds.find(app, declaration.kind)
        else { return nil }
        let kind = engine.controls.kinds[number]
        guard let known = kind.declaration, let member = declaration.difference(from: known) else { return nil }
        let isFixed = kind.placed > 0 && (member == .template || member == .hasValue)
        guard isFixed || isProvidedByOthers(declaration, register, frame) else { return nil }
        return .kindConflict(
            KindConflict(kind: declaration.kind, member: member.rawValue, declared: known.json, offered: declaration.json))
    }

    /// `provider.pong`: any message would do, and says nothing else.
    func pong(_ provider: EntityID, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        guard providers.provider(provider) != nil else {
            return refuse(envelope, frame, .providerUnknown(call: nil))
        }
        return .silent
    }

    /// A message that is no command came: where its connection is a provider's, that is a fault like a bad answer.
    func misspoken() {
        guard providers.providerCount > 0, let peer = routeFrames().first else { return }
        providers.misspoke(on: peer, at: now.monotonic)
    }

    /// `provider.drain` and `provider.leave`.
    func rest(_ provider: EntityID, leaves: Bool, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let peer = routeFrames().first ?? []
        let isKnown =
            leaves
            ? providers.leave(provider, peer: peer, at: now.monotonic)
            : providers.drain(provider, peer: peer, at: now.monotonic)
        return isKnown ? answerNow(envelope, frame) : refuse(envelope, frame, .providerUnknown(call: nil))
    }

    /// `provider.list`.
    func listProviders(_ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let all = providers.allProviders().compactMap { providers.statistics(of: $0) }
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.key("providers")
            writer.beginArray()
            for provider in all { writer.provider(provider, now: now.monotonic, of: engine) }
            writer.endArray()
            writer.endObject()
        }
    }
}

extension JSONWriter {
    /// One provider, as `provider.list` shows it; spans in milliseconds.
    fileprivate mutating func provider(
        _ provider: ProviderStatistics, now: Milliseconds, of engine: borrowing Engine
    ) {
        beginObject()
        field("id", provider.id)
        if let first = provider.kinds.first {
            field("app", plain: engine.apps[engine.controls.kinds[first].app].name.span)
        }
        key("kinds")
        beginArray()
        for kind in provider.kinds {
            let name = engine.controls.kinds[kind].name
            plain(name.span)
        }
        endArray()
        switch provider.state {
        case .live: field("state", name: "live")
        case .draining: field("state", name: "draining")
        case .open(let span):
            field("state", name: "open")
            field("opensIn", span)
        case .halfOpen: field("state", name: "halfOpen")
        }
        field("capacity", provider.capacity)
        field("inFlight", provider.inFlight)
        field("waiting", provider.waiting)
        field("calls", provider.calls)
        field("failures", provider.failures)
        field("late", provider.late)
        field("unknown", provider.unknown)
        if let p50 = provider.latencies.quantile(0.5) { field("p50", p50) }
        if let p99 = provider.latencies.quantile(0.99) { field("p99", p99) }
        field("age", now - provider.registeredAt)
        field("silence", now - provider.lastHeard)
        endObject()
    }
}
