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

    /// How many events a recording may have.
    package static let eventsMax = 2_000_000
    private var entries: [Entry] = []
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

    /// How many events there are.
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
        guard case .event(let event, _) = RecordedLine(entry.bytes) else { return nil }
        return RecordedEvent(line: entry.line, app: entry.app, event: event)
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
            guard isCut, !entries.isEmpty else { throw .notJSON(line: number) }
            cutLine = number
        case .event(let event, let hasTopic):
            let app = hasTopic ? event.app : app(of: event)
            let recorded = RecordedEvent(line: number, app: app, event: event)
            let entity = recorded.entity.map { "\(event.name.prefix { $0 != "." })/\($0)" }
            guard streams.take(event, entity: entity, app: app) else {
                repeated += 1
                return
            }
            guard entries.count < Self.eventsMax else { throw .tooLong(limit: Self.eventsMax, unit: "events") }
            if let id = event.id { apps[id] = app }
            if entries.isEmpty { identity = event.bytes }
            look(at: recorded)
            entries.append(Entry(line: number, app: app, bytes: bytes))
        }
    }

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
