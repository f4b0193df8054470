import IsletJournal
import Testing

@Suite(.timeLimit(.minutes(10))) struct JournalLoadTests {
    /// Everything at once, as in a service: two batches in flight, the snapshot going round, reads, backups, segments
    /// coming and going.
    @Test(arguments: SyncMode.allCases) func everythingAtOnceFits(sync: SyncMode) async throws {
        let folder = try TemporaryFolder()
        let options = StoreOptions.testing(sync: sync) {
            $0.segmentBytes = 200_000
            $0.retentionBytes = 600_000
        }
        let last: UInt64 = 400
        let run = try JournalRun(folder, options)
        var sweeps = 0
        var backups: UInt64 = 0
        for number in 1...last {
            if number > 2 { await run.notices.committed(number - 2) }
            let events = (1...4).map { (index: UInt64) in
                let seq = 4 * (number - 1) + index
                return SampleEvent(app: "com.a", seq: seq, previous: seq > 4 ? seq - 4 : 0, padding: 300)
            }
            _ = run.journal.append(.sample(number, events + [SampleEvent(app: "com.b", seq: number)], answers: ["x"]))
            if number % 10 == 0 {
                await run.notices.swept(sweeps)
                var chunk = StateChunk()
                chunk.at = 1_000 * Int64(number)
                for slot in 0..<20 { chunk.add(slot: number / 10 * 5 + UInt64(slot), seq: number) }
                // What is committed for certain.
                if number % 50 == 0 { chunk.holdsThrough = number - 2 }
                run.journal.sweep(chunk)
                sweeps += 1
            }
            if number % 200 == 100 {
                if backups > 0 { _ = try #require(await run.notices.backup(backups)).get() }
                backups += 1
                run.journal.backUp(BackupRequest(id: backups, path: "\(folder.path)/backup-\(backups)"))
            }
            if number % 7 == 0 {
                let outcome = await run.read("com.b", .stream(after: number - 3), id: number)
                #expect(outcome?.seqs?.first == number - 2)
            }
        }
        await run.notices.committed(last)
        _ = try #require(await run.notices.backup(backups)).get()
        let chain = await run.read("com.a", .chain(last: 4 * last), id: 9_999)
        #expect(chain?.seqs?.prefix(3) == [4 * last, 4 * last - 4, 4 * last - 8])
        #expect(try #require(run.store.firstBatches.first) > 1)
        await run.journal.close()

        let report = try Store.verify(directory: folder.data)
        #expect(report.findings == [])
        #expect(report.lastBatch == last)
        let store = try Store.open(directory: folder.data, options: options)
        #expect(store.summary.lastBatch == last)
        #expect(try store.recorded(after: last - 1).first == "batch \(last) at \(last)000")
        for backup in 1...backups {
            let target = try TemporaryFolder()
            try Store.restore(from: "\(folder.path)/backup-\(backup)", into: target.data, epoch: "e", options: options)
            #expect(try Store.verify(directory: target.data).findings == [])
            #expect(
                try Store.open(directory: target.data, options: options).summary.lastBatch >= 200 * (backup - 1) + 98)
        }
    }

    @Test func whatWaitsIsDoneBeforeAJournalCloses() async throws {
        let folder = try TemporaryFolder()
        let run = try JournalRun(folder)
        _ = run.journal.append(.single(1))
        _ = run.journal.append(.single(2))
        var chunk = StateChunk()
        chunk.add(slot: 4)
        run.journal.sweep(chunk)
        run.journal.backUp(BackupRequest(id: 1, path: folder.path + "/copy"))
        await run.journal.close()
        let kinds = run.notices.all.map { notice in
            switch notice {
            case .committed: "committed"
            case .swept: "swept"
            case .read: "read"
            case .backedUp(let result): (try? result.outcome.get()) == nil ? "failed" : "copied"
            case .isFull, .hasRoom, .segmentIsDelayed: "else"
            }
        }
        #expect(kinds.sorted() == ["committed", "committed", "copied", "swept"])
        let store = try Store.open(directory: folder.data, options: .testing())
        #expect(store.summary.wasClosed)
        #expect(store.summary.lastBatch == 2)
        #expect(try store.entities().count == 1)
    }
}
