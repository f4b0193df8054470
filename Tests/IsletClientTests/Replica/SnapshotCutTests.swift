import IsletClient
import Testing

/// A snapshot that is brought to one moment.
@Suite struct SnapshotCutTests {
    private var model = ModelStream()
    private let app = "com.example.pizza"

    /// Two halves of a snapshot: what has the topics first, and after `meanwhile` all other rows and the end.
    private mutating func chunks(
        first topics: [String], _ meanwhile: (inout ModelStream) -> Void
    ) -> [BulkChunk] {
        var first = BulkChunk(req: "")
        first.epoch = model.epoch
        first.fromSeq = model.seq
        first.rows = model.rows(topics)
        meanwhile(&model)
        var last = model.snapshot()
        last.fromSeq = nil
        last.rows.removeAll { topics.contains($0.topic) }
        return [first, last]
    }

    private func members(_ cut: SnapshotCut) -> [String: RawObject] {
        cut.rows.mapValues { RawObject($0.bytes)?.members.first?.value.object ?? [:] }
    }

    private func expectAgreement(_ cut: SnapshotCut, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(members(cut) == model.entities, sourceLocation: sourceLocation)
        #expect(cut.digest == model.digest(), sourceLocation: sourceLocation)
        #expect(cut.count == model.entities.count, sourceLocation: sourceLocation)
        #expect(cut.position == model.position, sourceLocation: sourceLocation)
    }

    @Test mutating func `what did not change meanwhile is exact at once`() throws {
        model.start("a")
        model.setGroup("g", key: "k", value: 1)
        let cut = try SnapshotCut([model.snapshot()], app: app, prefix: nil)
        #expect(cut.isExact)
        expectAgreement(cut)
    }

    @Test func `of nothing there is an exact one`() throws {
        let cut = try SnapshotCut([model.snapshot()], app: app, prefix: nil)
        #expect(cut.isExact && cut.count == 0 && cut.digest == 0)
    }

    @Test mutating func `rows become what the events of the meantime make of them`() throws {
        for id in ["a", "b", "c", "d"] { model.start(id) }
        model.setGroup("g", key: "k", value: 1)
        model.setGroup("g", key: "l", value: 1)
        let early = [model.topic("a"), model.topic("b"), "\(app)/group/g/k"]
        let chunks = chunks(first: early) { model in
            model.update("a", eta: 1)
            model.update("a", eta: 2)
            model.dismiss("b")
            model.update("c", eta: 3)
            model.dismiss("d")
            model.start("e")
            model.start("f")
            model.dismiss("f")
            model.deleteGroup("g", key: "k")
            model.setGroup("g", key: "l", value: 2)
            model.notifyGroup("g", "moved")
        }
        var cut = try SnapshotCut(chunks, app: app, prefix: nil)
        #expect(!cut.isExact)
        #expect(try cut.take([model.replay(from: cut.fromSeq)]))
        expectAgreement(cut)
    }

    @Test mutating func `an id that is used again meanwhile has its last life`() throws {
        model.start("a")
        model.update("a", eta: 1)
        let chunks = chunks(first: [model.topic("a")]) { model in
            model.dismiss("a")
            model.start("a")
            model.update("a", eta: 7)
        }
        var cut = try SnapshotCut(chunks, app: app, prefix: nil)
        #expect(try cut.take([model.replay(from: cut.fromSeq)]))
        expectAgreement(cut)
    }

    @Test mutating func `events behind its moment are nothing to it`() throws {
        model.start("a")
        let chunks = chunks(first: [model.topic("a")]) { $0.update("a", eta: 1) }
        let wanted = model.entities
        model.update("a", eta: 2)
        model.start("b")
        var cut = try SnapshotCut(chunks, app: app, prefix: nil)
        #expect(try cut.take([model.replay(from: cut.fromSeq)]))
        #expect(members(cut) == wanted)
    }

    @Test mutating func `what is not as the service says leads nowhere`() throws {
        model.start("a")
        model.start("b")
        var wrong = model.snapshot()
        wrong.rows.removeLast()
        #expect(try !SnapshotCut([wrong], app: app, prefix: nil).isExact)
        let chunks = chunks(first: [model.topic("a")]) { $0.update("a", eta: 1) }
        var gap = model.replay(from: 2)
        gap.rows = []
        var cut = try SnapshotCut(chunks, app: app, prefix: nil)
        #expect(try !cut.take([gap]), "an event is missing")
        var other = model.replay(from: 2)
        other.epoch = "e2"
        cut = try SnapshotCut(chunks, app: app, prefix: nil)
        #expect(try !cut.take([other]), "another history")
        #expect(throws: IsletError.self) { try SnapshotCut([chunks[0]], app: app, prefix: nil) }
    }

    @Test mutating func `of a part only its own events count`() throws {
        let prefix = "\(app)/activity/Ride/"
        model.start("a")
        model.start("b", type: "Ride")
        var snapshot = model.snapshot(prefix: prefix)
        model.update("a", eta: 1)
        model.update("b", type: "Ride", eta: 1)
        snapshot.end = .complete(seq: model.seq, entities: nil, digest: nil)
        var cut = try SnapshotCut([snapshot], app: app, prefix: prefix)
        #expect(try cut.take([model.replay(from: cut.fromSeq)]))
        #expect(members(cut) == model.entities.filter { $0.key.hasPrefix(prefix) })
        #expect(cut.digest == model.digest(prefix: prefix))
    }
}
