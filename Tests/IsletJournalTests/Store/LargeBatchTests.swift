import IsletJournal
import Testing

/// A batch with more events of an app than one row has.
@Suite(.timeLimit(.minutes(10))) struct LargeBatchTests {
    private let options = StoreOptions.testing()

    /// Events of two apps by turns; those of the first take four rows.
    private let events: [SampleEvent] = (1...40).flatMap { number in
        [
            SampleEvent(app: "com.a", seq: number, previous: number - 1, padding: 5_000),
            SampleEvent(app: "com.b", seq: number, previous: number - 1),
        ]
    }

    /// What recovery tells of the batch.
    private var lines: [String] {
        ["batch 1 at 1000", "fact f"]
            + ["com.a", "com.b"].flatMap { app in
                events.filter { $0.app == app }.map(\.line) + ["\(app) ends at 40: 80, 77"]
            }
    }

    /// A journal that has the batch and another one.
    private func filled() async throws -> JournalRun {
        let run = try JournalRun(TemporaryFolder(), options)
        await run.commit(.sample(1, events, facts: ["f"], answers: ["one", "two"]))
        await run.commit(.sample(2, [SampleEvent(app: "com.a", seq: 41, previous: 40)]))
        return run
    }

    private let rows = "SELECT id & 0xfffff, app, first_seq, last_seq, entities, digest FROM batch WHERE number = 1"

    @Test func itsRowsFollowOneAnotherAndTheLastOfAnAppSaysHowItWas() async throws {
        let run = try await filled()
        await run.journal.close()
        let written = try TemporaryFolder.sqlite3(run.folder.data + "/journal-000001.db", rows)
        #expect(
            written == """
                0|com.a|1|13||
                1|com.a|14|26||
                2|com.a|27|39||
                3|com.a|40|40|80|77
                4|com.b|1|40|80|77

                """)
        #expect(try Store.verify(directory: run.folder.data).findings == [])
    }

    @Test func recoveryTellsItAsOneStream() async throws {
        let run = try await filled()
        await run.journal.close()
        let store = try Store.open(directory: run.folder.data, options: options)
        #expect(try Array(store.recorded().prefix(lines.count)) == lines)
        #expect(try store.answers() == ["1 at 1000: one", "1 at 1000: two"])
    }

    @Test func itsEventsAreReadFromAnyPlace() async throws {
        let run = try await filled()
        for seq: UInt64 in [0, 12, 13, 14, 26, 39, 40] {
            let read = await run.read("com.a", .stream(after: seq), id: 100 + seq)
            #expect(read?.seqs == Array((seq + 1)...41), "after \(seq)")
        }
        for seq: UInt64 in [1, 13, 14, 27, 40, 41] {
            let read = await run.read("com.a", .chain(last: seq), id: 200 + seq)
            #expect(read?.seqs == (1...seq).reversed(), "from \(seq) back")
        }
        await run.journal.close()
    }

    /// An event that is longer than a row alone, and batches whose last event is the last that fits.
    @Test(arguments: [[70_000], [10, 70_000, 10], [40_000, 40_000], [40_000, 40_000, 40_000, 40_000]])
    func noRowIsEmptyAndNoEventIsCut(paddings: [Int]) async throws {
        let run = try JournalRun(TemporaryFolder(), options)
        let events = paddings.enumerated().map { index, padding in
            SampleEvent(app: "com.a", seq: UInt64(index + 1), previous: UInt64(index), padding: padding)
        }
        await run.commit(.sample(1, events))
        let all = await run.read("com.a", .stream(after: 0), bytes: 1 << 30)
        #expect(all?.seqs == events.map(\.seq))
        await run.journal.close()
        let store = try Store.open(directory: run.folder.data, options: options)
        let ends = "com.a ends at \(events.count): \(events.count), 77"
        #expect(try store.recorded() == ["batch 1 at 1000"] + events.map(\.line) + [ends])
        #expect(try Store.verify(directory: run.folder.data).findings == [])
    }

    /// Each statement takes an app's state after the batch away, in the middle of the journal or at its end.
    @Test(
        arguments: [
            ("DELETE FROM batch WHERE number = 1 AND app = 'com.a' AND digest IS NOT NULL", "batch 1", "com.a"),
            ("UPDATE batch SET digest = NULL WHERE number = 1 AND app = 'com.b'", "batch 1", "com.b"),
            ("UPDATE batch SET entities = NULL WHERE number = 2", "batch 2", "com.a"),
        ])
    func anAppWithoutItsStateAfterTheBatchIsFound(sql: String, batch: String, app: String) async throws {
        let run = try await filled()
        await run.journal.close()
        _ = try TemporaryFolder.sqlite3Writing(run.folder.data + "/journal-000001.db", sql)
        let findings = try Store.verify(directory: run.folder.data).findings.map(\.description)
        #expect(findings.contains { $0.contains(batch) && $0.contains("\(app) is without its state") }, "\(findings)")
    }

    @Test func aBackupHasItAsItIs() async throws {
        let run = try await filled()
        let file = run.folder.path + "/copy"
        run.journal.backUp(BackupRequest(id: 1, path: file))
        _ = try #require(await run.notices.backup(1)).get()
        await run.journal.close()
        let target = try TemporaryFolder()
        try Store.restore(from: file, into: target.data, epoch: "e2", options: options)
        let written = try TemporaryFolder.sqlite3(target.data + "/journal-000001.db", rows)
        #expect(try written == TemporaryFolder.sqlite3(run.folder.data + "/journal-000001.db", rows))
        let store = try Store.open(directory: target.data, options: options)
        #expect(try Array(store.recorded().prefix(lines.count)) == lines)
    }
}
