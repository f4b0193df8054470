import IsletCore
import IsletJournal
import IsletServer
import Testing

/// What goes on while there is no room on the disk: what gives some back.
@Suite struct FullDiskTests {
    private func start(_ number: Int) -> String {
        #"{"op":"activity.start","req":"r\#(number)","client":"8c7a1c38-6a5e-4f0f-9a43-0d2f6f1d2c11","app":"com.x","#
            + #""type":"T","attributes":{},"contentState":{}}"#
    }

    private func sweeps(_ service: PartitionService) {
        for _ in 0..<10 { service.sweep() }
    }

    @Test func answersThatNobodyCanAskForAnyMoreAreGivenUpAlthoughTheDiskIsFull() throws {
        let service = try PartitionService(clock: .system)
        #expect(service.send(start(1)).contains(#""ok":true"#) && service.send(start(2)).contains(#""ok":true"#))
        sweeps(service)
        #expect(service.journal.answersFrom == 1 && service.journal.state.isWhole)
        _ = service.tell(.isFull(free: 0))
        #expect(service.send(start(3)).contains("diskFull"))
        service.work(milliseconds: 600_001)
        sweeps(service)
        #expect(service.journal.answersFrom == service.journal.state.lastBatch + 1)
        // And then nothing is left to do.
        let pieces = service.journal.states.count
        sweeps(service)
        #expect(service.journal.states.count == pieces)
    }

    /// Without it the snapshot would wait for what is held, and what is held for room that only the snapshot can make.
    @Test func whatWasAppliedIsHandedToTheJournalAlthoughTheDiskIsFull() throws {
        let service = try PartitionService(clock: .system)
        service.holdsCommits = true
        service.turn { $0.take(start(1)) }
        service.turn { $0.take(start(2)) }
        #expect(service.journal.state.lastBatch == 1)
        #expect(service.tell(.isFull(free: 1)).isEmpty)
        let answers = service.tell(.committed(through: 1, microseconds: 1))
        #expect(answers.count == 1 && service.journal.state.lastBatch == 2)
        #expect(service.tell(.committed(through: 2, microseconds: 1)).count == 1)
        #expect(service.send(start(3)).contains("diskFull"))
        sweeps(service)
        #expect(service.journal.state.isWhole)
    }

    @Test func whatEndsWhileTheDiskIsFullIsHandedToTheJournal() throws {
        let service = try PartitionService(clock: .system)
        let client = #""client":"8c7a1c38-6a5e-4f0f-9a43-0d2f6f1d2c11""#
        service.turn { $0.take(#"{"op":"service.backup","req":"b","path":"/x",\#(client)}"#) }
        let backup = try #require(service.journal.backups.first)
        _ = service.tell(.isFull(free: 0))
        sweeps(service)
        let batch = service.journal.state.lastBatch
        let answers = service.tell(.backedUp(BackupResult(id: backup.id, outcome: .success(1))))
        #expect(answers.count == 1 && service.journal.state.lastBatch == batch + 1)
        sweeps(service)
        #expect(service.journal.state.isWhole && service.partition.isDiskFull)
    }

    /// Whoever was told that a backup is made and asks again after a kill must find it remembered.
    @Test func theAnswerToABackupLeavesWithTheBatchThatRemembersIt() throws {
        let service = try PartitionService(clock: .system)
        let command =
            #"{"op":"service.backup","req":"b","path":"/x","client":"8c7a1c38-6a5e-4f0f-9a43-0d2f6f1d2c11"}"#
        for _ in 0..<2 { service.turn { $0.take(command) } }
        let backup = try #require(service.journal.backups.first)
        _ = service.tell(.isFull(free: 0))
        sweeps(service)
        service.holdsCommits = true
        let batch = service.journal.state.lastBatch
        #expect(service.tell(.backedUp(BackupResult(id: backup.id, outcome: .success(1)))).isEmpty)
        #expect(service.journal.state.lastBatch == batch + 1)
        // Reads do not wait, and whoever asks for it again does.
        #expect(service.send(#"{"op":"service.ping"}"#).contains(#""ok":true"#))
        #expect(service.answers { $0.take(command, from: "another") }.isEmpty)
        #expect(service.tell(.committed(through: batch + 1, microseconds: 1)).count == 2)
        #expect(service.partition.isDiskFull)
        #expect(service.send(command).contains(#""ok":true"#))
    }

    /// A copy on the same disk may be what fills it.
    @Test func aBackupThatIsMadeIsNotRefusedWhereItFillsTheDisk() throws {
        let service = try PartitionService(clock: .system)
        service.turn {
            $0.take(#"{"op":"service.backup","req":"b","path":"/x","client":"8c7a1c38-6a5e-4f0f-9a43-0d2f6f1d2c11"}"#)
        }
        let backup = try #require(service.journal.backups.first)
        service.holdsCommits = true
        let batch = service.journal.state.lastBatch
        #expect(service.tell(.backedUp(BackupResult(id: backup.id, outcome: .success(1)))).isEmpty)
        #expect(service.tell(.isFull(free: 0)).isEmpty)
        let answers = service.tell(.committed(through: batch + 1, microseconds: 1))
        #expect(answers.count == 1 && answers[0].contains(#""ok":true"#), "\(answers)")
    }

    /// Its first bytes are executed as soon as there is room: whoever were told that it is refused would do it twice.
    @Test func aCommandThatComesAgainIsAnsweredWithTheBatchThatTheFullDiskHoldsBack() throws {
        let service = try PartitionService(clock: .system)
        #expect(service.send(start(1)).contains(#""ok":true"#))
        service.holdsCommits = true
        service.turn { $0.take(start(2)) }
        service.turn { $0.take(start(3)) }
        #expect(service.tell(.isFull(free: 0)).isEmpty)
        for number in 2...3 {
            // However often one connection sends it, it is answered once.
            for _ in 0..<100 { #expect(service.answers { $0.take(start(number), from: "again") }.isEmpty) }
        }
        // What is committed is told again, and what never came before is refused.
        #expect(service.send(start(1)).contains(#""ok":true"#))
        #expect(service.send(start(4)).contains("diskFull"))
        let other = start(2).replacing(#""type":"T""#, with: #""type":"U""#)
        #expect(service.send(other).contains("requestReused"))
        let first = service.tell(.committed(through: 2, microseconds: 1))
        #expect(first.count == 2 && first.allSatisfy { $0.contains(#""req":"r2","ok":true"#) }, "\(first)")
        #expect(service.partition.isDiskFull)
        let second = service.tell(.committed(through: 3, microseconds: 1))
        #expect(second.count == 2 && second.allSatisfy { $0.contains(#""req":"r3","ok":true"#) }, "\(second)")
        #expect(service.send(start(3)).contains(#""ok":true"#))
    }

    /// However long it is full. Clients send again until they are answered, and once more if the answer is lost.
    @Test(arguments: [false, true]) func whatIsHeldBackForMoreThanTenMinutesIsNotExecutedTwice(isFull: Bool) throws {
        let service = try PartitionService(clock: .system)
        #expect(service.send(start(1)).contains(#""ok":true"#))
        service.holdsCommits = true
        service.turn { $0.take(start(2)) }
        service.turn { $0.take(start(3)) }
        if isFull { #expect(service.tell(.isFull(free: 0)).isEmpty) }
        for _ in 0..<3 {
            service.pass(milliseconds: 400_000)
            for number in 2...3 { #expect(service.answers { $0.take(start(number), from: "again") }.isEmpty) }
        }
        _ = service.tell(.committed(through: 2, microseconds: 1))
        _ = service.tell(.committed(through: 3, microseconds: 1))
        if isFull { _ = service.tell(.hasRoom) }
        service.holdsCommits = false
        for _ in 0..<4 { service.turn { _ in } }
        _ = service.takeAnswers()
        let batch = service.journal.state.lastBatch
        // The process that starts after a kill begins where the clock was.
        let next = try PartitionService(service.journal.state, clock: .system)
        service.work(milliseconds: 590_000)
        for number in 2...3 {
            let answer = service.send(start(number))
            #expect(answer.contains(#""ok":true"#) && next.send(start(number)) == answer)
        }
        #expect(service.journal.state.lastBatch == batch)
        service.pass(milliseconds: 20_000)
        service.turn { _ in }
        // Their numbers are known to be forgotten.
        for number in 2...3 { #expect(service.send(start(number)).contains("outcomeUnknown")) }
    }

    /// It has taken effect: it waits for its batch, as the answer to a change does.
    /// The chunk shows nothing that is not committed, and waits all the same: it leaves with the change made after it.
    @Test func aPullEndsBehindItsChunkThatTheFullDiskHoldsBack() throws {
        let service = try PartitionService(clock: .system)
        for number in 0..<3 {
            let many = (0..<100).map {
                #"{"op":"activity.start","req":"\#(number).\#($0)","app":"com.x","type":"T","attributes":{},"contentState":{}}"#
            }
            service.turn { $0.take(many) }
        }
        service.holdsCommits = true
        service.turn { $0.take(start(1)) }
        let first = service.journal.state.lastBatch
        // Its rows fill more than one chunk, and it has credit for one.
        service.turn { $0.takeBulk(#"{"op":"bulk.snapshot","req":"s","app":"com.x","credit":1}"#) }
        service.turn { $0.take(start(2)) }
        service.turn {
            $0.take(.committed(through: first, microseconds: 1))
            $0.take(.isFull(free: 0))
        }
        #expect(service.takeChunks().isEmpty, "its end comes before its first chunk")
        service.holdsCommits = false
        service.turn { $0.take(.hasRoom) }
        for _ in 0..<3 { service.turn { _ in } }
        let headers = service.takeChunks().map { $0.frames[0] }
        #expect(headers.count == 2)
        #expect(headers.first?.contains(#""chunk":0,"rows":256"#) == true)
        #expect(headers.last?.contains(#""end":true"#) == true && headers.last?.contains("diskFull") == true)
    }

    @Test func aRegistrationIsNotRefusedWhereTheDiskBecomesFullMeanwhile() throws {
        let service = try PartitionService(clock: .system)
        service.holdsCommits = true
        service.turn {
            $0.take(
                #"{"op":"provider.register","req":"p","app":"com.x","provider":"0198c0de-0000-4000-8000-000000000001","#
                    + #""kinds":[{"kind":"K","template":"button"}]}"#, from: "provider")
        }
        let batch = service.journal.state.lastBatch
        #expect(batch > 0)
        #expect(service.tell(.isFull(free: 0)).isEmpty)
        let answers = service.tell(.committed(through: batch, microseconds: 1))
        #expect(answers.count == 1 && answers[0].contains(#""ok":true"#), "\(answers)")
    }

    /// What is kept for a time would stay for ever, and with it the full disk.
    @Test func timeOfAnotherSpeedGoesOnWhileTheDiskIsFull() throws {
        let service = try PartitionService(clock: .speed(from: Instant(1_800_000_000_000), factor: 60))
        service.turn { _ in }
        _ = service.tell(.isFull(free: 0))
        let begun = service.partition.now.domain
        for _ in 0..<60 { service.sweep() }
        #expect(service.partition.now.domain - begun >= 3_000_000)
        // Each lease is a batch, which takes room.
        #expect(service.journal.state.lastBatch <= 12)
    }
}
