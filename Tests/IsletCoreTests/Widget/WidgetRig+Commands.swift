import IsletCore
import Testing

/// An entry that a test's provider gives: so many milliseconds after the present, and its relevance.
struct SampleEntry {
    var after: Milliseconds
    var score: Float?
    var duration: Milliseconds = 0

    init(_ after: Milliseconds, score: Float? = nil, duration: Milliseconds = 0) {
        self.after = after
        self.score = score
        self.duration = duration
    }
}

let minute: Milliseconds = 60_000
let hour: Milliseconds = 3_600_000

/// The commands about widgets, and what providers say.
extension WidgetRig {
    // MARK: Kinds

    @discardableResult
    func declare(
        _ name: String = "weather", _ app: String = "com.a", families: [WidgetFamily] = WidgetFamily.allCases,
        title: String = "", mayReplace: Bool = false
    ) -> WidgetKindVerdict {
        var kind = WidgetKindDeclaration(kind: Array(name.utf8), families: families)
        kind.displayName = Array(title.utf8)
        kind.providesRelevance = true
        kind.providesRecommendations = true
        kind.json = Array("\(app)/\(name)/\(families)/\(title)".utf8)
        observer.declarations[kind.json] = kind
        var frame = FrameBuilder()
        let range = frame.run(app)
        let bytes = frame.bytes
        return step { $0.declareWidgetKind(kind, app: range, bytes.span, mayReplace: mayReplace, at: now) }
    }

    /// A provider came for a kind that had none.
    func register(_ kind: String = "weather", _ app: String = "com.a") {
        guard let kind = self.kind(kind, app) else { return complain("\(kind) was not declared") }
        let now = now
        step { $0.widgetKindIsProvided(kind, at: now) }
    }

    func setRelevance(_ kind: String, _ list: [WidgetRelevance], _ app: String = "com.a") {
        guard let kind = self.kind(kind, app) else { return complain("\(kind) was not declared") }
        let now = now
        step { $0.setRelevance(kind, list, json: Array("\(list.count)".utf8), at: now) }
    }

    // MARK: Commands

    @discardableResult
    func add(
        _ kind: String = "weather", _ app: String = "com.a", family: WidgetFamily = .systemMedium,
        device: String? = nil, configuration: String? = nil, rendering: String? = nil, id: EntityID? = nil,
        ifRevision: UInt64? = nil
    ) -> Engine.WidgetOutcome {
        var frame = FrameBuilder()
        var add = WidgetAdd(app: frame.run(app), kind: frame.run(kind), family: family)
        add.configuration = frame.run(configuration)
        add.rendering = frame.run(rendering)
        add.device = frame.run(device)
        add.id = id
        let fresh = freshID()
        observer.expect(id ?? fresh, "\(app)/widget/\(kind)/", app, device)
        return send(frame, ifRevision: ifRevision) { $0.addWidget(add, $1, $2, at: $3, freshID: fresh) }
    }

    /// One that is added and has shown its first timeline: by default one entry, and the policy `never`.
    func placed(
        _ kind: String = "weather", _ app: String = "com.a", device: String? = nil, configuration: String? = nil,
        entries: [SampleEntry] = [SampleEntry(0)], policy: TimelineReloadPolicy? = .never
    ) -> EntityID {
        let outcome = add(kind, app, device: device, configuration: configuration)
        precondition(outcome.text == "applied", "it was not placed: \(outcome.text)")
        let id = latest
        answer(id, entries, policy: policy)
        return id
    }

    /// One of a machine that nothing keeps from a reload: the last one was long ago.
    func rested(
        _ kind: String = "weather", _ app: String = "com.a", device: String? = nil,
        entries: [SampleEntry] = [SampleEntry(0)], policy: TimelineReloadPolicy? = .never
    ) -> EntityID {
        let id = placed(kind, app, device: device, entries: entries, policy: policy)
        pass(10 * minute)
        return id
    }

    @discardableResult
    func configure(
        _ id: EntityID, _ configuration: String? = nil, rendering: String? = nil, _ app: String = "com.a",
        ifRevision: UInt64? = nil
    ) -> Engine.WidgetOutcome {
        var frame = FrameBuilder()
        var configure = WidgetConfigure(address: ControlAddress(app: frame.run(app), id: id))
        configure.configuration = frame.run(configuration)
        configure.rendering = frame.run(rendering)
        let (command, dating) = (configure, dating)
        return send(frame, ifRevision: ifRevision) { $0.configureWidget(command, $1, $2, at: $3, dating) }
    }

    @discardableResult
    func remove(_ id: EntityID, _ app: String = "com.a", ifRevision: UInt64? = nil) -> Engine.WidgetOutcome {
        var frame = FrameBuilder()
        let address = ControlAddress(app: frame.run(app), id: id)
        let dating = dating
        return send(frame, ifRevision: ifRevision) { $0.removeWidget(address, $1, $2, at: $3, dating) }
    }

    @discardableResult
    func reload(
        _ id: EntityID, _ app: String = "com.a", source: Source = .local, ifRevision: UInt64? = nil
    ) -> Engine.WidgetOutcome {
        var frame = FrameBuilder()
        let reload = WidgetReload.one(ControlAddress(app: frame.run(app), id: id))
        let dating = dating
        return send(frame, source, ifRevision: ifRevision) { $0.reloadWidgets(reload, $1, $2, at: $3, dating) }
    }

    @discardableResult
    func reload(kind: String?, _ app: String = "com.a", source: Source = .local) -> Engine.WidgetOutcome {
        var frame = FrameBuilder()
        let app = frame.run(app)
        let reload =
            frame.run(kind).map { WidgetReload.kind(ControlKindAddress(app: app, kind: $0)) } ?? .all(app: app)
        let dating = dating
        return send(frame, source) { $0.reloadWidgets(reload, $1, $2, at: $3, dating) }
    }

    @discardableResult
    func visible(
        _ id: EntityID, _ app: String = "com.a", ifRevision: UInt64? = nil
    ) -> Engine.WidgetOutcome {
        var frame = FrameBuilder()
        let address = ControlAddress(app: frame.run(app), id: id)
        let dating = dating
        return send(frame, ifRevision: ifRevision) { $0.visibleWidget(address, $1, $2, at: $3, dating) }
    }

    @discardableResult
    func tap(
        _ id: EntityID, _ tapping: Engine.WidgetTapping = .open(url: nil), _ app: String = "com.a",
        ifRevision: UInt64? = nil
    ) -> Engine.WidgetOutcome {
        var frame = FrameBuilder()
        let address = ControlAddress(app: frame.run(app), id: id)
        let dating = dating
        return send(frame, ifRevision: ifRevision) { $0.tapWidget(address, tapping, $1, $2, at: $3, dating) }
    }

    /// Uses the button of a widget.
    @discardableResult
    func act(_ id: EntityID, _ app: String = "com.a") -> Engine.WidgetOutcome {
        tap(id, .action(name: Array("refresh".utf8), parameters: Array("{\"n\":1}".utf8)), app)
    }

    private func send(
        _ frame: FrameBuilder, _ source: Source = .local, ifRevision: UInt64? = nil,
        _ body: (inout Engine, Envelope, Span<UInt8>, Instant) -> Engine.WidgetOutcome
    ) -> Engine.WidgetOutcome {
        let envelope = EngineRig.envelope(source, ifRevision: ifRevision)
        let (bytes, now) = (frame.bytes, now)
        return step { body(&$0, envelope, bytes.span, now) }
    }

    @discardableResult
    func report(_ device: String, _ kind: DeviceEventKind, app: String? = nil) -> String {
        var frame = FrameBuilder()
        let event = DeviceEvent(device: frame.run(device), kind: kind, app: frame.run(app))
        let (bytes, now, dating) = (frame.bytes, now, dating)
        let command = Command(envelope: EngineRig.envelope(), operation: .deviceEvent(event))
        let id = freshID()
        return step { $0.apply(command, of: bytes.span, at: now, dating: dating, freshID: id) }.text
    }

    // MARK: What providers say

    /// The provider's timeline; entries in milliseconds after the present, each with its place and date in its bytes.
    func answer(
        _ id: EntityID, _ entries: [SampleEntry] = [SampleEntry(0)], policy: TimelineReloadPolicy? = .never,
        needsLogin: Bool = false
    ) {
        guard let reference = reference(id) else { return complain("\(id.short) is gone") }
        var frame = FrameBuilder()
        var list: [TimelineEntry] = []
        for (place, entry) in entries.enumerated() {
            let date = now + entry.after
            var row = TimelineEntry(
                date: date, bytes: frame.run("{\"date\":\(date.milliseconds),\"content\":{\"n\":\(place)}}"))
            row.score = entry.score
            row.duration = entry.duration
            list.append(row)
        }
        var timeline = WidgetTimeline(entries: list)
        timeline.policy = policy
        timeline.needsLogin = needsLogin
        let (bytes, now, made) = (frame.bytes, now, timeline)
        step { $0.widgetAnswered(reference, isAction: false, timeline: made, bytes.span, at: now) }
    }

    /// The provider's answer to an action.
    func performed(_ id: EntityID) {
        guard let reference = reference(id) else { return complain("\(id.short) is gone") }
        let now = now
        step { $0.widgetAnswered(reference, isAction: true, timeline: nil, Span(), at: now) }
    }

    func fail(
        _ id: EntityID, isAction: Bool = false, _ failure: CallFailure = .timedOut, wasSent: Bool = true,
        reason: String = ""
    ) {
        guard let reference = reference(id) else { return complain("\(id.short) is gone") }
        let now = now
        observer.wasSent = wasSent
        step {
            $0.widgetCallFailed(
                reference, isAction: isAction, failure, wasSent: wasSent, reason: Array(reason.utf8), at: now)
        }
        observer.wasSent = true
    }

    // MARK: Time

    /// Lets time pass and everything due take effect, whatever providers say; returns what was told.
    @discardableResult
    func pass(_ span: Milliseconds, limit: Int = 1_000) -> [String] {
        now = now + span
        var all: [String] = []
        var turns = 0
        while true {
            let (now, dating) = (now, dating)
            let isLate = step { $0.fireDue(at: now, dating: dating, limit: limit) }
            all += told
            turns += 1
            // A clock that stops at every date goes on when what was asked for at one is answered: here nobody answers.
            guard isLate || dating == .whenDue && !calls.isEmpty else { return all }
            guard turns < 100_000 else {
                Issue.record("the engine never comes to rest")
                return all
            }
        }
    }
}
