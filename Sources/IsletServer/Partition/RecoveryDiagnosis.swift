import IsletCore
import IsletJournal
import IsletProtocol

/// Finds the entities in which what was taken back differs from what their streams ended with.
///
/// It reads the snapshot and all events that are kept once more, notes of each entity only its row and its last events,
/// and compares what these say with the engine. For a start that is refused: it holds a note for each entity.
final class RecoveryDiagnosis {
    /// So many entities are named.
    private static let maximumEntities = 100
    /// So many of an entity's events are named, the last ones.
    private static let eventsTold = 4

    private struct Event {
        var seq: UInt64
        var batch: UInt64
        var name: String
        /// nil: it is not listed any more.
        var revision: UInt64?
    }

    private struct Trace {
        var row: (place: UInt64, seq: UInt64, revision: UInt64?)?
        /// The last ones, oldest first.
        var events: [Event] = []

        /// What it should be: what its last event says, or its row where that is newer.
        var expected: UInt64? {
            guard let last = events.last, last.seq > row?.seq ?? 0 else { return row?.revision }
            return last.revision
        }
    }

    private let apps: Set<[UInt8]>
    private var traces: [[UInt8]: Trace] = [:]
    private var batch: UInt64 = 0

    private init(_ streams: [UnprovenStream]) {
        apps = Set(streams.map(\.name))
    }

    /// What differs in some streams, a sentence for each entity.
    ///
    /// - Throws: where the source cannot be read.
    static func entities(
        of streams: [UnprovenStream], in engine: borrowing Engine, _ source: any RecoverySource
    ) throws -> [String] {
        guard !streams.isEmpty else { return [] }
        let diagnosis = RecoveryDiagnosis(streams)
        try source.forEachEntity { diagnosis.note($0) }
        try source.forEachBatch(after: min(source.summary.keptAfter, source.summary.snapshotHoldsThrough), diagnosis)
        return diagnosis.differences(in: engine, Set(streams.map(\.app)))
    }

    private func note(_ entity: RecoveredEntity) {
        let app = entity.copy(entity.parts.app)
        guard apps.contains(app), let place = EntityPlace(number: entity.slot) else { return }
        let names = [app, Array("\(place.family.wireName)".utf8), entity.copy(entity.parts.kind)]
        let last = place.family == .group ? entity.parts.key : entity.parts.id
        let topic = Array((names + [entity.copy(last)]).joined(separator: [UInt8(ascii: "/")]))
        guard traces[topic]?.row?.seq ?? 0 <= entity.seq else { return }
        var revision: UInt64? = entity.revision
        if place.family == .activity {
            let bytes = entity.bytes.bindMemory(to: UInt8.self).span
            let image = try? ActivityImage(bytes.extracting(entity.parts.image))
            if let image, !image.machine.state.isListed { revision = nil }
        }
        traces[topic, default: Trace()].row = (entity.slot, entity.seq, revision)
    }

    // MARK: Comparing

    private func differences(in engine: borrowing Engine, _ apps: Set<AppID>) -> [String] {
        var found: [[UInt8]: UInt64] = [:]
        for app in apps.sorted() {
            var next = EntityPlace(.activity, 0)
            while let place = engine.place(from: next) {
                next = EntityPlace(place.family, place.slot + 1)
                guard engine.isListed(at: place, app: app, prefix: []) else { continue }
                var writer = JSONWriter(capacity: 256)
                writer.topic(at: place, in: engine)
                found[writer.withBytes { [UInt8]($0) }] = engine.digestPart(at: place).revision
            }
        }
        let topics = Set(found.keys).union(traces.keys)
        let different = topics.filter { found[$0] != traces[$0]?.expected }
        return different.sorted { $0.lexicographicallyPrecedes($1) }.prefix(Self.maximumEntities).map { topic in
            "\(String(decoding: topic, as: UTF8.self)) \(Self.verdict(found[topic], traces[topic]))"
        }
    }

    private static func verdict(_ found: UInt64?, _ trace: Trace?) -> String {
        let expected = trace?.expected
        let verdict =
            switch (found, expected) {
            case (let found?, let expected?): "is at revision \(found) instead of \(expected)"
            case (nil, let expected?): "is missing, and should be at revision \(expected)"
            case (let found?, nil): "is there at revision \(found), and should not be"
            case (nil, nil): "is as it should be"
            }
        let row =
            trace?.row.map { "its row (entity \($0.place)) is of seq \($0.seq)" } ?? "it has no row in the snapshot"
        let events = (trace?.events ?? []).map { "\($0.name) seq \($0.seq) in batch \($0.batch)" }
        let told = events.isEmpty ? "no event of it is kept" : "its last events are \(events.joined(separator: ", "))"
        return "\(verdict): \(row), \(told)"
    }
}

extension RecoveryDiagnosis: RecoveryVisitor {
    func begin(batch number: UInt64, at: Int64) { batch = number }

    func fact(_ content: Span<UInt8>) {}

    func event(
        app: Span<UInt8>, seq: UInt64, previous: UInt64, topic: Span<UInt8>, json: Span<UInt8>, image: Span<UInt8>
    ) {
        // One that cannot be read is told by who takes it back.
        guard apps.contains([UInt8](app)), let state = try? Self.state(after: image, topic) else { return }
        let revision: UInt64?
        switch state {
        case .listed(let number): revision = number
        case .gone: revision = nil
        case .none: return
        }
        var trace = traces[[UInt8](topic), default: Trace()]
        if trace.events.count == Self.eventsTold { trace.events.removeFirst() }
        trace.events.append(Event(seq: seq, batch: batch, name: Self.name(of: json), revision: revision))
        traces[[UInt8](topic)] = trace
    }

    func endStream(app: Span<UInt8>, seq: UInt64, entities: Int, digest: UInt64) {}

    /// What an event leaves of its entity.
    private enum State {
        case listed(UInt64)
        case gone
        /// It is of no entity.
        case none
    }

    private static func state(after image: Span<UInt8>, _ topic: Span<UInt8>) throws(ImageError) -> State {
        if EntityTopic(topic, family: EntityTopic.control) != nil {
            let image = try ControlImage(image)
            return image.machine.state == .removed ? .gone : .listed(UInt64(image.revision))
        }
        if GroupTopic(topic) != nil {
            let image = try GroupImage(image)
            switch image.name {
            case .set: return .listed(UInt64(image.revision))
            case .deleted: return .gone
            case .notified: return .none
            }
        }
        if EntityTopic(topic, family: EntityTopic.widget) != nil {
            let image = try WidgetImage(image)
            return image.machine.state == .removed ? .gone : .listed(UInt64(image.revision))
        }
        let image = try ActivityImage(image)
        return image.machine.state.isListed ? .listed(UInt64(image.revision)) : .gone
    }

    /// What an event is called, as it was published.
    private static func name(of json: Span<UInt8>) -> String {
        var name = "an event"
        try? JSONScanner.scanObject(json) { field in
            if field.name.equals("event", in: json), field.value.kind == .string {
                name = String(decoding: json.bytes(field.value.text.range), as: UTF8.self)
            }
        }
        return name
    }
}
