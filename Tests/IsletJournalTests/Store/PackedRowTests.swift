import IsletJournal
import Testing

@Suite struct PackedRowTests {
    /// Two events with topics and images, as a segment has them.
    private let body = Array("[{\"a\":1},{\"b\":22}]".utf8)
    private let recovery: [UInt8] =
        [2, 0, 0, 0] + [7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + [65, 1, 2]
        + [8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0] + [66, 67]

    private func events(_ body: [UInt8], _ recovery: [UInt8], count: Int) throws -> [PackedRow.Event] {
        var events: [PackedRow.Event] = []
        try PackedRow.forEachEvent(body: body.span, recovery: recovery.span, count: count) { event in
            events.append(event)
            return true
        }
        return events
    }

    @Test func aRowIsTakenApart() throws {
        let events = try events(body, recovery, count: 2)
        #expect(events.map(\.previous) == [0, 257])
        #expect(events.map { String(decoding: body[$0.json], as: UTF8.self) } == ["{\"a\":1}", "{\"b\":22}"])
        #expect(events.map { Array(recovery[$0.topic]) } == [[65], [66, 67]])
        #expect(events.map { Array(recovery[$0.image]) } == [[1, 2], []])
    }

    @Test func whatDoesNotFitIsRefused() throws {
        #expect(throws: PackingError.self) { try events(body, recovery, count: 1) }
        #expect(throws: PackingError.self) { try events(body, recovery, count: 3) }
        #expect(throws: PackingError.self) { try events(body + [32], recovery, count: 2) }
        #expect(throws: PackingError.self) { try events(body, recovery + [0], count: 2) }
        for size in 0..<recovery.count {
            #expect(throws: PackingError.self) { try events(body, Array(recovery.prefix(size)), count: 2) }
        }
        for size in 0..<body.count {
            #expect(throws: PackingError.self) { try events(Array(body.prefix(size)), recovery, count: 2) }
        }
    }

    @Test func notesAreTakenApart() throws {
        let column: [UInt8] = [3, 0, 0, 0] + [1, 0, 0, 0, 9] + [0, 0, 0, 0] + [2, 0, 0, 0, 8, 7]
        var notes: [[UInt8]] = []
        try PackedRow.forEachNote(column.span) { span in notes.append(span.indices.map { span[$0] }) }
        #expect(notes == [[9], [], [8, 7]])
        try PackedRow.forEachNote([UInt8]().span) { _ in Issue.record("a note of nothing") }
        #expect(throws: PackingError.self) { try PackedRow.forEachNote((column + [1]).span) { _ in } }
        #expect(throws: PackingError.self) { try PackedRow.forEachNote(Array(column.dropLast()).span) { _ in } }
    }

    /// Whatever the bytes are, they are taken apart within their bounds or refused.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func arbitraryBytesNeverLeadOutside(seed: UInt64) throws {
        var random = seed
        func next() -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33)
        }
        for round in 0..<20_000 {
            var (body, recovery) = (body, recovery)
            for _ in 0..<(1 + next() % 4) {
                recovery[next() % recovery.count] = UInt8(truncatingIfNeeded: next() % 3 == 0 ? next() : next() % 12)
                if next() % 4 == 0 { body[next() % body.count] = UInt8(truncatingIfNeeded: next()) }
            }
            let found = try? events(body, recovery, count: 2)
            for event in found ?? [] {
                #expect(event.json.upperBound < body.count, "seed \(seed), round \(round)")
                #expect(event.topic.upperBound <= recovery.count, "seed \(seed), round \(round)")
                #expect(event.image.upperBound <= recovery.count, "seed \(seed), round \(round)")
            }
            try? PackedRow.forEachNote(recovery.span) { note in
                #expect(note.count <= recovery.count, "seed \(seed), round \(round)")
            }
        }
    }
}
