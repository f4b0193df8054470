import IsletJournal
import Testing

@Suite(.timeLimit(.minutes(10))) struct VerifyTests {
    private let options = StoreOptions.testing(sync: .full) { $0.segmentBytes = 40_000 }

    private func used(_ change: (JournalRun) async throws -> Void = { _ in }) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, options)
        _ = await run.commit(from: 1, untilSegments: 4)
        try await change(run)
        await run.journal.close()
        return folder
    }

    private func sql(_ folder: TemporaryFolder, _ name: String, _ sql: String) throws {
        _ = try TemporaryFolder.sqlite3Writing(folder.data + "/" + name, sql)
    }

    private func findings(_ folder: TemporaryFolder) throws -> [String] {
        try Store.verify(directory: folder.data).findings.map(\.description)
    }

    @Test func aSoundFolderHasNoFindingsAlsoWhileItIsUsed() async throws {
        let folder = try await used { run in
            let report = try Store.verify(directory: run.folder.data)
            #expect(report.findings == [])
            #expect(report.lastBatch == run.store.firstBatches.last.map { $0 - 1 })
        }
        let report = try Store.verify(directory: folder.data)
        #expect(report.isSound)
        #expect(report.batches == Int(report.lastBatch))
        #expect(report.events == report.batches)
        #expect(report.acknowledged == report.lastBatch)
        #expect(report.segments >= 4)
    }

    /// A running service may trim what is about to be read, or is being read.
    @Test(arguments: [1, 2, 3]) func whatIsTrimmedMeanwhileIsNotMissing(segment: Int) async throws {
        let folder = try await used { run in
            let last = try #require(run.store.firstBatches.last)
            await run.hold(through: last - 1, sweep: 1)
            await run.commit(last...last)
        }
        let numbers = folder.segments.compactMap { Int($0.dropFirst(8).dropLast(3)) }
        let trimmed = numbers.filter { $0 <= 3 }
        #expect(trimmed == [1, 2, 3])
        let report = try Store.verify(directory: folder.data) { number in
            guard number == segment else { return }
            do {
                try sql(
                    folder, "state.db",
                    """
                    \(unsummed); UPDATE meta SET value = 4 WHERE key = 'first_segment';
                    UPDATE meta SET value = (SELECT value FROM meta WHERE key = 'holds_through')
                        WHERE key = 'trimmed_through'
                    """)
                for name in folder.files where trimmed.contains(where: { name.hasPrefix("journal-00000\($0).db") }) {
                    try folder.remove(name)
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(report.findings == [])
        #expect(report.lastBatch == report.acknowledged)
    }

    @Test func aSegmentThatIsMissingIsFound() async throws {
        let folder = try await used()
        for name in folder.files where name.hasPrefix("journal-000002") { try folder.remove(name) }
        #expect(try findings(folder).contains { $0.contains("journal-000002.db: is missing, and later segments are there") })
    }

    @Test func aFolderThatIsNotThereHasNothingToVerify() throws {
        let folder = try TemporaryFolder()
        #expect(throws: StoreError.self) { try Store.verify(directory: folder.data) }
        #expect(throws: StoreError.self) { try Store.verify(directory: folder.path) }
    }

    @Test func aFlippedBitInASealedSegmentIsFoundWithItsPlace() async throws {
        let folder = try await used()
        let name = "journal-000001.db-wal"
        var bytes = try folder.read(name)
        bytes[32 + 5 * 4_120 + 1_000] ^= 1
        try folder.write(bytes, to: name)
        let report = try Store.verify(directory: folder.data)
        #expect(
            report.findings.contains { finding in
                finding.file == folder.data + "/" + name && finding.offset == 32 + 5 * 4_120
            })
    }

    /// Files of the first days have no sums of their single values.
    private let unsummed = "DELETE FROM meta WHERE key LIKE 'sum:%'"

    @Test func everythingThatDoesNotFitIsFound() async throws {
        let cases: [(name: String, sql: String, words: String)] = [
            ("journal-000002.db", "DELETE FROM batch WHERE id = (SELECT min(id) FROM batch)", "batches are missing"),
            ("journal-000002.db", "UPDATE batch SET number = number + 1", "the id of another"),
            ("journal-000001.db", "UPDATE batch SET body = replace(body, '{', '[')", "no JSON"),
            ("journal-000001.db", "UPDATE batch SET body = substr(body, 2)", "do not fit"),
            ("journal-000001.db", "UPDATE batch SET recovery = x'0100'", "ends too early"),
            ("journal-000001.db", "UPDATE batch SET answers = x'01000000ff000000'", "ends too early"),
            ("journal-000001.db", "UPDATE batch SET last_seq = last_seq + 1", "recovery has"),
            ("journal-000002.db", "UPDATE batch SET at = 0", "older than"),
            ("journal-000002.db", "\(unsummed); UPDATE meta SET value = 'x' WHERE key = 'store'", "belongs to x"),
            (
                "state.db", "\(unsummed); UPDATE meta SET value = 999 WHERE key = 'holds_through'",
                "batch 999 was acknowledged"
            ),
            ("state.db", "\(unsummed); DELETE FROM meta WHERE key = 'clock'", "not complete"),
            ("journal-000002.db", "UPDATE meta SET value = 'x' WHERE key = 'epoch'", "'epoch' is not as it was written"),
            ("state.db", "UPDATE meta SET value = value + 1 WHERE key = 'clock'", "'clock' is not as it was written"),
            ("state.db", "DELETE FROM meta WHERE key = 'clock'", "'clock' is not as it was written"),
            ("state.db", "UPDATE segment SET last_at = last_at + 1", "segment 1 is not as it was written"),
            ("state.db", "DELETE FROM segment_app", "segment 1 is not as it was written"),
            ("state.db", "PRAGMA user_version = 9", "schema is 9"),
        ]
        for (name, statement, words) in cases {
            let folder = try await used()
            try sql(folder, name, statement)
            let found = try findings(folder)
            #expect(
                found.contains { $0.contains(words) && $0.contains(name) || $0.contains("was acknowledged") },
                "\(statement): \(found)")
        }
    }

    @Test func missingFilesAreFound() async throws {
        for name in ["mark", "state.db", "journal-000002.db"] {
            let folder = try await used()
            for file in folder.files where file.hasPrefix(name) { try folder.remove(file) }
            #expect(try findings(folder).contains { $0.contains(name) && $0.contains("is missing") })
        }
    }

    /// What a killed owner leaves whose commits were not synced, where the machine stopped before they were written.
    private func lost(sync: SyncMode, saysGoodbye: Bool = false) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder, .testing(sync: sync))
        await run.commit(1...5)
        await run.hold(through: 5, sweep: 1)
        if saysGoodbye { await run.journal.close() }
        let left = try folder.copy()
        try left.write([], to: "journal-000001.db-wal")
        if !saysGoodbye { await run.journal.close() }
        return left
    }

    @Test func whatWentWithTheMachineBecauseItWasNotSyncedIsNoDamage() async throws {
        let folder = try await lost(sync: .normal)
        let report = try Store.verify(directory: folder.data, bootID: "boot-2")
        #expect(report.findings == [])
        #expect(report.lostUnsynced == 5)
        #expect(report.acknowledged == 5)
        // The same run of the machine, synced commits, a goodbye: each would have kept them.
        #expect(try !Store.verify(directory: folder.data, bootID: "boot-1").isSound)
        for folder in [try await lost(sync: .full), try await lost(sync: .normal, saysGoodbye: true)] {
            #expect(try !Store.verify(directory: folder.data, bootID: "boot-2").isSound)
        }
    }

    @Test func anEpochThatBeginsBehindWhatWasLostIsSound() async throws {
        func options(_ boot: String) -> StoreOptions {
            .testing {
                $0.bootID = boot
                $0.makeEpoch = { "epoch of \(boot)" }
            }
        }
        let folder = try await lost(sync: .normal)
        let run = try JournalRun(folder, options("boot-2"))
        await run.commit(1...2)
        let left = try folder.copy()
        await run.journal.close()
        // The snapshot knew of events that the journal has lost.
        let again = try JournalRun(left, options("boot-3"))
        await again.commit(.sample(3, [SampleEvent(app: "com.a", seq: 6)]), .sample(4, [SampleEvent(app: "com.a", seq: 7)]))
        await again.journal.close()
        let report = try Store.verify(directory: left.data, bootID: "boot-3")
        #expect(report.findings == [])
        #expect(report.lostUnsynced == 0)
        // Within an epoch they would be missing.
        let last = try JournalRun(left, options("boot-3"))
        await last.commit(.sample(5, [SampleEvent(app: "com.a", seq: 9)]))
        await last.journal.close()
        #expect(try findings(left).contains { $0.contains("goes on with 9 after 7") })
    }

    @Test func aShorterJournalThanWasAcknowledgedIsFound() async throws {
        let folder = try await used()
        let last = try Store.verify(directory: folder.data).lastBatch
        for file in folder.files where file.hasPrefix("journal-") && file > "journal-000003" { try folder.remove(file) }
        #expect(try findings(folder).contains { $0.contains("batch \(last) was acknowledged") })
    }
}
