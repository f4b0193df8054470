import IsletClient

/// How far the streams of a recording have come: what is missing in them, and what they have twice.
struct RecordedStreams {
    /// How many gaps are kept; more are only counted.
    private static let gapsMax = 100
    /// A longer gap is looked through from its other side.
    private static let steps: UInt64 = 1_000

    private struct Stray {
        let epoch: String
        let group: String
    }

    private(set) var gaps: [Recording.Gap] = []
    private(set) var missing: UInt64 = 0
    /// Whose stream the events of a group are in, as far as that is known.
    private(set) var owners: [String: String] = [:]
    private var positions: [String: StreamPosition] = [:]
    /// The last revision of each entity, with its stream's epoch.
    private var revisions: [String: StreamPosition] = [:]
    /// Events of groups whose stream is not recorded, by their number there: they fill a gap that shows later.
    private var strays: [UInt64: [Stray]] = [:]

    /// Takes an event in.
    ///
    /// - Parameters:
    ///   - entity: its entity's family and what that is called; nil for a signal.
    ///   - app: whose stream it is in; nil where that is not known.
    /// - Returns: whether it is new.
    mutating func take(_ event: StreamEvent, entity: String?, app: String?) -> Bool {
        let epoch = event.position.epoch
        if let entity, let revision = event.revision {
            if let last = revisions[entity], last.epoch == epoch, revision <= last.seq { return false }
            revisions[entity] = StreamPosition(epoch: epoch, seq: revision)
        }
        let item = event.object["notification"]?.object ?? event.patch
        let group = item["group"]?.string
        guard let app else {
            if let group { strays[event.seq, default: []].append(Stray(epoch: epoch, group: group)) }
            return true
        }
        if let group { owners[group] = app }
        let last = positions[app]
        if let last, last.epoch == epoch, event.seq <= last.seq {
            // Only a signal shows by its number alone that it was there.
            return entity != nil
        }
        positions[app] = event.position
        if let last, last.epoch == epoch, event.seq - last.seq > 1 {
            note(app, epoch, last.seq + 1, event.seq - 1)
        }
        return true
    }

    /// Keeps a gap, but for what strays fill of it.
    private mutating func note(_ app: String, _ epoch: String, _ first: UInt64, _ last: UInt64) {
        let numbers =
            last - first < Self.steps
            ? Array(first...last) : strays.keys.filter { (first...last).contains($0) }.sorted()
        var begin = first
        for number in numbers where claim(number, epoch, by: app) {
            add(app, begin, number)
            begin = number + 1
        }
        add(app, begin, last + 1)
    }

    /// - Parameter end: the number after the last one that is missing.
    private mutating func add(_ app: String, _ first: UInt64, _ end: UInt64) {
        guard first < end else { return }
        missing = missing.addingClamped(end - first)
        if gaps.count < Self.gapsMax { gaps.append(Recording.Gap(app: app, first: first, last: end - 1)) }
    }

    /// Whether a stray has this number, which then belongs to the app.
    private mutating func claim(_ number: UInt64, _ epoch: String, by app: String) -> Bool {
        guard let waiting = strays[number] else { return false }
        let fitting = waiting.indices.filter { waiting[$0].epoch == epoch }
        func owner(_ index: Int) -> String? { owners[waiting[index].group] }
        guard let best = fitting.first(where: { owner($0) == app }) ?? fitting.first(where: { owner($0) == nil }) else {
            return false
        }
        owners[waiting[best].group] = app
        strays[number]?.remove(at: best)
        if strays[number]?.isEmpty == true { strays[number] = nil }
        return true
    }
}
