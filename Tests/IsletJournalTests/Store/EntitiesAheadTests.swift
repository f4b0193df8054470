import IsletJournal
import Testing

/// The snapshot's entities are read on another thread than the one that takes them back.
@Suite(.timeLimit(.minutes(10))) struct EntitiesAheadTests {
    /// Several times as many as are ever on the way between the two threads.
    private static let count: UInt64 = 12_000

    private struct Enough: Error {}

    /// A folder whose snapshot has them in slots from 1 on, all in the file and none in its log.
    private func filled() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder)
        await run.commit(1...1)
        let filler = String(repeating: "x", count: 300)
        var chunk = StateChunk()
        for slot in 1...Self.count { chunk.add(slot: slot, seq: slot, content: "{\"n\":\(slot),\"f\":\"\(filler)\"}") }
        chunk.set(Array("k".utf8).span, to: Array("v".utf8).span)
        chunk.holdsThrough = 1
        run.journal.sweep(chunk)
        await run.notices.swept(1)
        await run.journal.close()
        _ = try TemporaryFolder.sqlite3Writing(folder.data + "/state.db", "PRAGMA wal_checkpoint(TRUNCATE)")
        return folder
    }

    /// The slots that are told until the reading ends, and how it ends.
    private func slots(of store: Store, upTo last: UInt64 = .max) -> (slots: [UInt64], ending: (any Error)?) {
        var slots: [UInt64] = []
        do {
            try store.forEachEntity { entity in
                slots.append(entity.slot)
                if entity.slot == last { throw Enough() }
            }
            return (slots, nil)
        } catch {
            return (slots, error)
        }
    }

    @Test func manyMoreThanAreOnTheWayAtATimeComeWholeAndInTheirOrder() async throws {
        let folder = try await filled()
        let store = try Store.open(directory: folder.data, options: .testing())
        var expected: UInt64 = 1
        try store.forEachEntity { entity in
            #expect(entity.slot == expected && entity.seq == expected)
            #expect(entity.copy(entity.parts.id) == Array("a-\(expected)".utf8))
            #expect(entity.copy(entity.parts.content).starts(with: Array("{\"n\":\(expected),".utf8)))
            #expect(entity.copy(entity.parts.image) == Array("image-\(expected)".utf8))
            expected += 1
        }
        #expect(expected == Self.count + 1)
    }

    @Test func aRowThatIsNotAsItWasWrittenIsToldBehindAllThoseBefore() async throws {
        let folder = try await filled()
        _ = try TemporaryFolder.sqlite3Writing(
            folder.data + "/state.db", "UPDATE entity SET content = replace(content, 'x', 'y') WHERE slot = 9000")
        let store = try Store.open(directory: folder.data, options: .testing())
        let told = slots(of: store)
        #expect(told.slots == Array(1..<9000))
        #expect(
            told.ending as? StoreError
                == .damaged(file: folder.data + "/state.db", reason: "entity 9000 is not as it was written"))
    }

    @Test func whatTheVisitorThrowsBeforeABadRowComesFirst() async throws {
        let folder = try await filled()
        _ = try TemporaryFolder.sqlite3Writing(
            folder.data + "/state.db", "UPDATE entity SET content = replace(content, 'x', 'y') WHERE slot = 11")
        let store = try Store.open(directory: folder.data, options: .testing())
        let told = slots(of: store, upTo: 10)
        #expect(told.slots == Array(1...10))
        #expect(told.ending is Enough)
    }

    @Test func aPageThatIsNoneIsDamageOfThatFile() async throws {
        let folder = try await filled()
        var bytes = try folder.read("state.db")
        let place = try #require(bytes.firstRange(of: Array("{\"n\":9000,".utf8)))
        let page = place.lowerBound / 4_096 * 4_096
        for index in page..<(page + 16) { bytes[index] = 0xA5 }
        try folder.write(bytes, to: "state.db")
        let store = try Store.open(directory: folder.data, options: .testing())
        let told = slots(of: store)
        #expect(told.slots == Array(1...UInt64(told.slots.count)))
        #expect((8_900..<9_000).contains(told.slots.count))
        guard case .damaged(folder.data + "/state.db", _) = told.ending as? StoreError else {
            Issue.record("not refused: \(String(describing: told.ending))")
            return
        }
    }

    @Test(arguments: [1, 7, 5_000, Self.count])
    func aVisitorThatThrowsEndsTheReadingAndHasTheFileForItself(last: UInt64) async throws {
        let folder = try await filled()
        let notices = Notices()
        let store = try Store.open(directory: folder.data, options: .testing())
        for _ in 1...3 {
            let told = slots(of: store, upTo: last)
            #expect(told.slots == Array(1...last))
            #expect(told.ending is Enough)
            #expect(try store.facts() == ["k: v"])
        }
        #expect(slots(of: store).slots == Array(1...Self.count))
        let journal = try store.startJournal(after: store.summary.lastBatch, report: notices.report)
        var chunk = StateChunk()
        chunk.free(last)
        journal.sweep(chunk)
        await notices.swept(1)
        await journal.close()
    }
}
