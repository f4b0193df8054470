import IsletCore
import IsletJournal
import IsletProtocol

/// How far the snapshot is.
struct SnapshotSweep {
    /// The batch up to which the snapshot holds everything.
    var holdsThrough: UInt64 = 0
    /// The round that is underway: what the snapshot will hold through, the domain time when it began, and the first
    /// batch whose answers were remembered then.
    var round: (holdsThrough: UInt64, began: Instant, answersFrom: UInt64)?
    /// The first batch whose answers were remembered when the last round began; before one has ended, nobody knows.
    var answersFrom: UInt64 = 0
    /// A piece that waits for the batch whose effects it shows.
    var waiting: (chunk: StateChunk, batch: UInt64)?
    /// Whether the journal is writing a piece.
    var isWriting = false
    /// How many rows may be written for the events that were committed since.
    var credit = 0
    /// Eighths of a row beside that.
    private var unpaid = 0
    /// When the last piece was filled, in monotonic milliseconds.
    var filledAt: Milliseconds = 0
    /// Which domain time the journal was told, and when, in monotonic milliseconds.
    var toldTime = Instant(0)
    var toldAt: Milliseconds = 0
    /// The facts that are left of those that had changed when the round began, beside those that the engine walks
    /// through itself. They come before the slots.
    var apps = 0
    var appsOnDevices: [AppOnDevice] = []
    /// Facts that are forgotten once those of ``appsOnDevices`` are written, which replace them.
    var formerDevices: [[UInt8]] = []
    var traces = 0
    var kinds = 0
    var widgetKinds = 0
    var controlReloads: [SweptKinds] = []
    var widgetReloads: [SweptKinds] = []
    var groups = 0
    /// The names of removed groups.
    var formerGroups: [[UInt8]] = []

    /// How many facts of each kind a piece has where so many wait.
    static func share(of waiting: Int) -> Int {
        min(max(factsAtOnce, waiting / partOfFacts), mostFactsAtOnce)
    }

    /// Events were committed: rows may be written for them, an eighth for each, and up to three eighths where so many
    /// entities have changed that the round would take more than about a million events. A row costs as much as four
    /// events; what a round takes longer, a start after a kill reads again, and keeps the journal longer.
    mutating func pay(for events: Int, changed: Int) {
        let eighths = min(Self.most, max(1, changed / Self.changedPerEighth)) * events + unpaid
        credit = min(StateChunk.maximumRows, credit + eighths / 8)
        unpaid = eighths % 8
    }

    var hasFacts: Bool {
        apps > 0 || !appsOnDevices.isEmpty || !formerDevices.isEmpty || traces > 0 || kinds > 0 || widgetKinds > 0
            || !controlReloads.isEmpty || !widgetReloads.isEmpty || groups > 0 || !formerGroups.isEmpty
    }

    /// The most eighths of a row for an event.
    private static let most = 3
    private static let changedPerEighth = 125_000

    /// A piece has at least as many rows, unless time has passed: a transaction costs more than a row. With 512, filling
    /// and writing one took long enough to be seen in the latency of commands on two cores: 4 ms at p99.
    static let rowsAtOnce = 64
    /// A piece that is written because time has passed has at most as many rows.
    static let rowsInPeace = 512
    /// A piece has as many facts of each kind…
    private static let factsAtOnce = 512
    /// …and up to so many where very many wait: they are kept until they are written, and some are of devices of which there
    /// is nothing any more, which no limit counts.
    private static let mostFactsAtOnce = 2_048
    /// Of those that wait, a piece has this part at least.
    private static let partOfFacts = 16
    /// Pieces are at least so many milliseconds apart: beyond some 60 000 events/s, or 20 000 where very many entities
    /// have changed, they become larger and not more.
    static let pause: Milliseconds = 8
    /// After this many milliseconds what is there is written, however little.
    static let patience: Milliseconds = 200
    /// The same where there is enough for a whole piece.
    static let haste: Milliseconds = 25
    /// Rounds without any change, which only let the journal be trimmed, are this many milliseconds apart.
    static let idleRound: Milliseconds = 1_000
}

/// The snapshot: written in the order of slots, over many turns, so many rows for so many events.
extension Partition {
    /// Goes on with the snapshot. Only between batches: what it copies must be committed before it is written. Also
    /// while there is no room for commits, since no segment can be trimmed that the snapshot does not hold.
    func continueSweep() {
        guard isDurable else { return }
        if let waiting = sweeping.waiting, !sweeping.isWriting, flights.committedThrough >= waiting.batch {
            sweeping.waiting = nil
            sweeping.isWriting = true
            journal.sweep(waiting.chunk)
        }
        guard batch.isEmpty, sweeping.waiting == nil, !sweeping.isWriting, isSweepDue else { return }
        var rows = sweeping.credit >= SnapshotSweep.rowsAtOnce ? sweeping.credit : SnapshotSweep.rowsInPeace
        if isStopping { rows = StateChunk.maximumRows }
        let chunk = fillChunk(rows: rows)
        sweeping.credit = max(0, sweeping.credit - chunk.rowCount)
        sweeping.waiting = (chunk, batch.number - 1)
        sweeping.filledAt = now.monotonic
        continueSweep()
    }

    /// The journal keeps events for a time and has no clock.
    func tellTime() {
        guard isDurable, now.domain - sweeping.toldTime >= 1_000, now.monotonic - sweeping.toldAt >= 250 else { return }
        (sweeping.toldTime, sweeping.toldAt) = (now.domain, now.monotonic)
        journal.timePassed(to: now.domain.milliseconds)
    }

    /// Whether everything that happened is in the snapshot.
    var isSwept: Bool {
        !isDurable
            || sweeping.waiting == nil && !sweeping.isWriting && sweeping.round == nil && !hasChanges
                && sweeping.holdsThrough == batch.number - 1
    }

    /// When the snapshot wants to go on, in monotonic milliseconds; nil where it has nothing to do, or something else
    /// comes first, whose end is a turn of its own.
    func nextSweep() -> Milliseconds? {
        guard isDurable, batch.isEmpty, sweeping.waiting == nil, !sweeping.isWriting else { return nil }
        if sweeping.round != nil || hasChanges {
            if sweeping.credit >= SnapshotSweep.rowsAtOnce { return sweeping.filledAt + SnapshotSweep.pause }
            let isMuch = changedEntities + changedFacts >= SnapshotSweep.rowsInPeace
            return sweeping.filledAt + (isMuch ? SnapshotSweep.haste : SnapshotSweep.patience)
        }
        // A round's end lets answers leave the disk that are remembered no more.
        let mayMakeRoom = flights.isDiskFull && sweeping.answersFrom < retries.oldestBatch ?? batch.number
        return mayMakeRoom || sweeping.holdsThrough < batch.number - 1 ? sweeping.filledAt + SnapshotSweep.idleRound : nil
    }

    private var changedEntities: Int {
        engine.changedSlots.count + engine.controls.changedSlots.count + engine.widgets.changedSlots.count
            + engine.groups.changedSlots.count
    }

    /// How many facts wait to be written, but for the few there are of kinds and reloads. What devices report makes no events
    /// that would pay for them, nor do groups that are made and removed.
    private var changedFacts: Int {
        let ofApps = engine.changedApps.count + engine.changedAppsOnDevices.count + sweeping.appsOnDevices.count
        let ofDevices = engine.controls.lockedDevices.changeCount + engine.widgets.conditions.changeCount
        let ofGroups = engine.groups.changedGroups.count + engine.groups.formerNames.count + sweeping.formerGroups.count
        return ofApps + ofDevices + ofGroups + engine.formerDevices.count + sweeping.formerDevices.count
            + retries.changedTraceCount
    }

    private var hasChanges: Bool {
        !engine.changedSlots.isEmpty || !engine.changedApps.isEmpty || !engine.changedAppsOnDevices.isEmpty
            || !engine.formerDevices.isEmpty || retries.changedTraceCount > 0 || !engine.controls.changedSlots.isEmpty
            || !engine.controls.changedKinds.isEmpty || engine.controls.lockedDevices.hasChanges
            || !engine.groups.changedSlots.isEmpty || !engine.groups.changedGroups.isEmpty
            || !engine.groups.formerNames.isEmpty
            || !engine.widgets.changedSlots.isEmpty || !engine.widgets.changedKinds.isEmpty
            || engine.widgets.conditions.hasChanges || !engine.controls.changedReloads.isEmpty
            || !engine.widgets.changedReloads.isEmpty
    }

    private var isSweepDue: Bool {
        if isStopping { return !isSwept }
        return nextSweep().map { $0 <= now.monotonic } ?? false
    }

    private func fillChunk(rows: Int) -> StateChunk {
        var chunk = StateChunk()
        chunk.at = now.domain.milliseconds
        if sweeping.round == nil {
            // Answers that should be forgotten and are not yet leave no trace in this round.
            let began = retries.roundDate(at: now.domain)
            sweeping.round = (batch.number - 1, began, retries.oldestBatch ?? batch.number)
            engine.changedSlots.rewind()
            engine.controls.changedSlots.rewind()
            engine.groups.changedSlots.rewind()
            sweeping.groups = engine.groups.changedGroups.count
            sweeping.formerGroups = engine.groups.takeFormerNames()
            engine.widgets.changedSlots.rewind()
            sweeping.apps = engine.changedApps.count
            sweeping.appsOnDevices = Array(engine.changedAppsOnDevices)
            engine.changedAppsOnDevices.removeAll()
            sweeping.formerDevices = Array(engine.formerDevices)
            engine.formerDevices.removeAll()
            sweeping.traces = retries.changedTraceCount
            sweeping.kinds = engine.controls.changedKinds.count
            engine.controls.lockedDevices.rewind()
            sweeping.widgetKinds = engine.widgets.changedKinds.count
            engine.widgets.conditions.rewind()
            sweeping.controlReloads = Array(engine.controls.changedReloads)
            engine.controls.changedReloads.removeAll()
            sweeping.widgetReloads = Array(engine.widgets.changedReloads)
            engine.widgets.changedReloads.removeAll()
        }
        addFacts(to: &chunk)
        while !hasFacts, chunk.rowCount < rows, !chunk.isFull, addNextSlot(to: &chunk) {}
        if !hasFacts, engine.changedSlots.isAtEnd, engine.controls.changedSlots.isAtEnd,
            engine.widgets.changedSlots.isAtEnd, engine.groups.changedSlots.isAtEnd, let round = sweeping.round
        {
            image.removeAll()
            image.write(round.began)
            addFact(Self.roundKey, isKnown: true, to: &chunk)
            image.removeAll()
            writeDeadlineRules(to: &image)
            addFact(Self.rulesKey, isKnown: true, to: &chunk)
            add(.travel, to: &chunk)
            add(.lease, to: &chunk)
            add(.retryHold, to: &chunk)
            chunk.holdsThrough = round.holdsThrough
            chunk.answersFrom = round.answersFrom
            sweeping.holdsThrough = round.holdsThrough
            sweeping.answersFrom = round.answersFrom
            sweeping.round = nil
        }
        return chunk
    }

    /// Whether facts of the round are left.
    private var hasFacts: Bool {
        sweeping.hasFacts || !engine.controls.lockedDevices.isAtEnd || !engine.widgets.conditions.isAtEnd
    }

    /// The next slot of the round, family after family; false where all were written.
    private func addNextSlot(to chunk: inout StateChunk) -> Bool {
        if let slot = engine.changedSlots.popNext() {
            add(slot, to: &chunk)
        } else if let slot = engine.controls.changedSlots.popNext() {
            add(control: slot, to: &chunk)
        } else if let slot = engine.widgets.changedSlots.popNext() {
            add(widget: slot, to: &chunk)
        } else if let slot = engine.groups.changedSlots.popNext() {
            add(groupItem: slot, to: &chunk)
        } else {
            return false
        }
        return true
    }

    private func addFacts(to chunk: inout StateChunk) {
        let share = SnapshotSweep.share(of: changedFacts)
        let apps = engine.takeChangedApps(min(share, sweeping.apps))
        sweeping.apps -= apps.count
        for app in apps { add(.app(app), to: &chunk) }
        for _ in 0..<share {
            guard let place = sweeping.appsOnDevices.popLast() else { break }
            add(.appOnDevice(place), to: &chunk)
        }
        for _ in 0..<share where sweeping.appsOnDevices.isEmpty {
            guard let name = sweeping.formerDevices.popLast() else { break }
            add(.formerDevice(name), to: &chunk)
        }
        let kinds = engine.controls.takeChangedKinds(min(share, sweeping.kinds))
        sweeping.kinds -= kinds.count
        for kind in kinds { add(.controlKind(kind), to: &chunk) }
        let widgetKinds = engine.widgets.takeChangedKinds(min(share, sweeping.widgetKinds))
        sweeping.widgetKinds -= widgetKinds.count
        for kind in widgetKinds { add(.widgetKind(kind), to: &chunk) }
        for _ in 0..<share {
            guard let name = engine.widgets.conditions.popNext() else { break }
            add(.conditions(name), to: &chunk)
        }
        for _ in 0..<share {
            guard let name = engine.controls.lockedDevices.popNext() else { break }
            add(.lock(name), to: &chunk)
        }
        for _ in 0..<share {
            guard let kinds = sweeping.controlReloads.popLast() else { break }
            add(.controlReload(kinds), to: &chunk)
        }
        for _ in 0..<share {
            guard let kinds = sweeping.widgetReloads.popLast() else { break }
            add(.widgetReload(kinds), to: &chunk)
        }
        let groups = engine.groups.takeChangedGroups(min(share, sweeping.groups))
        // Of those that had changed some may have been removed since.
        sweeping.groups = min(sweeping.groups - groups.count, engine.groups.changedGroups.count)
        for group in groups { add(.group(group), to: &chunk) }
        if !sweeping.formerGroups.isEmpty { add(.removedGroups, to: &chunk) }
        for _ in 0..<share {
            guard let name = sweeping.formerGroups.popLast() else { break }
            // Another one was made by that name since, of another app perhaps: this round may not end with the one before,
            // of whose removal no batch behind it tells.
            if let group = engine.groups.find(name) {
                add(.group(group), to: &chunk)
            } else {
                add(.formerGroup(name), to: &chunk)
            }
        }
        let traces = retries.takeChangedTraces(min(share, sweeping.traces))
        sweeping.traces -= traces.count
        for client in traces { add(.trace(client), to: &chunk) }
    }

    private func add(_ fact: Fact, to chunk: inout StateChunk) {
        let (key, isKnown) = write(fact)
        addFact(key, isKnown: isKnown, to: &chunk)
    }

    private func addFact(_ key: [UInt8], isKnown: Bool, to chunk: inout StateChunk) {
        if isKnown { image.withSpan { chunk.set(key.span, to: $0) } } else { chunk.forget(key.span) }
    }

    private func add(control slot: Slot, to chunk: inout StateChunk) {
        let place = EntityPlace(.control, slot).number
        guard let record = engine.controls.record(at: slot) else { return chunk.free(place) }
        let kind = engine.controls.kinds[record.kind]
        var entity = row(at: place, record.id, kind.app, kind.name, record.device, in: &chunk)
        engine.withBytes(of: record.configuration) { entity.attributes = chunk.store($0, 0..<$0.count) }
        engine.withBytes(of: record.value) { entity.content = chunk.store($0, 0..<$0.count) }
        entity.state = chunk.store(record.machine.state.wireName)
        (entity.revision, entity.seq) = (UInt64(record.revision), record.lastSeq)
        let next = record.machine.next
        image.removeAll()
        image.image(of: record, in: engine)
        append(entity, next.at.isSet ? (next.at, next.cause.wireName) : nil, to: &chunk)
    }

    private func add(widget slot: Slot, to chunk: inout StateChunk) {
        let place = EntityPlace(.widget, slot).number
        guard let record = engine.widgets.record(at: slot) else { return chunk.free(place) }
        let kind = engine.widgets.kinds[record.kind]
        var entity = row(at: place, record.id, kind.app, kind.name, record.device, in: &chunk)
        engine.withBytes(of: record.configuration) { entity.attributes = chunk.store($0, 0..<$0.count) }
        engine.withEntry(of: record) { entity.content = chunk.store($0, 0..<$0.count) }
        entity.state = chunk.store(record.machine.state.wireName)
        (entity.revision, entity.seq) = (UInt64(record.revision), record.lastSeq)
        let next = record.machine.next
        image.removeAll()
        image.image(of: record, in: engine)
        append(entity, next.at.isSet ? (next.at, next.cause.wireName) : nil, to: &chunk)
    }

    private func add(_ slot: Slot, to chunk: inout StateChunk) {
        guard let record = engine.record(at: slot) else { return chunk.free(UInt64(slot)) }
        let kind = engine.apps.kinds[Int(record.kind)]
        var entity = row(at: UInt64(slot), record.id, kind.app, kind.type, record.device, in: &chunk)
        engine.withBytes(of: record.cold) { cold in
            entity.key = chunk.store(cold, record.keyRange)
            entity.attributes = chunk.store(cold, record.attributesRange)
        }
        engine.withBytes(of: record.content) { entity.content = chunk.store($0, 0..<$0.count) }
        entity.state = chunk.store(record.state.wireName)
        (entity.revision, entity.seq) = (UInt64(record.revision), record.lastSeq)
        image.removeAll()
        image.image(of: record, at: slot, in: engine)
        append(entity, engine.next(of: record.machine).map { ($0.at, $0.cause.wireName) }, to: &chunk)
    }

    /// The row of an entity with what says which one it is.
    private func row(
        at place: UInt64, _ id: EntityID, _ app: AppID, _ kind: [UInt8], _ device: DeviceID?,
        in chunk: inout StateChunk
    ) -> StateChunk.Entity {
        var entity = StateChunk.Entity(slot: place)
        entity.id = chunk.storeText(of: id)
        entity.app = chunk.store(engine.apps[app].name.span)
        entity.kind = chunk.store(kind.span)
        if let device { entity.device = chunk.store(engine.devices.name(device).span) }
        return entity
    }

    /// The row is written, with its date and with `image`.
    private func append(
        _ entity: StateChunk.Entity, _ next: (at: Instant, cause: StaticString)?, to chunk: inout StateChunk
    ) {
        var entity = entity
        if let next {
            entity.nextAt = next.at.milliseconds
            entity.nextCause = chunk.store(next.cause)
        }
        entity.image = image.withSpan { chunk.store($0) }
        chunk.append(entity)
    }
}

extension StateChunk {
    fileprivate mutating func store(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Slice {
        store(UnsafeRawBufferPointer(rebasing: bytes[range]).bindMemory(to: UInt8.self).span)
    }

    fileprivate mutating func storeText(of id: EntityID) -> Slice {
        var text = InlineArray<36, UInt8>(repeating: 0)
        var position = 0
        id.forEachTextByte { byte in
            text[position] = byte
            position += 1
        }
        return store(text.span)
    }

    fileprivate mutating func store(_ name: StaticString) -> Slice {
        name.withUTF8Buffer { store($0.span) }
    }
}
