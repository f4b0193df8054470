import IsletCore
import Testing

/// An engine with groups, and the owner's duties done for it; what it says is compared with a plain model after each
/// step.
final class GroupRig {
    var engine: Engine
    var now = Instant(1_800_000_000_000)
    let model: GroupModel
    /// The events of the last step, such as `set com.a/group/g/k r1 first`.
    private(set) var told: [String] = []
    private(set) var journal = GroupJournal()
    /// Whether the next command belongs to the batch of the one before.
    var continuesBatch = false

    init(_ rules: RuleSet = .standard) {
        engine = Engine(rules: rules, start: now)
        engine.isJournalled = true
        model = GroupModel()
    }

    /// What a fresh engine makes of the journal, and what the model knows.
    init(restoring rig: GroupRig) throws {
        engine = Engine(rules: rig.engine.rules, start: rig.now)
        engine.isJournalled = true
        now = rig.now
        model = rig.model
        journal = rig.journal
        try journal.restore(to: &engine)
    }

    // MARK: Commands

    @discardableResult
    func create(_ group: String, by app: String, with members: [String] = []) -> String {
        command(app, group) { engine, frame, address, _ in
            engine.createGroup(address, members: members.map { Array($0.utf8) }, frame)
        } then: { model.create(group, app, members) }
    }

    @discardableResult
    func admit(_ member: String, to group: String, by app: String) -> String {
        command(app, group, member) { engine, frame, address, member in
            engine.admit(member, to: address, frame)
        } then: { model.admit(member, group) }
    }

    @discardableResult
    func leave(_ group: String, by app: String) -> String {
        command(app, group) { engine, frame, address, _ in
            engine.leaveGroup(address, frame)
        } then: { model.leave(group, app) }
    }

    @discardableResult
    func remove(_ group: String, by app: String) -> String {
        command(app, group) { engine, frame, address, _ in
            engine.removeGroup(address, frame)
        } then: { model.remove(group) }
    }

    @discardableResult
    func set(
        _ key: String, _ value: String, in group: String = "g", by app: String, if revision: UInt64? = nil
    ) -> String {
        var envelope = Envelope()
        envelope.ifRevision = revision
        let now = now
        return command(app, group, key, value) { engine, frame, address, key, value in
            engine.setGroupKey(GroupKeyAddress(group: address, key: key), value: value, envelope, frame, at: now)
        } then: { model.set(key, value, group, app, now) }
    }

    @discardableResult
    func delete(_ key: String, in group: String = "g", by app: String, if revision: UInt64? = nil) -> String {
        var envelope = Envelope()
        envelope.ifRevision = revision
        let now = now
        return command(app, group, key) { engine, frame, address, key in
            engine.deleteGroupKey(GroupKeyAddress(group: address, key: key), envelope, frame, at: now)
        } then: { model.delete(key, group) }
    }

    @discardableResult
    func notify(_ name: String, _ group: String = "g", by app: String) -> String {
        let now = now
        return command(app, group, name) { engine, frame, address, name in
            engine.notifyGroup(address, signal: name, frame, at: now)
        } then: { model.notify(group) }
    }

    private func command(
        _ app: String, _ group: String, _ text: String = "",
        _ body: (inout Engine, Span<UInt8>, GroupAddress, FrameRange) -> Engine.GroupOutcome, then: () -> Void
    ) -> String {
        command(
            app, group, text, "",
            { engine, frame, address, first, _ in body(&engine, frame, address, first) }, then: then)
    }

    private func command(
        _ app: String, _ group: String, _ first: String, _ second: String,
        _ body: (inout Engine, Span<UInt8>, GroupAddress, FrameRange, FrameRange) -> Engine.GroupOutcome,
        then: () -> Void
    ) -> String {
        now = now + 1
        var frame = FrameBuilder()
        let address = GroupAddress(app: frame.run(app), group: frame.run(group))
        let ranges = (frame.run(first), frame.run(second))
        let bytes = frame.bytes
        let outcome = body(&engine, bytes.span, address, ranges.0, ranges.1)
        if case .applied = outcome { then() }
        take(second)
        model.check(engine)
        return Self.text(outcome)
    }

    private func take(_ value: String) {
        told = []
        journal.begin(engine, continues: continuesBatch)
        for event in engine.groups.events {
            let name = event.slot.flatMap { engine.groups.record(at: $0) }.map { item in
                engine.withBytes(of: item.key) { String(decoding: $0, as: UTF8.self) }
            }
            let topic = String(decoding: engine.groups[event.group].topicPrefix, as: UTF8.self) + (name ?? "~")
            let by = String(decoding: engine.apps[event.by].name, as: UTF8.self)
            let first = event.isFirst ? " first" : ""
            told.append("\(event.name) \(topic) r\(event.revision) seq \(event.seq) by \(by)\(first)")
            journal.record(event, key: name ?? "~", value: value, engine)
        }
        journal.end(engine)
        engine.releaseNotes()
        engine.releaseEvents()
    }

    /// Writes some rows of the snapshot.
    func sweep(_ rows: Int) { journal.sweep(&engine, rows: rows) }

    // MARK: Questions

    func revision(_ key: String, in group: String = "g") -> UInt32? {
        item(key, in: group)?.revision
    }

    func item(_ key: String, in group: String = "g") -> GroupItem? {
        let bytes = Array(key.utf8)
        guard let group = engine.groups.find(Array(group.utf8)),
            let slot = engine.groupSlot(group, FrameRange(0..<bytes.count), bytes.span)
        else { return nil }
        return engine.groups.record(at: slot)
    }

    /// The keys of a page.
    func list(_ prefix: String = "", after cursor: String? = nil, in group: String = "g") -> [String] {
        guard let group = engine.groups.find(Array(group.utf8)) else { return [] }
        let keys = engine.groupKeys(of: group, prefix: Array(prefix.utf8), after: cursor.map { Array($0.utf8) })
        return engine.groups[group].keys[keys.first..<keys.all.upperBound].compactMap { slot in
            engine.groups.record(at: slot).map { item in
                engine.withBytes(of: item.key) { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    private static func text(_ outcome: Engine.GroupOutcome) -> String {
        switch outcome {
        case .applied: "applied"
        case .ignored(_, _, let reason): "\(reason)"
        case .refused(.groupUnknown): "unknown"
        case .refused(.groupExists): "exists"
        case .refused(.groupHasKeys(_, let count)): "\(count) keys"
        case .refused(.notAMember): "unauthorized"
        case .refused(.notFound): "notFound"
        case .refused(.revisionConflict(let present)): "conflict \(present)"
        case .refused(.quotaExceeded(let limit)): "quota \(limit)"
        case .refused(.badField(let field, let reason)): "\(field) \(reason)"
        case .refused(let refusal): "\(refusal)"
        }
    }
}
