import IsletClient
import Testing

/// One stream with its entities: fuzzy snapshots, digests, filters.
@Suite struct StreamReplicaEntitiesTests {
    private var model = ModelStream()
    private var replica = StreamReplica(app: "com.example.pizza", interest: .wholeApp)
    private let app = "com.example.pizza"
    private let snapshot = ReplicaEffect.snapshot(app: "com.example.pizza", prefix: nil, attempt: 0)

    private func expectAgreement(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(replica.entities.byTopic.mapValues(\.members) == model.entities, sourceLocation: sourceLocation)
        #expect(replica.entities.digest == model.digest(), sourceLocation: sourceLocation)
    }

    @Test mutating func `a join is followed by a snapshot, and its rows are told`() throws {
        model.start("a")
        model.start("b")
        #expect(replica.joined(model.position) == [snapshot])
        let effects = replica.received(model.snapshot())
        #expect(effects.told == ["synced(joined)"])
        guard case .deliver(.synced(let state)) = try #require(effects.first) else { return }
        #expect(state.entities.count == 2)
        #expect(state.missed == nil)
        expectAgreement()
    }

    @Test mutating func `an app without events needs no snapshot`() {
        #expect(replica.joined(nil).told == ["synced(joined)"])
        #expect(replica.received(model.start("a")).told == ["1"])
        expectAgreement()
    }

    @Test mutating func `what a new history began with is gone with it, also where the next one has nothing yet`() {
        model.start("a")
        _ = replica.joined(model.position)
        _ = replica.received(model.snapshot())
        _ = replica.pause()
        // A service that keeps nothing was started anew, and again once the reader had room.
        replica.joinAsked()
        _ = replica.joined(nil)
        var second = ModelStream()
        second.epoch = "e2"
        _ = replica.received(second.start("b"))
        _ = replica.resumed()
        #expect(replica.received(second.snapshot()).told.first == "synced(epochChanged)")
        #expect(replica.entities.count == 1)
        #expect(replica.joined(nil).told == ["synced(epochChanged)"])
        #expect(replica.entities.count == 0)
    }

    @Test mutating func `a merge patch replaces, clears and keeps top-level members`() throws {
        _ = replica.joined(nil)
        _ = replica.received(model.start("a"))
        let effects = replica.received(model.update("a", eta: 12))
        guard case .deliver(.event(_, let context)) = try #require(effects.first) else { return }
        #expect(context.entity?["contentState"]?.description == #"{"eta":12}"#)
        #expect(context.entity?.state == .active)
        #expect(context.entity?.revision == 2)
    }

    @Test mutating func `a dismissed entity is shown once more and then gone`() throws {
        _ = replica.joined(nil)
        _ = replica.received(model.start("a"))
        let effects = replica.received(model.dismiss("a"))
        guard case .deliver(.event(_, let context)) = try #require(effects.first) else { return }
        #expect(context.entity?.state == .dismissed)
        #expect(replica.entities.count == 0)
    }

    @Test mutating func `a removed control is shown once more and then gone`() throws {
        func event(_ seq: UInt64, _ name: String, _ states: String) throws -> StreamEvent {
            let text = """
                {"epoch":"e1","seq":\(seq),"at":0,"event":"control.\(name)",\(states),"cause":"command",\
                "control":{"id":"a","revision":\(seq)}}
                """
            return try #require(StreamEvent(topic: "\(app)/control/lamp/a", bytes: Array(text.utf8)))
        }
        _ = replica.joined(nil)
        _ = replica.received(try event(1, "added", #""to":"loading""#))
        _ = replica.received(try event(2, "shown", #""from":"loading","to":"shown""#))
        #expect(replica.entities.count == 1)
        let effects = replica.received(try event(3, "removed", #""from":"shown","to":"removed""#))
        #expect(effects.told == ["3"])
        #expect(replica.entities.count == 0)
    }

    @Test mutating func `widgets and keys of groups are held, and leave when they are removed`() throws {
        model.widget("added", "w", from: nil, to: "loading", ["kind": .string("weather"), "entries": .integer(2)])
        model.setGroup("g", key: "k", value: 1)
        model.start("a")
        #expect(replica.joined(model.position) == [snapshot])
        _ = replica.received(model.snapshot())
        expectAgreement()
        #expect(Set(replica.entities.byTopic.values.map(\.family)) == ["widget", "group", "activity"])
        #expect(replica.entities.byTopic["\(app)/group/g/k"]?.id == "k")

        let tap: RawObject = ["interaction": .object([.init("kind", .string("weather"))])]
        let events = [
            model.widget("timeline", "w", from: "loading", ["needsLogin": .bool(true)]),
            model.widget("tapped", "w", besides: tap),
            model.widget("entry", "w", ["needsLogin": .null]),
            model.notifyGroup("g", "signal"),
            model.setGroup("g", key: "k", value: 2),
            model.deleteGroup("g", key: "k"),
            model.setGroup("g", key: "k", value: 3),
            model.widget("removed", "w", to: "removed"),
        ]
        let effects = events.flatMap { replica.received($0) }
        #expect(effects.told == (4...11).map(String.init))
        #expect(effects.asked.isEmpty)
        expectAgreement()
        #expect(replica.entities.count == 2)
        #expect(replica.entities.byTopic["\(app)/group/g/k"]?.revision == 4)
        #expect(replica.received(model.watermark()).isEmpty)
    }

    @Test mutating func `a signal is told, and is of no entity`() throws {
        _ = replica.joined(nil)
        let signal = model.notifyGroup("g", "signal")
        guard case .deliver(.event(let event, let context)) = try #require(replica.received(signal).first) else {
            throw CancellationError()
        }
        #expect(event.name == "group.notified")
        #expect(context.entity == nil)
        #expect(context.isNews)
        #expect(replica.entities.count == 0)
        #expect(replica.received(model.setGroup("g", key: "k", value: 1)).told == ["2"])
    }

    @Test mutating func `a key of a later life is held from its first event on, though a row had the life before`() {
        model.setGroup("g", key: "k", value: 1)
        #expect(replica.joined(model.position) == [snapshot])
        let chunk = model.snapshot()
        let deleted = model.deleteGroup("g", key: "k")
        let again = model.setGroup("g", key: "k", value: 2)
        #expect(replica.received(deleted).isEmpty)
        #expect(replica.received(again).isEmpty)
        #expect(replica.received(chunk).told == ["synced(joined)", "2", "3"])
        expectAgreement()
    }

    @Test mutating func `a key that was removed before its row was read is not told of`() {
        model.setGroup("g", key: "k", value: 1)
        #expect(replica.joined(model.position) == [snapshot])
        var chunk = BulkChunk(req: "")
        chunk.epoch = "e1"
        chunk.fromSeq = model.seq
        let deleted = model.deleteGroup("g", key: "k")
        #expect(replica.received(deleted).isEmpty)
        let mark = model.watermark()
        chunk.end = .complete(seq: model.seq, entities: mark.entities, digest: mark.digest)
        #expect(replica.received(chunk).told == ["synced(joined)", "2|"])
        expectAgreement()
    }

    @Test mutating func `events that a row has already are no news`() {
        model.start("a")
        _ = replica.joined(model.position)
        var chunk = BulkChunk(req: "")
        chunk.epoch = "e1"
        chunk.fromSeq = model.seq
        let (second, third) = (model.update("a"), model.start("b"))
        #expect(replica.received(second).isEmpty)
        #expect(replica.received(third).isEmpty)
        // The row of a is read after the second event, that of b before the third.
        chunk.rows = model.rows([model.topic("a")])
        let mark = model.watermark()
        chunk.end = .complete(seq: model.seq, entities: mark.entities, digest: mark.digest)
        #expect(replica.received(chunk).told == ["synced(joined)", "2|", "3"])
        expectAgreement()
    }

    @Test mutating func `an entity that was dismissed while the snapshot was made does not come back`() {
        model.start("a")
        _ = replica.joined(model.position)
        var chunk = BulkChunk(req: "")
        chunk.epoch = "e1"
        chunk.fromSeq = model.seq
        let events = [model.update("a"), model.dismiss("a")]
        let mark = model.watermark()
        chunk.end = .complete(seq: model.seq, entities: mark.entities, digest: mark.digest)
        #expect(replica.received(chunk).told == ["synced(joined)"])
        // They come by another connection, after the snapshot's end.
        #expect(replica.received(events[0]).told == ["2|"])
        #expect(replica.received(events[1]).told == ["3|"])
        #expect(replica.state == .following)
        expectAgreement()
    }

    @Test mutating func `events up to the beginning of the snapshot are no news, whatever its rows say`() {
        model.start("a")
        _ = replica.joined(model.position)
        // Started and gone before the snapshot began: no row speaks of it, and it must not come back.
        #expect(replica.received(model.start("b")).isEmpty)
        #expect(replica.received(model.dismiss("b")).isEmpty)
        #expect(replica.received(model.snapshot()).told == ["synced(joined)", "2|", "3|"])
        expectAgreement()
    }

    @Test mutating func `a watermark inside the fuzzy part of a snapshot proves nothing`() {
        model.start("a")
        _ = replica.joined(model.position)
        var chunk = BulkChunk(req: "")
        chunk.epoch = "e1"
        chunk.fromSeq = model.seq
        let mark = model.watermark()
        let second = model.update("a")
        chunk.rows = model.rows([model.topic("a")])
        chunk.end = .complete(seq: model.seq, entities: 1, digest: model.digest())
        #expect(replica.received(chunk).told == ["synced(joined)"])
        #expect(replica.received(mark).isEmpty)
        #expect(replica.received(second).told == ["2|"])
        expectAgreement()
    }

    @Test mutating func `a new connection while a snapshot is taken asks for it again`() {
        model.start("a")
        _ = replica.joined(model.position)
        _ = replica.received(model.snapshot())
        _ = replica.received(Watermark(position: model.position, entities: 5, digest: nil))
        #expect(replica.state == .snapshotting)
        replica.reconnected()
        #expect(replica.joined(model.position) == [snapshot])
    }

    /// While so much goes on, a snapshot that each answer began anew would never end.
    @Test mutating func `a filtered replica goes on with a snapshot behind which too much waited, and replays that`() {
        let prefix = "com.example.pizza/activity/Delivery/"
        replica = StreamReplica(app: app, interest: .filtered(prefix: prefix))
        model.start("a")
        #expect(replica.joined(model.position) == [.snapshot(app: app, prefix: prefix, attempt: 0)])
        let chunk = model.snapshot(prefix: prefix)
        model.start("b")
        var asked: [ReplicaEffect] = []
        // One more than may wait: those before it are dropped.
        for _ in 0...EventBuffer.maximumCount { asked += replica.received(model.update("a")) }
        #expect(asked == [.join])
        #expect(replica.joined(model.position).isEmpty)
        #expect(replica.state == .snapshotting)
        let effects = replica.received(chunk)
        #expect(effects.told == ["synced(joined)"])
        #expect(effects.asked == [.replay(app: app, from: 1, attempt: 0)])
        _ = replica.received(model.replay(from: 1))
        #expect(replica.state == .following)
        expectAgreement()
    }

    @Test func `a table agrees only with the same number and the same digest`() {
        var table = EntityTable()
        #expect(table.agrees(entities: 0, digest: 0))
        table["t"] = Entity(topic: "t", members: ["revision": .integer(1)])
        #expect(table.agrees(entities: 1, digest: table.digest))
        #expect(!table.agrees(entities: 2, digest: table.digest))
        #expect(!table.agrees(entities: 1, digest: table.digest ^ 1))
        table["t"] = nil
        #expect(table.agrees(entities: 0, digest: 0))
    }

    @Test mutating func `a snapshot whose digest does not hold is taken again`() {
        model.start("a")
        _ = replica.joined(model.position)
        var wrong = model.snapshot()
        wrong.rows = []
        #expect(replica.received(wrong).asked == [.snapshot(app: app, prefix: nil, attempt: 1)])
        #expect(replica.received(model.snapshot()).told == ["synced(inconsistent)"])
        expectAgreement()
    }

    @Test mutating func `a watermark with another digest leads to a snapshot`() {
        _ = replica.joined(nil)
        _ = replica.received(model.start("a"))
        let wrong = Watermark(position: model.position, entities: 1, digest: model.digest() ^ 1)
        #expect(replica.received(model.watermark()).isEmpty)
        #expect(replica.received(wrong) == [snapshot])
        #expect(replica.received(model.snapshot()).told == ["synced(inconsistent)"])
    }

    @Test mutating func `a revision that jumps leads to a snapshot`() throws {
        _ = replica.joined(nil)
        _ = replica.received(model.start("a"))
        var other = model
        other.update("a")
        let jump = other.update("a")
        _ = replica.received(model.start("b"))
        let bytes = jump.description(withSeq: replica.seq + 1)
        let event = try #require(StreamEvent(topic: jump.topic, bytes: bytes))
        #expect(replica.received(event).asked == [snapshot])
    }

    @Test mutating func `events that are lost for good lead to a snapshot, and the gap is named`() throws {
        _ = replica.joined(nil)
        _ = replica.received(model.start("a"))
        for _ in 1...5 { model.update("a") }
        model.oldestKept = 5
        _ = replica.received(model.watermark())
        #expect(replica.received(model.replay(from: 1)) == [snapshot])
        let effects = replica.received(model.snapshot())
        guard case .deliver(.synced(let state)) = try #require(effects.first) else { return }
        #expect(state.reason == .eventsLost)
        #expect(state.missed == 2...6)
        #expect(replica.received(model.update("a")).told == ["7"])
        expectAgreement()
    }

    @Test mutating func `a filtered replica sees a gap by revision`() {
        let prefix = "com.example.pizza/activity/Delivery/"
        replica = StreamReplica(app: app, interest: .filtered(prefix: prefix))
        model.start("a")
        model.start("z", type: "Other")
        #expect(replica.joined(model.position) == [.snapshot(app: app, prefix: prefix, attempt: 0)])
        #expect(replica.received(model.snapshot(prefix: prefix)).told == ["synced(joined)"])
        model.update("z", type: "Other")
        #expect(replica.received(model.update("a")).told == ["4"])
        model.update("a")
        #expect(replica.received(model.update("a")).asked == [.snapshot(app: app, prefix: prefix, attempt: 0)])
    }

    @Test mutating func `a filtered replica compares digests at the position they speak of`() {
        let prefix = "com.example.pizza/activity/Delivery/"
        replica = StreamReplica(app: app, interest: .filtered(prefix: prefix))
        model.start("a")
        _ = replica.joined(model.position)
        _ = replica.received(model.snapshot(prefix: prefix))
        model.start("z", type: "Other")
        #expect(replica.received(model.watermark()).isEmpty)
        #expect(replica.checkDue() == [.digest(app: app, prefix: prefix)])
        #expect(replica.checkDue().isEmpty)
        #expect(replica.received(digest: model.watermark(prefix: prefix)).isEmpty)

        // Lost in silence; the digest speaks of a later position than the replica has reached.
        model.start("y", type: "Other")
        #expect(replica.received(model.watermark()).isEmpty)
        #expect(replica.checkDue() == [.digest(app: app, prefix: prefix)])
        model.update("a")
        #expect(replica.received(digest: model.watermark(prefix: prefix)).isEmpty)
        #expect(replica.received(model.watermark()).asked == [.snapshot(app: app, prefix: prefix, attempt: 0)])
    }

    @Test mutating func `a digest that does not come is asked for again`() {
        let prefix = "com.example.pizza/activity/Delivery/"
        let digest = ReplicaEffect.digest(app: app, prefix: prefix)
        replica = StreamReplica(app: app, interest: .filtered(prefix: prefix))
        model.start("a")
        _ = replica.joined(model.position)
        _ = replica.received(model.snapshot(prefix: prefix))
        #expect(replica.checkDue() == [digest])
        #expect(replica.digestFailed(ServiceError(code: .busy, message: "", retry: .later)).isEmpty)
        #expect(replica.isCheckDue)
        #expect(replica.checkDue() == [digest])
        #expect(replica.digestFailed(nil).isEmpty)
        #expect(replica.checkDue() == [digest])
        // Events overtake it: what held at its position counts.
        let mark = model.watermark(prefix: prefix)
        _ = replica.received(model.update("a"))
        #expect(replica.received(digest: mark).isEmpty)
        #expect(replica.state == .following)
    }

    @Test mutating func `a snapshot that another epoch breaks off is taken all the same`() {
        model.start("a")
        _ = replica.joined(model.position)
        _ = replica.received(model.snapshot())
        #expect(replica.joined(StreamPosition(epoch: "e2", seq: 5)) == [snapshot])
        _ = replica.received(model.watermark())
        #expect(replica.state == .joining)
        #expect(replica.joined(StreamPosition(epoch: "e2", seq: 5)) == [snapshot])
    }

    @Test mutating func `a digest waits for the event of its own position`() {
        let prefix = "com.example.pizza/activity/Delivery/"
        replica = StreamReplica(app: app, interest: .filtered(prefix: prefix))
        model.start("a")
        _ = replica.joined(model.position)
        _ = replica.received(model.snapshot(prefix: prefix))
        #expect(replica.checkDue() == [.digest(app: app, prefix: prefix)])
        let second = model.update("a")
        #expect(replica.received(digest: model.watermark(prefix: prefix)).isEmpty)
        #expect(replica.received(second).told == ["2"])
        #expect(replica.received(model.update("a")).told == ["3"])
        #expect(replica.state == .following)
    }

    @Test mutating func `a filtered replica replays the whole stream after a new connection and takes its part`() {
        let prefix = "com.example.pizza/activity/Delivery/"
        replica = StreamReplica(app: app, interest: .filtered(prefix: prefix))
        model.start("a")
        _ = replica.joined(model.position)
        _ = replica.received(model.snapshot(prefix: prefix))
        model.start("z", type: "Other")
        model.update("a")
        #expect(replica.joined(model.position) == [.replay(app: app, from: 1, attempt: 0)])
        #expect(replica.received(model.replay(from: 1)).told == ["3"])
    }
}

extension StreamEvent {
    /// The same event at another place.
    func description(withSeq seq: UInt64) -> [UInt8] {
        var object = object
        object["seq"] = .integer(seq)
        return object.json.bytes
    }
}
