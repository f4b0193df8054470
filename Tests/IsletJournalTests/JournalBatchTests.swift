import IsletJournal
import Testing

@Suite struct JournalBatchTests {
    private func append(
        _ batch: inout JournalBatch, stream: UInt32, app: String, seq: UInt64, at: Int64 = 1_000, json: String
    ) {
        batch.append(
            stream: stream, app: Array(app.utf8).span, seq: seq, previous: seq - 1, at: at,
            topic: Array("\(app)/activity/x/\(seq)".utf8).span, json: Array(json.utf8).span, image: [1, 2].span)
    }

    private func text(_ slice: JournalBatch.Slice, of batch: JournalBatch) -> String {
        batch.withBytes(of: slice) { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }

    @Test func eventsOfOneAppShareARowAndKeepTheOverallOrder() {
        var batch = JournalBatch(number: 1)
        append(&batch, stream: 7, app: "com.a", seq: 41, at: 10, json: "{\"a\":1}")
        append(&batch, stream: 2, app: "com.b", seq: 1, at: 11, json: "{\"b\":1}")
        append(&batch, stream: 7, app: "com.a", seq: 42, at: 12, json: "{\"a\":2}")

        #expect(batch.rows.map(\.stream) == [7, 2])
        #expect(batch.rows.map(\.firstSeq) == [41, 1])
        #expect(batch.rows.map(\.lastSeq) == [42, 1])
        #expect(batch.rows.map(\.at) == [12, 11])
        #expect(batch.rows.map { text($0.name, of: batch) } == ["com.a", "com.b"])
        #expect(batch.events.map { text($0.json, of: batch) } == ["{\"a\":1}", "{\"b\":1}", "{\"a\":2}"])
        #expect(batch.events.map(\.row) == [0, 1, 0])

        var body: [String] = []
        batch.forEachEvent(ofRow: 0) { body.append(text($0.topic, of: batch) + text($0.json, of: batch)) }
        #expect(body == ["com.a/activity/x/41{\"a\":1}", "com.a/activity/x/42{\"a\":2}"])
    }

    @Test func notesComeBackInOrderAndMakeABatchWorthCommitting() {
        var batch = JournalBatch(number: 1)
        #expect(batch.isEmpty)
        for content: [UInt8] in [[1, 2, 3], [], [4]] { batch.note(content.span) }
        #expect(!batch.isEmpty)
        let notes = batch.facts.map { slice in
            batch.withBytes(of: slice) { span in span.withUnsafeBytes { [UInt8]($0) } }
        }
        #expect(notes == [[1, 2, 3], [], [4]])
    }

    @Test func aResetBatchRemembersNothing() {
        var batch = JournalBatch(number: 1)
        append(&batch, stream: 7, app: "com.a", seq: 1, json: "{}")
        batch.note([9].span)
        batch.reset(number: 2)
        #expect(batch.number == 2)
        #expect(batch.isEmpty)
        #expect(batch.byteCount == 0)
        append(&batch, stream: 7, app: "com.a", seq: 900, json: "{}")
        #expect(batch.rows.map(\.firstSeq) == [900])
    }

    @Test func aCopyIsNotChangedByWhatFollows() {
        var batch = JournalBatch(number: 1)
        append(&batch, stream: 7, app: "com.a", seq: 1, json: "{\"first\":1}")
        let written = batch
        batch.reset(number: 2)
        append(&batch, stream: 7, app: "com.a", seq: 2, json: "{\"other\":2}")
        #expect(written.number == 1)
        #expect(text(written.events[0].json, of: written) == "{\"first\":1}")
    }

    @Test func itIsFullAtItsMaximumOfEventsOrBytes() {
        var many = JournalBatch(number: 1)
        for seq in 1..<UInt64(JournalBatch.maximumEvents) { append(&many, stream: 1, app: "a", seq: seq, json: "{}") }
        #expect(!many.isFull)
        append(&many, stream: 1, app: "a", seq: UInt64(JournalBatch.maximumEvents), json: "{}")
        #expect(many.isFull)

        var large = JournalBatch(number: 1)
        large.note([UInt8](repeating: 0, count: JournalBatch.maximumBytes - 1).span)
        #expect(!large.isFull)
        large.note([0].span)
        #expect(large.isFull)
    }

    @Test func anEventOfAnAppWithoutARowTraps() async {
        await #expect(processExitsWith: .failure) {
            var batch = JournalBatch(number: 1)
            batch.addRow(of: 1, app: [97].span, firstSeq: 1)
            batch.append(
                stream: 2, seq: 1, previous: 0, at: 0, topic: [97].span, json: [123].span, image: [1].span)
        }
    }

    @Test func anAppThatIsAddedTooEarlyOrTwiceTraps() async {
        await #expect(processExitsWith: .failure) {
            var batch = JournalBatch(number: 1)
            batch.addRow(of: 1, app: [97].span, firstSeq: 1)
            batch.addRow(of: 2, app: [98].span, firstSeq: 1)
            batch.append(stream: 1, seq: 1, previous: 0, at: 0, topic: [97].span, json: [123].span, image: [1].span)
            batch.append(stream: 2, seq: 1, previous: 0, at: 0, topic: [97].span, json: [123].span, image: [1].span)
        }
        await #expect(processExitsWith: .failure) {
            var batch = JournalBatch(number: 1)
            batch.addRow(of: 1, app: [97].span, firstSeq: 1)
            batch.addRow(of: 1, app: [97].span, firstSeq: 1)
        }
    }

    @Test func aHoleInASequenceTraps() async {
        await #expect(processExitsWith: .failure) {
            var batch = JournalBatch(number: 1)
            batch.append(
                stream: 1, app: [97].span, seq: 1, previous: 0, at: 0, topic: [97].span, json: [123].span,
                image: [1].span)
            batch.append(
                stream: 1, app: [97].span, seq: 3, previous: 0, at: 0, topic: [97].span, json: [123].span,
                image: [1].span)
        }
    }
}
