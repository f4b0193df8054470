import IsletClient
import islet

/// A recording that a test writes line by line, and what is planned of it.
struct RecordedSample {
    private(set) var recording = Recording()
    private var seq: UInt64 = 0
    private var line = 0

    static let id = "0198c0de-1c00-7a3e-9f21-3b5c8d7e0a11"
    static let other = "0198c0de-1c00-7a3e-9f21-3b5c8d7e0a12"
    static let now: Int64 = 1_767_225_600_000

    /// Adds an event.
    ///
    /// - Parameters:
    ///   - at: milliseconds after the first.
    ///   - patch: the members of the entity, but for its id and revision.
    ///   - more: further members of the event.
    mutating func add(
        _ name: String, from: String? = nil, to: String? = nil, cause: String = "command", at: Int64 = 0,
        id: String = id, patch: String = "", more: String = ""
    ) throws(RecordingError) {
        seq += 1
        let family = name.prefix { $0 != "." }
        let states = [from.map { #""from":"\#($0)","# }, to.map { #""to":"\#($0)","# }].compactMap(\.self).joined()
        let revision = from == nil ? 1 : seq
        try take(
            #"{"epoch":"e","seq":\#(seq),"at":\#(Self.now + at),"event":"\#(name)",\#(states)"cause":"\#(cause)","#
                + (more.isEmpty ? "" : more + ",")
                + #""\#(family)":{"id":"\#(id)","revision":\#(revision)\#(patch.isEmpty ? "" : ",")\#(patch)}}"#)
    }

    /// Adds a line as it stands.
    mutating func take(_ text: String, isCut: Bool = false) throws(RecordingError) {
        line += 1
        try recording.take(Array(text.utf8), number: line, isCut: isCut)
    }

    /// There are no more lines.
    mutating func finish() {
        recording.finish()
    }

    /// The start of an activity.
    mutating func start(
        _ id: String = id, at: Int64 = 0, patch: String = "", more: String = ""
    ) throws(RecordingError) {
        try add(
            "activity.started", to: "active", at: at, id: id,
            patch: #""app":"com.a","type":"Ride","state":"active","attributes":{"n": 1},"contentState":{"eta":12},"#
                + #""relevanceScore":0,"style":"standard""# + (patch.isEmpty ? "" : "," + patch),
            more: more)
    }

    /// The placing of a toggle, or of a button.
    mutating func control(_ id: String = id, template: String = "toggle", patch: String = "") throws(RecordingError) {
        try add(
            "control.added", to: "loading", id: id,
            patch: #""app":"com.a","kind":"Torch","template":"\#(template)","device":"phone","state":"loading""#
                + (patch.isEmpty ? "" : "," + patch))
    }

    mutating func widget(_ id: String = id) throws(RecordingError) {
        try add(
            "widget.added", to: "loading", id: id,
            patch: #""app":"com.a","kind":"Forecast","family":"systemSmall","device":"phone","state":"loading""#)
    }

    /// What is planned for each event.
    var verdicts: [ReplayVerdict] {
        var planner = ReplayPlanner(recording)
        return (0..<recording.count).compactMap { recording.event($0).map { planner.plan($0) } }
    }

    /// What is planned for the last event.
    var last: String { verdicts.last.map(Self.text) ?? "nothing" }

    /// The commands as JSON, or why there are none.
    static func text(_ verdict: ReplayVerdict) -> String {
        switch verdict {
        case .follows(let cause): "follows \(cause)"
        case .impossible(let obstacle): "impossible \(obstacle)"
        case .send(let commands): commands.map { text($0.command) }.joined(separator: "; ")
        }
    }

    static func text(_ command: Command) -> String { "\(command.op) \(command.fields)" }
}
