import IsletClient

/// A recorded stream: its events, and what must be known of later ones before earlier ones can be played.
///
/// Only the lines are kept; an event is read when its turn comes.
package struct Recording: Sendable {
    /// Events that are missing in an app's stream.
    package struct Gap: Sendable, Equatable {
        package var app: String
        package var first: UInt64
        package var last: UInt64
    }

    private struct Entry {
        let line: Int
        let app: String?
        let bytes: [UInt8]
    }

    /// What has come of the snapshot of an app.
    private struct Part {
        var entities = 0
        var digest: UInt64 = 0
    }

    /// How many events a recording may have.
    package static let eventsMax = 2_000_000
    private var entries: [Entry] = []
    /// What `islet record` has written before all else; nil where there is no snapshot.
    private(set) var header: RecordedHeader?
    /// How many entities of the snapshot there are. They are the first entries.
    package private(set) var rows = 0
    /// What of the snapshot is missing, in words; nil where it is whole, or there is none.
    package private(set) var lack: String?
    private var parts: [String: Part] = [:]
    /// The lines of ended activities of the snapshot: they come before those that may have their keys now.
    private var endedLines: Set<Int> = []
    private var isInSnapshot = false
    private var streams = RecordedStreams()
    /// How many events stood in it before, and were left out.
    package private(set) var repeated = 0
    /// The last line, where its end is missing.
    package private(set) var cutLine: Int?
    /// The alerts of scheduled activities, which only their later start tells, by the line at which they begin: an id
    /// may be used again.
    private(set) var alerts: [Int: RawJSON] = [:]
    /// The start of what a renewed activity went on as, by the line at which the renewed one begins.
    private(set) var successors: [Int: RawObject] = [:]
    /// What a control that was placed on a locked device is configured to, as its unlocking tells; null: nothing. By
    /// the line at which the control begins.
    private(set) var revealed: [Int: RawJSON] = [:]
    /// The first line that has an event, by whose bytes the recording is known again.
    package private(set) var identity: [UInt8] = []

    private var apps: [String: String] = [:]
    /// The line at which what has an id now begins.
    private var begins: [String: Int] = [:]

    /// An empty one, which takes lines.
    package init() {}

    /// When it begins; nil where it is empty.
    package var beginning: Int64? { header?.at ?? event(0)?.at }
    /// How many events there are, those of the snapshot among them.
    package var count: Int { entries.count }
    /// The first gaps, in their order.
    package var gaps: [Gap] { streams.gaps }
    /// How many events are missing in all of them.
    package var missing: UInt64 { streams.missing }
    /// The epochs of its streams, which say whose history they are.
    package var epochs: Set<String> { streams.epochs }
    /// Whose a group is, as far as the recording tells.
    var owners: [String: String] { streams.owners }

    /// The event of an index.
    package func event(_ index: Int) -> RecordedEvent? {
        let entry = entries[index]
        switch RecordedLine(entry.bytes) {
        case .event(let event, _): return RecordedEvent(line: entry.line, app: entry.app, event: event)
        case .row(let row): return header.flatMap { Self.start(row, $0, line: entry.line) }
        case .header, .end, .laterForm, .quiet, .other, .notJSON: return nil
        }
    }

    /// What begins an entity of the snapshot.
    private static func start(_ row: RecordedRow, _ header: RecordedHeader, line: Int) -> RecordedEvent? {
        let app = String(row.topic.prefix { $0 != "/" })
        guard let epoch = header.apps[app]?.epoch, let start = row.start(at: header.at, epoch: epoch) else {
            return nil
        }
        return RecordedEvent(line: line, app: app, event: start, isOfSnapshot: true)
    }

    /// Takes the next line in.
    ///
    /// - Parameters:
    ///   - number: from 1.
    ///   - isCut: whether it is the last one and has no line end, so that it may be part of a line.
    package mutating func take(_ bytes: [UInt8], number: Int, isCut: Bool = false) throws(RecordingError) {
        switch RecordedLine(bytes) {
        case .quiet: return
        case .other: throw .notAnEvent(line: number)
        case .notJSON:
            guard isCut, !entries.isEmpty || header != nil else { throw .notJSON(line: number) }
            cutLine = number
        case .laterForm: throw .laterForm(line: number)
        case .header(let header):
            guard entries.isEmpty, self.header == nil else { throw .misplaced(line: number) }
            self.header = header
            identity = bytes
            isInSnapshot = true
            streams.begin(header.apps)
            // Of less than an app, its numbers do not tell what is missing.
            streams.isPartial = header.isOfPart
        case .row(let row): try take(row, bytes, number)
        case .end(let end):
            guard let header, isInSnapshot else { throw .misplaced(line: number) }
            isInSnapshot = false
            finish(end, header)
        case .event(let event, let hasTopic):
            let app = hasTopic ? event.app : app(of: event)
            let recorded = RecordedEvent(line: number, app: app, event: event)
            let entity = recorded.entity.map { "\(event.name.prefix { $0 != "." })/\($0)" }
            guard streams.take(event, entity: entity, app: app) else {
                repeated += 1
                return
            }
            try checkRoom()
            if let id = event.id { apps[id] = app }
            if identity.isEmpty { identity = event.bytes }
            look(at: recorded)
            entries.append(Entry(line: number, app: app, bytes: bytes))
        }
    }

    private func checkRoom() throws(RecordingError) {
        guard entries.count < Self.eventsMax else { throw .tooLong(limit: Self.eventsMax, unit: "events") }
    }

    // MARK: Snapshot

    private mutating func take(_ row: RecordedRow, _ bytes: [UInt8], _ number: Int) throws(RecordingError) {
        guard let header, isInSnapshot, rows == entries.count else { throw .misplaced(line: number) }
        guard let start = Self.start(row, header, line: number), let app = start.app,
            let revision = start.event.revision
        else { throw .notAnEvent(line: number) }
        try checkRoom()
        rows += 1
        parts[app, default: Part()].entities += 1
        parts[app, default: Part()].digest ^= Entity.digest(of: row.topic, revision: revision)
        if let id = start.event.id {
            apps[id] = app
            begins[id] = number
        }
        if start.to == "ended" { endedLines.insert(number) }
        entries.append(Entry(line: number, app: app, bytes: bytes))
    }

    /// Compares the snapshot with what its last line says of it.
    private mutating func finish(_ end: RecordedEnd, _ header: RecordedHeader) {
        for (app, part) in end.parts.sorted(by: { $0.key < $1.key }) {
            guard let epoch = header.apps[app]?.epoch else { continue }
            streams.snapshot(of: app, at: StreamPosition(epoch: epoch, seq: part.seq))
            let found = parts[app] ?? Part()
            guard lack == nil, (found.entities, found.digest) != (part.entities, part.digest) else { continue }
            lack = "of \(app) it has \(found.entities) of \(part.entities) entities, or not as they were"
        }
    }

    /// All lines are taken in.
    package mutating func finish() {
        if isInSnapshot { lack = "it ends within it, after \(rows)" }
        guard !endedLines.isEmpty else { return }
        let snapshot = entries[..<rows]
        entries[..<rows] =
            (snapshot.filter { endedLines.contains($0.line) } + snapshot.filter { !endedLines.contains($0.line) })[...]
        endedLines = []
    }

    // MARK: What earlier events need

    /// The app of an event whose topic is not recorded: its entity's start says it, and of a group's event nothing.
    private func app(of event: StreamEvent) -> String? {
        event.patch["app"]?.string ?? event.id.flatMap { apps[$0] }
    }

    /// Keeps what earlier events need.
    private mutating func look(at recorded: RecordedEvent) {
        let event = recorded.event
        guard let id = event.id else { return }
        if recorded.family != .group, recorded.from == nil { begins[id] = recorded.line }
        switch event.name {
        case "activity.started" where recorded.from != nil:
            if let line = begins[id] { alerts[line] = event.object["alert"] }
        case "activity.started":
            if let old = event.patch["renews"]?.string, let line = begins[old] { successors[line] = event.patch }
        case "control.revealed":
            if let line = begins[id], revealed[line] == nil { revealed[line] = event.patch["configuration"] ?? .null }
        case _: break
        }
    }
}
