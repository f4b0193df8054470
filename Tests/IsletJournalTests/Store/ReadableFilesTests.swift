import IsletJournal
import Testing

/// What an operator sees with the `sqlite3` command, while the service runs.
@Suite(.timeLimit(.minutes(10))) struct ReadableFilesTests {
    @Test func theViewsSayItInWordsAndDates() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder)
        await run.commit(
            .sample(1, [SampleEvent(app: "com.a", seq: 1), SampleEvent(app: "com.a", seq: 2)], at: 1_800_000_000_007)
        )
        var chunk = StateChunk()
        chunk.add(slot: 1, nextAt: 1_800_000_000_999)
        chunk.add(slot: 2, nextAt: 1_799_999_999_999)
        chunk.add(slot: 3)
        run.journal.sweep(chunk)
        await run.notices.swept(1)
        #expect(
            try TemporaryFolder.sqlite3(
                folder.data + "/journal-000001.db",
                "SELECT seq, at, event, app, id, json_extract(json, '$.seq') FROM events")
                    == """
                    1|2027-01-15T08:00:00.007Z|activity.updated|com.a|a-1|1
                    2|2027-01-15T08:00:00.007Z|activity.updated|com.a|a-2|2

                    """)
        let state = folder.data + "/state.db"
        #expect(
            try TemporaryFolder.sqlite3(state, "SELECT * FROM deadlines") == """
                2027-01-15T07:59:59.999Z|stale|com.a|Delivery|a-2|active
                2027-01-15T08:00:00.999Z|stale|com.a|Delivery|a-1|active

                """)
        #expect(
            try TemporaryFolder.sqlite3(state, "SELECT id, state, next_at FROM live ORDER BY id") == """
                a-1|active|2027-01-15T08:00:00.999Z
                a-2|active|2027-01-15T07:59:59.999Z
                a-3|active|

                """)
        await run.commit(.sample(2, [SampleEvent(app: "com.a", seq: 3)], at: 1_800_000_000_008))
        await run.journal.close()
        #expect(try Store.open(directory: folder.data, options: .testing()).summary.lastBatch == 2)
    }
}
