import IsletClient
import IsletFilter

/// What one line of a recording is.
enum RecordedLine {
    case event(StreamEvent, hasTopic: Bool)
    /// The first line of what `islet record` writes, a line of its snapshot, and the snapshot's end.
    case header(RecordedHeader)
    case row(RecordedRow)
    case end(RecordedEnd)
    /// The first line of a recording that a later version has made.
    case laterForm
    /// A batch of `islet journal dump` in which nothing was published.
    case quiet
    /// JSON, but no event.
    case other
    case notJSON

    /// Reads an event's own bytes, as `islet tail --json` writes them, or one with its topic beside it, as
    /// `islet tail --json --topics`, `islet record` and `islet journal dump` do.
    init(_ bytes: [UInt8]) {
        guard let object = RawObject(bytes) else {
            self = RawJSON(bytes) == nil ? .notJSON : .other
            return
        }
        if let inner = object["event"], inner.object != nil {
            self = Self.event(topic: object["topic"]?.string ?? "", inner.bytes) ?? .other
        } else if let event = Self.event(topic: "", bytes) {
            self = event
        } else if let form = object["recording"] {
            let isKnown = form.integer == RecordedHeader.version
            self = RecordedHeader(object).map(Self.header) ?? (isKnown ? .other : .laterForm)
        } else if object["row"] != nil {
            self = RecordedRow(object).map(Self.row) ?? .other
        } else if object["snapshotEnd"] != nil {
            self = RecordedEnd(object).map(Self.end) ?? .other
        } else {
            self = object["batch"] != nil && object["event"] == nil ? .quiet : .other
        }
    }

    /// The contract's largest number.
    private static let numberMax: UInt64 = 1 << 53

    private static func event(topic: String, _ bytes: [UInt8]) -> RecordedLine? {
        guard let event = StreamEvent(topic: topic, bytes: bytes), Moment.plausible.contains(event.at),
            event.seq <= numberMax
        else { return nil }
        return .event(event, hasTopic: !topic.isEmpty)
    }
}
