import IsletJournal
import IsletOracle

/// Judging what is handed to the journal: each event is what the oracle expects next.
extension Simulation {
    /// A batch was appended.
    func appended(_ batch: JournalBatch) {
        let held = heldEnds.isEmpty ? nil : heldEnds.removeFirst()
        var at = held?.at ?? domain.now
        var earliest = lastBatchAt
        let placeBefore = oracle.order
        for event in batch.events {
            let topic = batch.bytes(event.topic)
            let json = batch.bytes(event.json)
            judge(event, topic, json, in: batch)
            earliest = judgedDate(json, from: earliest, to: at)
            // A clock on its way stands behind what happened before its next stop.
            at = max(at, earliest)
            guard problem == nil else { return }
        }
        expect(!expected.isWithinGroup, "batch \(batch.number) holds a part of what belongs together")
        expect(batch.at == at, "batch \(batch.number) was closed at \(at), and is of \(batch.at)")
        // Its events may have told how far a clock on its way has come.
        let end = oracle.order > placeBefore ? oracle.order : held?.end ?? oracle.order
        ends[batch.number] = end
        for index in notedTravels.indices.reversed() where notedTravels[index].batch == nil {
            notedTravels[index].batch = batch.number
        }
        closedEnd = max(closedEnd, end)
        flight = (batch.number, flight?.since ?? domain.now)
        oracle.redateAnswers(from: ends[batch.number - 1] ?? 0, to: end, at: at)
        lastBatchAt = at
        for row in batch.rows {
            let app = String(decoding: batch.bytes(row.name), as: UTF8.self)
            expect(Int(row.lastSeq) == ledger.seq(app), "the row of \(app) ends at \(row.lastSeq)")
        }
        tally.hash(Int64(batch.number))
        tally.hash(batch.at)
    }

    /// The date of an event: not before the event and the batch before it, and only on a clock's way after what is now.
    private func judgedDate(_ json: [UInt8], from earliest: Int64, to latest: Int64) -> Int64 {
        guard let event = JSON(json), let at = event["at"]?.integer else {
            expect(false, "an event without a date")
            return 0
        }
        tally.events[event["event"]?.string ?? "", default: 0] += 1
        stops.remove(at)
        expect(
            at >= earliest && at <= max(latest, travel?.target ?? 0),
            "of a time that is not between \(earliest) and \(latest): \(String(decoding: json, as: UTF8.self))")
        return at
    }

    /// A piece of the snapshot was written: it shows nothing that is not committed.
    func swept(_ chunk: StateChunk) {
        tally.sweeps += 1
        let holds = chunk.holdsThrough.map { ", holds through \($0)" } ?? ""
        log?(
            "  swept: \(chunk.entities.count) entities, \(chunk.freed.count) freed, \(chunk.facts.count) facts\(holds)")
        for entity in chunk.entities {
            let app = String(decoding: chunk.bytes(entity.app), as: UTF8.self)
            guard let line = ledger.line(app, Int(entity.seq)) else {
                expect(false, "the snapshot shows \(app) \(entity.seq), which is in no journal")
                continue
            }
            expect(line.batch <= journal.committed, "the snapshot shows \(app) \(entity.seq) before its commit")
        }
        if let through = chunk.holdsThrough {
            expect(through <= journal.committed, "the snapshot is to hold batch \(through) before its commit")
        }
    }

    private func judge(_ event: JournalBatch.Event, _ topic: [UInt8], _ json: [UInt8], in batch: JournalBatch) {
        let text = String(decoding: json, as: UTF8.self)
        if let value = JSON(json), value["control"] != nil {
            return judgeControl(event, topic, json, value, in: batch)
        }
        if let value = JSON(json), value["widget"] != nil {
            return judgeWidget(event, topic, json, value, in: batch)
        }
        if let value = JSON(json), value["group"] != nil || value["notification"] != nil {
            return judgeGroup(event, topic, json, value, in: batch)
        }
        guard let value = JSON(json), let activity = value["activity"]?.object, let id = activity["id"]?.string else {
            return expect(false, "an event that is no JSON: \(text)")
        }
        log?("  journal \(batch.number): \(text)")
        tally.transitions += 1
        tally.hash(json)
        guard let index = find(value, id, String(decoding: topic, as: UTF8.self)) else {
            let first = expected.first.map { "\($0.passage.name) #\($0.handle) \(oracle.id($0.handle) ?? "?")" }
            return expect(false, "an event that nobody expects: \(text)\n    expected: \(first)")
        }
        let (handle, passage) = expected.first[index]
        // At the same date the order is free, else it is that of the dates.
        if let due = passage.due, let earliest = expected.first.compactMap(\.passage.due).min() {
            expect(due == earliest, "an event out of the order of dates: \(text)")
        }
        expected.take(index)
        if let link = activity["renewedBy"]?.string, let successor = passage.renewedBy, oracle.id(successor) == nil {
            oracle.learn(link, of: successor)
        }
        guard let app = oracle.app(handle) else { return expect(false, "an event of nobody: \(text)") }
        expect(oracle.topic(handle).map { Array($0.utf8) } == topic, "the topic of \(text)")
        compare(value, activity, handle, passage, seq: ledger.seq(app) + 1, text)
        ledger.append(
            Ledger.Line(
                topic: topic, json: json, batch: batch.number, handle: handle, revision: passage.shape.revision,
                isListed: passage.shape.state.isListed), app)
    }

    /// The expected passage that an event is. A clock on its way may hand over what happened before it stops the next time.
    private func find(_ value: JSON, _ id: String, _ topic: String) -> Int? {
        if let index = match(value, id, topic) { return index }
        guard let travel, let at = value["at"]?.integer, at <= travel.target else { return nil }
        var passages: [(handle: Handle, passage: Passage)] = []
        while let due = oracle.nextDue, due <= at { passages += oracle.look(at: due) }
        tally.deadlines += passages.count
        expected.expect(passages)
        return match(value, id, topic)
    }

    /// The expected passage that an event can be: the first of its activity.
    private func match(_ value: JSON, _ id: String, _ topic: String) -> Int? {
        let items = expected.first
        if let index = items.firstIndex(where: { oracle.id($0.handle) == id }) { return index }
        // A new one, whose id the service made.
        guard value["from"] == nil,
            let index = items.firstIndex(where: { oracle.id($0.handle) == nil && $0.passage.from == nil })
        else { return nil }
        oracle.learn(id, of: items[index].handle)
        return index
    }

    private func compare(
        _ value: JSON, _ activity: [String: JSON], _ handle: Handle, _ passage: Passage, seq: Int, _ text: String
    ) {
        var wanted: [String: JSON] = [
            "epoch": .string(String(decoding: epoch, as: UTF8.self)), "seq": .integer(Int64(seq)),
            "at": .integer(passage.at), "event": .string(passage.name), "to": .string(passage.shape.state.rawValue),
            "cause": .string(passage.shape.cause),
        ]
        wanted["from"] = passage.from.map { .string($0.rawValue) }
        wanted["lateBy"] = passage.lateBy.map { .integer($0) }
        wanted["alert"] = passage.alert.map { .raw($0) }
        if let asker = passage.asker, asker.client != nil || asker.req != nil {
            var by: [String: JSON] = [:]
            by["client"] = asker.client.map { .string($0) }
            by["req"] = asker.req.map { .string($0) }
            wanted["by"] = .object(by)
        }
        var told = value.object ?? [:]
        told["activity"] = nil
        expect(told == wanted, "an event is\n    \(text)\n  and should have\n    \(JSON.object(wanted).text)")
        // The patch on what was before gives what is now.
        var entity: [String: JSON] = [:]
        if let before = oracle.shape(handle, revision: passage.shape.revision - 1) {
            entity = oracle.entity(handle, before, isRead: false)
            if activity["renewedBy"] != nil { entity["renewedBy"] = nil }
        }
        Self.patch(&entity, with: activity)
        let wantedEntity = oracle.entity(handle, passage.shape, isRead: false)
        expect(
            entity == wantedEntity,
            "after\n    \(text)\n  it is\n    \(JSON.object(entity).text)\n  and should be\n    \(JSON.object(wantedEntity).text)"
        )
        expect(activity["revision"] == .integer(Int64(passage.shape.revision)), "the revision of \(text)")
    }

    /// Applies a merge patch.
    static func patch(_ entity: inout [String: JSON], with patch: [String: JSON]) {
        for (name, value) in patch { entity[name] = value == .null ? nil : value }
    }

    /// After a turn's end nothing may be left that the journal could have had: a batch, unless one is in the air.
    func checkEverythingHandedOver() {
        guard !isDiskFull, journal.inFlight == 0 else { return }
        expect(
            expected.isEmpty,
            "nothing told the journal of \(expected.first.map { "\($0.passage.name) #\($0.handle)" })")
        expect(expectedTellings.isEmpty, "nothing told the journal of \(expectedTellings.first?.topic ?? "")")
        expect(stops.isEmpty, "the clock stopped where nothing happened: \(stops.sorted())")
        if oracle.lastEffect > closedEnd {
            expect(false, "something was done that no batch holds (place \(oracle.lastEffect))")
        }
    }

    /// The last batch that was appended.
    var lastNumber: UInt64 { disk.batches.last?.batch.number ?? disk.lastNumber }
}
