import IsletClient

extension EventLines {
    /// Writes the answer to a `history`: a line for each event.
    ///
    /// - Parameter name: what the person calls the entity.
    static func writeHistory(_ answer: Answer, name: String, _ output: OutputOptions) {
        let events = answer["events"]?.elements ?? []
        if output.json {
            for event in events { Console.data(event.bytes) }
        } else {
            var lines = EventLines(style: .output)
            for event in events {
                guard let event = StreamEvent(topic: "", bytes: event.bytes) else { continue }
                for line in lines.lines(event, name: name) { Console.data(line) }
            }
        }
        guard answer["complete"]?.bool == false else { return }
        let since = answer["sinceRevision"].map { ", only those since revision \($0)" } ?? ""
        Console.message("not all events are kept any more\(since)")
    }
}
