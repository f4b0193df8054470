import IsletCore
import IsletProtocol

/// Providers come, rest and go.
extension Partition {
    /// `provider.register`.
    func register(_ register: ProviderRegister, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        var declarations: [ControlKindDeclaration] = []
        var widgets: [WidgetKindDeclaration] = []
        do throws(Refusal) {
            if let kinds = register.kinds { declarations = try KindDeclarations.read(frame, at: kinds) }
            if let kinds = register.widgets { widgets = try WidgetDeclarations.read(frame, at: kinds) }
        } catch {
            return refuse(envelope, frame, error)
        }
        // Whoever was there under the same name over a connection that has ended holds no kind any more.
        let peer = routeFrames().first ?? []
        let connection = waited.map(\.connection) ?? inbound.connection
        providers.registers(peer, over: connection, at: now.monotonic)
        settleCalls()
        // All or none: what was declared before the one that differs would be taken for provided.
        for declaration in declarations {
            if let refusal = refusal(of: declaration, register, frame) { return refuse(envelope, frame, refusal) }
        }
        for declaration in widgets {
            if let refusal = refusal(of: declaration, register, frame) { return refuse(envelope, frame, refusal) }
        }
        // Whoever may not register declares nothing either.
        let declared = declarations.count + widgets.count
        if let refusal = providers.refusal(of: register.provider, peer: peer, kinds: declared, at: now.monotonic) {
            return refuse(envelope, frame, refusal.error)
        }
        if let app = app(servedBy: register.provider), engine.apps.find(register.app, of: frame) != app {
            // What it declares replaces what it declared before: the kinds of the other app would have nobody any more.
            return refuse(envelope, frame, .badField(.app, .notAllowedHere))
        }
        if let refusal = engine.refusal(ofKinds: declarations, widgets, app: register.app, frame) {
            return refuse(envelope, frame, refusal)
        }
        let changed = widgets.filter { declaration in
            guard case .widget(let kind)? = known(widget: declaration.kind, register, frame) else { return false }
            return engine.widgets.kinds[kind].declaration.map { declaration.difference(from: $0) != nil } ?? false
        }
        guard let kinds = declare(declarations, widgets, register, frame) else {
            return refuse(envelope, frame, .quotaExceeded(limit: ControlKindTable.maximumKinds))
        }
        let fresh = kinds.filter { !providers.isServed($0.number) }
        switch providers.register(
            register.provider, peer: peer, kinds: kinds.map(\.number), capacity: register.capacity, at: now.monotonic)
        {
        case .registered: tellProvider(register.provider, kinds: kinds.count)
        case .again: break
        case .refused(let refusal): return refuse(envelope, frame, refusal.error)
        }
        providers.registered(peer, over: connection, isCutOff: waited?.isCutOff ?? inbound.isCutOff)
        settleCalls()
        for kind in fresh {
            switch kind {
            case .control(let kind): engine.controlKindIsProvided(kind, at: now.domain)
            case .widget(let kind):
                engine.widgetKindIsProvided(kind, at: now.domain)
                askRelevanceAnew(of: kind)
            }
        }
        for declaration in changed {
            guard case .widget(let kind)? = known(widget: declaration.kind, register, frame) else { continue }
            // What was said of the kind as it was is of no use any more.
            outdateRecommendations(engine.widgets.kinds.app(of: kind), kind, isDeclaredAnew: true)
            if !fresh.contains(.widget(kind)) { askRelevanceAnew(of: kind) }
        }
        encodeEvents(frame, envelope)
        let limits = ProviderTable.Limits()
        return answer { writer in
            writer.registered(
                envelope, frame, provider: register.provider, pingEvery: limits.pingEvery, pingLimit: limits.pingLimit,
                kinds: declarations.map(\.kind), widgets: widgets.map(\.kind))
        }
    }

    /// Whether the ends of connections of commands mean something to anybody, before the next message is taken.
    package var hasProviders: Bool { providers.providerCount > 0 }

    /// Whether it must be known of each message over which connection it came: it may be the new one of a provider.
    package var hasCutOffProviders: Bool { providers.cutOffs > 0 }

    /// A connection of commands has ended.
    package func connectionHasEnded(_ descriptor: Int32) {
        providers.ended(descriptor)
        // Another connection may get its number before what waits is executed.
        for index in waiting.indices { waiting[index].hasEnded(descriptor) }
        for index in resting.indices { resting[index].hasEnded(descriptor) }
    }

    /// Takes declarations that were checked; nil where there are more kinds than there may be.
    private func declare(
        _ controls: [ControlKindDeclaration], _ widgets: [WidgetKindDeclaration], _ register: ProviderRegister,
        _ frame: Span<UInt8>
    ) -> [ServedKind]? {
        var kinds: [ServedKind] = []
        for declaration in controls {
            let mayReplace = !isProvidedByOthers(known(declaration.kind, register, frame), register)
            switch engine.declareControlKind(
                declaration, app: register.app, frame, mayReplace: mayReplace, at: now.domain)
            {
            case .declared(let kind): kinds.append(.control(kind))
            case .differs, .tooMany: return nil
            }
        }
        for declaration in widgets {
            let mayReplace = !isProvidedByOthers(known(widget: declaration.kind, register, frame), register)
            switch engine.declareWidgetKind(
                declaration, app: register.app, frame, mayReplace: mayReplace, at: now.domain)
            {
            case .declared(let kind): kinds.append(.widget(kind))
            case .differs, .tooMany: return nil
            }
        }
        return kinds
    }

    /// The app whose kinds a registered provider serves.
    private func app(servedBy provider: EntityID) -> AppID? {
        guard let kind = providers.provider(provider).flatMap({ providers.statistics(of: $0)?.kinds.first }) else {
            return nil
        }
        return switch ServedKind(number: kind) {
        case .control(let kind): engine.controls.kinds.app(of: kind)
        case .widget(let kind): engine.widgets.kinds.app(of: kind)
        }
    }

    private func known(_ name: [UInt8], _ register: ProviderRegister, _ frame: Span<UInt8>) -> ServedKind? {
        engine.apps.find(register.app, of: frame).flatMap { engine.controls.kinds.find($0, name) }.map { .control($0) }
    }

    private func known(widget name: [UInt8], _ register: ProviderRegister, _ frame: Span<UInt8>) -> ServedKind? {
        engine.apps.find(register.app, of: frame).flatMap { engine.widgets.kinds.find($0, name) }.map { .widget($0) }
    }

    private func isProvidedByOthers(_ kind: ServedKind?, _ register: ProviderRegister) -> Bool {
        guard let kind else { return false }
        return providers.hasProvider(of: kind.number, otherThan: register.provider)
    }

    /// Why a kind cannot be declared so: somebody else lives by another declaration, or what is placed does.
    private func refusal(
        of declaration: ControlKindDeclaration, _ register: ProviderRegister, _ frame: Span<UInt8>
    ) -> Refusal? {
        guard case .control(let number)? = known(declaration.kind, register, frame) else { return nil }
        let kind = engine.controls.kinds[number]
        guard let known = kind.declaration, let member = declaration.difference(from: known) else { return nil }
        let placed = member == .template || member == .hasValue ? kind.placed : 0
        guard placed > 0 || isProvidedByOthers(.control(number), register) else { return nil }
        return .kindConflict(
            KindConflict(
                kind: declaration.kind, member: member.rawValue, declared: known.json, offered: declaration.json,
                placed: placed))
    }

    /// The same of a widget kind.
    private func refusal(
        of declaration: WidgetKindDeclaration, _ register: ProviderRegister, _ frame: Span<UInt8>
    ) -> Refusal? {
        guard case .widget(let number)? = known(widget: declaration.kind, register, frame),
            let known = engine.widgets.kinds[number].declaration, let member = declaration.difference(from: known)
        else { return nil }
        let placed = engine.widgets.placed(of: number, lackedBy: declaration)
        guard placed > 0 || isProvidedByOthers(.widget(number), register) else { return nil }
        return .kindConflict(
            KindConflict(
                kind: declaration.kind, member: member.rawValue, declared: known.json, offered: declaration.json,
                placed: placed))
    }

    /// `provider.pong`: any message would do, and says nothing else.
    func pong(_ provider: EntityID, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let connection = waited.map(\.connection) ?? inbound.connection
        guard providers.pong(provider, peer: routeFrames().first ?? [], over: connection, at: now.monotonic) else {
            return refuse(envelope, frame, .providerUnknown(call: nil))
        }
        return .silent
    }

    /// `provider.drain` and `provider.leave`.
    func rest(_ provider: EntityID, leaves: Bool, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let peer = routeFrames().first ?? []
        let isKnown =
            leaves
            ? providers.leave(provider, peer: peer, at: now.monotonic)
            : providers.drain(provider, peer: peer, at: now.monotonic)
        settleCalls()
        return isKnown ? answerNow(envelope, frame) : refuse(envelope, frame, .providerUnknown(call: nil))
    }
}

extension ProviderTable.RegistrationRefusal {
    /// What the provider is told.
    fileprivate var error: Refusal {
        switch self {
        case .tooManyProviders: .quotaExceeded(limit: ProviderTable.Limits().maximumProviders)
        case .tooManyKinds: .quotaExceeded(limit: ProviderTable.Limits().maximumKindsPerProvider)
        case .banned(let retryAfter): .busy(retryAfter: retryAfter)
        }
    }
}
