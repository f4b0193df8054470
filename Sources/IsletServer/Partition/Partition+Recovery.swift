import IsletCore
import IsletJournal
import IsletProtocol

/// The way back from a journal: the snapshot, then the batches behind it, then the answers that retries may ask for.
extension Partition {
    /// The fact that says when the snapshot's last round began: answers are read from there.
    static let roundKey = [UInt8(ascii: "z")]

    /// The fact that says by which rules the service ran, as far as deadlines follow from them.
    static let rulesKey = [UInt8(ascii: "y")]

    /// The value of that fact.
    func writeDeadlineRules(to writer: inout ImageWriter) {
        let rules = engine.rules
        for span in [rules.activeLimit, rules.heartbeatStaleAfter ?? -1, rules.heartbeatEndAfter ?? -1] {
            writer.write(UInt64(bitPattern: span))
        }
    }

    func recover(from source: any RecoverySource) throws {
        // Without a round, no trace of a forgotten answer was written.
        var roundBegan = Instant(0)
        var formerRules: [UInt8]?
        try source.forEachFact { key, value in
            let isRead = try located("a fact of the snapshot") {
                if try self.engine.restoreFact(key, value, isInSnapshot: true) { return }
                if try self.restoreFamilyFact(key, value, isInSnapshot: true) { return }
                if try self.engine.restoreGroupFact(key, value, isInSnapshot: true) { return }
                if try self.retries.restoreTrace(key, value, lastBatch: source.summary.lastBatch) { return }
                if key.count == 1, key[0] == Self.rulesKey[0] {
                    formerRules = value.bytes(FrameRange(0..<value.count))
                    return
                }
                if try self.restoreTravel(key, value) { return }
                if try self.restoreLease(key, value) { return }
                if try self.restoreRetryHold(key, value) { return }
                guard key.count == 1, key[0] == Self.roundKey[0] else { throw ImageError.unknownValue }
                roundBegan = try ImageReader.read(value) { reader throws(ImageError) in try reader.instant() }
            }
            if !isRead { salvage?.lose(fact: [UInt8](key)) }
        }
        try source.forEachEntity { entity in
            if try !self.restore(entity) { salvage?.lose(row: entity.slot) }
        }
        engine.finishSnapshot()
        try source.forEachBatch(after: source.summary.snapshotHoldsThrough, self)
        restoreSigns()
        beginLease()
        engine.ranUntil = Instant(source.summary.clock)
        engine.unheard = Unheard(since: engine.ranUntil, until: now.domain)
        var rules = ImageWriter()
        writeDeadlineRules(to: &rules)
        if let formerRules, formerRules != rules.bytes { engine.rulesSetAt = now.domain }
        try finishRestoring(from: source)
        let last = Instant(source.summary.clock)
        var since = min(roundBegan, now.domain) + -RetryWindow.Limits.standard.span
        if retries.hold.until > last { since = min(since, retries.hold.after) }
        try source.forEachAnswer(since: since.milliseconds) { number, at, answer in
            try located("an answer of batch \(number)") {
                try self.retries.restoreAnswer(answer, batch: number, at: Instant(at))
            }
            recovery.answers += 1
        }
        retries.restoringEnds()
        // Bounded by what was restored; what was too old leaves its trace before anybody asks.
        retries.startAgain(at: now.domain, after: last)
        batch = JournalBatch(number: source.summary.lastBatch + 1)
        flights.begin(
            after: source.summary.lastBatch,
            at: engine.apps.apps.map { StreamMark(seq: $0.seq, entities: $0.entities, digest: $0.digest) })
        sweeping.holdsThrough = source.summary.snapshotHoldsThrough
        if let salvage { forget(salvage, after: source.summary) }
        // What clients have seen of time must not be seen again.
        if now.domain > last {
            noteClock()
            noteRetryHold()
        }
        for app in engine.apps.apps.indices { watermarks.changed(AppID(app), at: now.monotonic) }
        report()
    }

    /// What cannot be read leaves the snapshot before anything else is written there.
    private func forget(_ salvage: RecoverySalvage, after summary: RecoverySummary) {
        guard !salvage.rows.isEmpty || !salvage.facts.isEmpty else { return }
        var chunk = StateChunk()
        chunk.at = summary.clock
        for row in salvage.rows { chunk.free(row) }
        for fact in salvage.facts { chunk.forget(fact.span) }
        sweeping.waiting = (chunk, summary.lastBatch)
    }

    /// Makes what follows from all that was taken back, and compares it with what was written of each stream.
    private func finishRestoring(from source: any RecoverySource) throws {
        let place = "the state after batch \(source.summary.lastBatch)"
        let unproven: [UnprovenStream]
        do throws(ImageError) {
            unproven = try engine.finishRestoring(isProven: !source.summary.snapshotMayBeAhead)
        } catch {
            var unproven = engine.unprovenStreams()
            // Something else is wrong, and the streams were not looked at.
            if unproven.first?.description != error.sentence { unproven = [] }
            // What stops the search is told by whoever meets it first, and that something differs is known without it.
            let entities = try? RecoveryDiagnosis.entities(of: unproven, in: engine, source)
            throw RecoveryError(reason: error.sentence, place: place, entities: entities ?? [])
        }
        guard let salvage else { return }
        for group in engine.groups.restoredWithoutMembers {
            let name = String(decoding: engine.groups[group].name, as: UTF8.self)
            let owner = String(decoding: engine.apps[engine.groups[group].owner].name, as: UTF8.self)
            salvage.lose("the group \(name): its members are not known any more, and its owner \(owner) is the only one")
        }
        guard !unproven.isEmpty else { return }
        for stream in unproven { salvage.lose("\(stream)") }
        for entity in try RecoveryDiagnosis.entities(of: unproven, in: engine, source) { salvage.lose(entity) }
    }

    /// Takes back what is known of kinds, their reloads, and locks; false where the key is of another fact.
    func restoreFamilyFact(
        _ key: Span<UInt8>, _ value: Span<UInt8>, isInSnapshot: Bool
    ) throws(ImageError) -> Bool {
        if engine.restoreLock(key, isLocked: true, isInSnapshot: isInSnapshot) { return true }
        if try engine.restoreReload(key, value, isInSnapshot: isInSnapshot) { return true }
        if try restoreWidgetKind(key, value, isInSnapshot: isInSnapshot) { return true }
        guard let fact = try Engine.controlKindFact(key, value) else { return false }
        let declaration: ControlKindDeclaration
        do throws(Refusal) {
            declaration = try KindDeclarations.readOne(fact.declaration.span)
        } catch {
            throw .contradiction("a control kind that cannot be read")
        }
        try engine.restoreControlKind(declaration, fact, isInSnapshot: isInSnapshot)
        return true
    }

    private func restoreWidgetKind(
        _ key: Span<UInt8>, _ value: Span<UInt8>, isInSnapshot: Bool
    ) throws(ImageError) -> Bool {
        guard let fact = try Engine.widgetKindFact(key, value) else { return false }
        let declaration: WidgetKindDeclaration
        do throws(Refusal) {
            declaration = try WidgetDeclarations.readOne(fact.declaration.span)
        } catch {
            throw .contradiction("a widget kind that cannot be read")
        }
        try engine.restoreWidgetKind(declaration, fact, isInSnapshot: isInSnapshot)
        return true
    }

    /// The calls of the process before are lost: actions are not run again, values are asked for anew.
    ///
    /// - Parameter ended: where the clock stood last. A clock that is set dates by what happened when: the calls were lost
    ///   then, and not after what has come due since, which takes effect later.
    func restartControls(after ended: Instant?) {
        var at = now.domain
        switch dating {
        case .whenDue: if let ended { at = min(at, ended) }
        case .whenNoticed: break
        }
        engine.restartControls(at: at)
        engine.restartWidgets(at: at)
        encodeEvents(Span(), nil)
        // Where a step was made, all of them wait for its commit.
        guard batch.isEmpty else { return }
        var calls = WantedCalls()
        calls.takeAll(of: &engine)
        callsOnTheWay += calls.count
        wantCalls(calls)
    }

    private func restoreControl(_ entity: RecoveredEntity, at slot: Slot) throws -> Bool {
        try located("the control in slot \(slot)") {
            let bytes = entity.bytes.bindMemory(to: UInt8.self).span
            try self.engine.restoreControl(
                try entity.readID(), at: slot, seq: entity.seq,
                try ControlImage(bytes.extracting(entity.parts.image)),
                app: entity.copy(entity.parts.app), kind: entity.copy(entity.parts.kind))
        }
    }

    private func restoreWidget(_ entity: RecoveredEntity, at slot: Slot) throws -> Bool {
        try located("the widget in slot \(slot)") {
            let bytes = entity.bytes.bindMemory(to: UInt8.self).span
            try self.engine.restoreWidget(
                try entity.readID(), at: slot, seq: entity.seq,
                try WidgetImage(bytes.extracting(entity.parts.image)),
                app: entity.copy(entity.parts.app), kind: entity.copy(entity.parts.kind))
        }
    }

    /// Takes a row of the snapshot back; false where it cannot be read and the rest goes on.
    private func restore(_ entity: RecoveredEntity) throws -> Bool {
        switch EntityPlace(number: entity.slot)?.family {
        case .control: return try restoreControl(entity, at: Slot(truncatingIfNeeded: entity.slot))
        case .widget: return try restoreWidget(entity, at: Slot(truncatingIfNeeded: entity.slot))
        case .group:
            return try located("the group's key in slot \(Slot(truncatingIfNeeded: entity.slot))") {
                try self.restoreGroupItem(entity, at: Slot(truncatingIfNeeded: entity.slot))
            }
        case .activity, nil: break
        }
        return try located("the activity in slot \(entity.slot)") {
            guard let slot = Slot(exactly: entity.slot) else { throw ImageError.unknownValue }
            let places = entity.parts
            let parts = Engine.RestoredParts(
                app: FrameRange(places.app), kind: FrameRange(places.kind),
                key: places.key.isEmpty ? nil : FrameRange(places.key),
                device: places.device.isEmpty ? nil : FrameRange(places.device),
                attributes: FrameRange(places.attributes), content: FrameRange(places.content))
            let bytes = entity.bytes.bindMemory(to: UInt8.self).span
            let image = try ActivityImage(bytes.extracting(places.image))
            try self.engine.restore(try entity.readID(), at: slot, seq: entity.seq, image, parts, of: bytes)
        }
    }

    /// The events of a batch are back: its notes about activities and held reloads hold.
    fileprivate func restoreSigns() {
        for (id, image) in recoveringSigns { engine.restoreSign(id, image) }
        recoveringSigns.removeAll(keepingCapacity: true)
        for held in recoveringHolds { engine.restore(held) }
        recoveringHolds.removeAll(keepingCapacity: true)
        for name in recoveringRemovals { engine.finishGroupRemoval(name) }
        recoveringRemovals.removeAll(keepingCapacity: true)
    }

    private func report() {
        recovery.activities = engine.entityCount
        for slot in 0..<engine.slotCount {
            guard let record = engine.record(at: slot) else { continue }
            let due = engine.next(of: record.machine)?.at ?? .never
            guard due <= now.domain else { continue }
            recovery.overdue += 1
            recovery.oldestLateBy = max(recovery.oldestLateBy, now.domain - due)
        }
    }

    /// Says where it was when something cannot be taken back; false where that was noted and the rest goes on.
    @discardableResult
    private func located(_ place: @autoclosure () -> String, _ body: () throws -> Void) throws -> Bool {
        let failure: RecoveryError
        do {
            try body()
            return true
        } catch let error as ImageError {
            failure = RecoveryError(reason: error.sentence, place: place())
        } catch let error as ScanError {
            failure = RecoveryError(reason: "an event that is no JSON: \(error)", place: place())
        }
        guard let salvage else { throw failure }
        salvage.lose("\(failure)")
        return false
    }
}

extension Partition: RecoveryVisitor {
    package func begin(batch number: UInt64, at: Int64) throws {
        restoreSigns()
        recoveringBatch = number
    }

    package func fact(_ content: Span<UInt8>) throws {
        try located("a note of batch \(recoveringBatch)") { try self.restoreNote(content) }
    }

    package func event(
        app: Span<UInt8>, seq: UInt64, previous: UInt64, topic: Span<UInt8>, json: Span<UInt8>, image: Span<UInt8>
    ) throws {
        try located("seq \(seq) of batch \(recoveringBatch)") {
            if let parts = EntityTopic(topic, family: EntityTopic.control) {
                recovery.events += 1
                return try self.engine.restoreControl(
                    parts.id, seq: seq, try ControlImage(image), app: Array(topic.extracting(parts.app)),
                    kind: Array(topic.extracting(parts.type)))
            }
            if try self.restoreGroupEvent(topic: topic, seq: seq, json: json, image: image) {
                recovery.events += 1
                return
            }
            if let parts = EntityTopic(topic, family: EntityTopic.widget) {
                recovery.events += 1
                return try self.engine.restoreWidget(
                    parts.id, seq: seq, try WidgetImage(image), app: Array(topic.extracting(parts.app)),
                    kind: Array(topic.extracting(parts.type)))
            }
            guard let parts = EntityTopic(topic, family: EntityTopic.activity) else {
                throw ImageError.contradiction("a topic of no activity")
            }
            let after = try ActivityImage(image)
            recovery.events += 1
            guard after.isWhole || after.contentChanged else {
                return self.engine.restoreChange(parts.id, seq: seq, after, content: nil, of: json)
            }
            let found = try EventParts(of: json)
            guard after.isWhole else {
                return self.engine.restoreChange(parts.id, seq: seq, after, content: found.contentState, of: json)
            }
            // Names and payloads stand in two pieces of memory; the engine takes them from one.
            recoveringBytes.removeAll(keepingCapacity: true)
            _ = json.withUnsafeBytes { recoveringBytes.add($0) }
            let start = topic.withUnsafeBytes { recoveringBytes.add($0) }.indices.lowerBound
            let bytes = recoveringBytes
            let empty = FrameRange(offset: 0, count: 0)
            try self.engine.restoreStart(
                parts.id, seq: seq, after,
                Engine.RestoredParts(
                    app: FrameRange(offset: start, count: parts.app.count),
                    kind: FrameRange(offset: start + parts.type.lowerBound, count: parts.type.count), key: found.key,
                    device: found.device, attributes: found.attributes ?? empty, content: found.contentState ?? empty),
                of: bytes.span)
        }
    }

    package func endStream(app: Span<UInt8>, seq: UInt64, entities: Int, digest: UInt64) throws {
        try located("the stream of batch \(recoveringBatch)") {
            guard let app = self.engine.restoredApp(app) else {
                throw ImageError.contradiction("more apps than there may be")
            }
            self.engine.restoreStreamEnd(app, seq: seq, entities: entities, digest: digest)
        }
    }
}

extension Array where Element == UInt8 {
    /// Appends some bytes, and says where they stand.
    fileprivate mutating func add(_ part: UnsafeRawBufferPointer) -> FrameRange {
        defer { append(contentsOf: part) }
        return FrameRange(offset: count, count: part.count)
    }
}

extension ImageError {
    /// What is wrong, for a person.
    var sentence: String {
        switch self {
        case .truncated: "it ends too early"
        case .tooLong: "it goes on behind its end"
        case .unknownVersion(let version): "it was written in layout \(version), by a later release"
        case .unknownValue: "it holds a value that no release has written"
        case .contradiction(let what): what
        }
    }
}

extension RecoveredEntity {
    /// The id of an activity, a control or a widget.
    fileprivate func readID() throws(ImageError) -> EntityID {
        let bytes = bytes.bindMemory(to: UInt8.self).span
        guard let id = EntityID(text: bytes, at: FrameRange(parts.id)) else { throw .unknownValue }
        return id
    }
}
