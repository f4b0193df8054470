import Foundation
import IsletJournal
import Testing

/// A folder that version 1 of the schema made. Every later version must open it: this is the test of the migrations.
///
/// It was made by ``makeFixture()``, whose code says what is in it. A new version of the schema gets a folder of its
/// own beside it.
@Suite(.timeLimit(.minutes(10))) struct FixtureTests {
    private static let fixture = #filePath.replacing("Store/FixtureTests.swift", with: "Fixtures/version-1")

    @Test func aFolderOfVersion1IsOpenedAndGoesOn() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: Self.fixture, toPath: folder.data)
        #expect(try Store.verify(directory: folder.data).findings == [])
        do {
            let store = try Store.open(directory: folder.data, options: Self.options)
            try check(store)
        }
        let run = try JournalRun(folder, Self.options)
        await run.commit(.sample(5, [SampleEvent(app: "com.a", seq: 4, previous: 3)]))
        #expect(await run.read("com.a", .stream(after: 0))?.seqs == [1, 2, 3, 4])
        await run.journal.close()
        #expect(try Store.verify(directory: folder.data).findings == [])
    }

    private func check(_ store: Store) throws {
        #expect(store.summary.epoch == "fixture-1")
        #expect(store.summary.lastBatch == 4)
        #expect(store.summary.snapshotHoldsThrough == 2)
        #expect(store.summary.wasClosed)
        #expect(store.summary.clock == 4_000)
        let a = Self.events.map(\.line)
        #expect(
            try store.recorded() == [
                "batch 1 at 1000", "fact one", a[0], "com.a ends at 1: 2, 77", a[1], "com.b ends at 1: 2, 77",
                "batch 2 at 2000", a[2], "com.a ends at 2: 1, 77", "batch 3 at 3000", a[3], "com.a ends at 3: 1, 77",
                "batch 4 at 4000", "fact last",
            ])
        #expect(try store.answers() == ["1 at 1000: yes", "3 at 3000: no"])
        #expect(
            try store.entities() == [
                "1 r1 s1 a-1|com.a|Delivery|key-1|phone|{\"a\":1}|{\"c\":1} image-1",
                "4294967298 r2 s2 a-4294967298|com.a|Delivery|key-4294967298|phone|{\"a\":1}|{} image-4294967298",
            ])
        #expect(try store.facts() == ["key: value"])
    }

    private static let events = [
        SampleEvent(app: "com.a", seq: 1), SampleEvent(app: "com.b", seq: 1),
        SampleEvent(app: "com.a", seq: 2, previous: 1),
        SampleEvent(app: "com.a", seq: 3, previous: 2),
    ]

    private static var options: StoreOptions {
        .testing(sync: .full) {
            $0.makeEpoch = { "fixture-1" }
            $0.bootID = "fixture"
        }
    }

    /// Made the fixture, once; only with `ISLET_MAKE_FIXTURE=1`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["ISLET_MAKE_FIXTURE"] == "1"))
    func makeFixture() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, Self.options)
        let events = Self.events
        await run.commit(
            .sample(1, [events[0], events[1]], facts: ["one"], answers: ["yes"]), .sample(2, [events[2]]),
            .sample(3, [events[3]], answers: ["no"]), .sample(4, facts: ["last"]))
        var chunk = StateChunk()
        chunk.at = 2_000
        chunk.add(slot: 1, nextAt: 9_000, content: "{\"c\":1}")
        chunk.add(slot: 1 << 32 | 2, revision: 2, seq: 2)
        chunk.set(Array("key".utf8).span, to: Array("value".utf8).span)
        chunk.holdsThrough = 2
        run.journal.sweep(chunk)
        await run.notices.swept(1)
        await run.journal.close()
        try? FileManager.default.removeItem(atPath: Self.fixture)
        try FileManager.default.createDirectory(atPath: Self.fixture, withIntermediateDirectories: true)
        let names = ["mark", "state.db", "state.db-wal", "journal-000001.db", "journal-000001.db-wal"]
        for name in names {
            try FileManager.default.copyItem(atPath: folder.data + "/" + name, toPath: Self.fixture + "/" + name)
        }
    }
}
