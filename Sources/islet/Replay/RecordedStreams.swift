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

    /// An entity in one epoch of the stream that it is in.
    private struct Place: Hashable {
        let epoch: String
        let app: String?
        let entity: String
    }

    /// The epochs of the streams.
    private(set) var epochs: Set<String> = []
    private(set) var gaps: [Recording.Gap] = []
    private(set) var missing: UInt64 = 0
    /// Whose stream the events of a group are in, as far as that is known.
    private(set) var owners: [String: String] = [:]
    private var positions: [String: StreamPosition] = [:]
    /// How far each entity has come: the number of its last event, and of a group's key its revision.
    private var latest: [Place: UInt64] = [:]
    /// Events of groups whose stream is not recorded, by their number there: they fill a gap that shows later.
    private var strays: [UInt64: [Stray]] = [:]

    /// Where the snapshot of an app ends, which has all that happened up to there.
    private var snapshots: [String: StreamPosition] = [:]
    /// Whether numbers are left out that were not asked for, so that they show no gaps.
    var isPartial = false

    /// The streams of these epochs are recorded.
    mutating func begin(_ apps: [String: StreamPosition]) {
        epochs.formUnion(apps.values.map(\.epoch))
    }

    /// An app's stream goes on from the end of its snapshot.
    mutating func snapshot(of app: String, at position: StreamPosition) {
        snapshots[app] = position
        positions[app] = position
    }

    /// Takes an event in.
    ///
    /// - Parameters:
    ///   - entity: its entity's family and what that is called; nil for a signal.
    ///   - app: whose stream it is in; nil where that is not known.
    /// - Returns: whether it is new.
    mutating func take(_ event: StreamEvent, entity: String?, app: String?) -> Bool {
        let epoch = event.position.epoch
        epochs.insert(epoch)
        if let end = app.flatMap({ snapshots[$0] }), end.epoch == epoch, event.seq <= end.seq { return false }
        let item = event.object["notification"]?.object ?? event.patch
        let group = item["group"]?.string
        // An id may be used again, with revisions from the first one on: its events are known by their numbers in their
        // stream. In whose stream a group's are may show later; but a key's revisions never begin again.
        if let entity, let number = group == nil ? event.seq : event.revision {
            let place = Place(epoch: epoch, app: group == nil ? app : nil, entity: entity)
            guard number > latest[place] ?? 0 else { return false }
            latest[place] = number
        }
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
        if let last, last.epoch == epoch, event.seq - last.seq > 1, !isPartial {
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
