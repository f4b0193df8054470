import IsletClient

/// What one line of a recording is.
enum RecordedLine {
    case event(StreamEvent, hasTopic: Bool)
    /// A batch of `islet journal dump` in which nothing was published.
    case quiet
    /// JSON, but no event.
    case other
    case notJSON

    /// Reads an event's own bytes, as `islet tail --json` writes them, or one with its topic beside it, as
    /// `islet tail --json --topics` and `islet journal dump` do.
    init(_ bytes: [UInt8]) {
        guard let object = RawObject(bytes) else {
            self = RawJSON(bytes) == nil ? .notJSON : .other
            return
        }
        if let inner = object["event"], inner.object != nil {
            let event = StreamEvent(topic: object["topic"]?.string ?? "", bytes: inner.bytes)
            self = event.map { .event($0, hasTopic: !$0.topic.isEmpty) } ?? .other
        } else if let event = StreamEvent(topic: "", bytes: bytes) {
            self = .event(event, hasTopic: false)
        } else {
            self = object["batch"] != nil && object["event"] == nil ? .quiet : .other
        }
    }
}
