import IsletClient

extension EventLines {
    /// Writes the answer to a `history`: a line for each event.
    ///
    /// - Parameters:
    ///   - name: what the person calls the entity.
    ///   - speed: see ``ServiceSpeed``.
    ///   - fits: which events are shown.
    static func writeHistory(
        _ answer: Answer, name: String, speed: Double, _ output: OutputOptions, fits: (StreamEvent) -> Bool = { _ in true }
    ) {
        let all = answer["events"]?.elements ?? []
        let events = all.filter { StreamEvent(topic: "", bytes: $0.bytes).map(fits) ?? true }
        if events.count < all.count { Console.message(ShownCount.line(events.count, of: Int64(all.count), "event")) }
        if output.json {
            for event in events { Console.data(event.bytes) }
        } else {
            var lines = EventLines(style: .output, speed: speed)
            for event in events {
                guard let event = StreamEvent(topic: "", bytes: event.bytes) else { continue }
                for line in lines.lines(event, name: name) { Console.data(line) }
            }
        }
        guard answer["complete"]?.bool == false else { return }
        let since = answer["sinceRevision"].map { ", only those since revision \($0)" } ?? ""
        guard AnswerRoom.isFull(all) else { return Console.message("not all events are kept any more\(since)") }
        let tail = "`\(Invocation.name) tail --since` shows all that are kept"
        Console.message("an answer has no room for all events\(since): \(tail)")
    }
}
