import IsletJournal
import IsletServer
import Testing

/// The next connection of a name is another process: it gets no answer to what the one before has sent.
@Suite struct EndedConnectionTests {
    private let worker: Set<Peer> = [Peer(destination: .commands, routingID: Array("worker".utf8))]

    private func start(_ number: Int) -> String {
        #"{"op":"activity.start","req":"r\#(number)","client":"8c7a1c38-6a5e-4f0f-9a43-0d2f6f1d2c11","app":"com.x","#
            + #""type":"T","key":"k\#(number)","attributes":{},"contentState":{}}"#
    }

    private func get(_ number: Int) -> String {
        #"{"op":"activity.get","req":"g\#(number)","app":"com.x","key":"k\#(number)"}"#
    }

    private func committed(_ service: PartitionService) -> [String] {
        service.tell(.committed(through: service.journal.state.lastBatch, microseconds: 1))
    }

    @Test func whatWaitsForItsCommitGoesToNobodyAndWhatTheNextOneSentIsAnswered() throws {
        let service = try PartitionService(clock: .system)
        service.holdsCommits = true
        // One batch is in the air and the next is being filled: both are of the former and of others.
        service.turn { partition in
            partition.take(start(1), from: "worker")
            partition.take(start(2), from: "other")
        }
        service.turn { partition in
            partition.take(start(3), from: "worker")
            partition.take(get(2), from: "other")
            partition.take(get(3), from: "worker")
            partition.endAnswers(to: worker)
            partition.take(start(4), from: "worker")
            partition.take(get(1), from: "worker")
        }
        let first = committed(service)
        #expect(first.count == 1 && first[0].contains(#""req":"r2""#), "\(first)")
        let second = committed(service)
        #expect(second.count == 3, "\(second)")
        for (answer, req) in zip(second, ["g2", "r4", "g1"]) {
            #expect(answer.contains(#""req":"\#(req)","ok":true"#), "\(answer)")
        }
        // It was done all the same.
        service.holdsCommits = false
        #expect(service.send(get(3)).contains(#""ok":true"#))
    }

    @Test func whatWasCommittedAndHasNotLeftGoesToNobody() throws {
        let service = try PartitionService(clock: .system)
        service.holdsCommits = true
        service.turn { $0.take(start(1), from: "worker") }
        let answers = service.answers { partition in
            partition.take(.committed(through: service.journal.state.lastBatch, microseconds: 1))
            partition.endAnswers(to: worker)
            partition.take(start(2), from: "worker")
        }
        #expect(answers.isEmpty)
        #expect(committed(service).count == 1)
    }

    /// Reads that wait are refused as the disk becomes full, each to whom it is for.
    @Test func readsOfOthersAreStillKnownAsReads() throws {
        let service = try PartitionService(clock: .system)
        #expect(service.send(start(1)).contains(#""ok":true"#))
        service.holdsCommits = true
        service.turn { partition in
            partition.take(start(2), from: "worker")
            partition.take(get(1), from: "worker")
            partition.take(get(1), from: "other")
            partition.take(start(3), from: "other")
            partition.endAnswers(to: worker)
        }
        let refused = service.tell(.isFull(free: 0))
        #expect(refused.count == 1 && refused[0].contains(#""req":"g1""#) && refused[0].contains("diskFull"), "\(refused)")
        let answers = committed(service)
        #expect(answers.count == 1 && answers[0].contains(#""req":"r3","ok":true"#), "\(answers)")
    }

    /// A client that connects anew and sends its command again is no stranger.
    @Test func whoeverSendsAgainWhileTheDiskIsFullIsAnsweredThoughTheFormerConnectionHasEnded() throws {
        let service = try PartitionService(clock: .system)
        service.holdsCommits = true
        service.turn { $0.take(start(1), from: "other") }
        service.turn { $0.take(start(2), from: "worker") }
        #expect(service.tell(.isFull(free: 0)).isEmpty)
        for _ in 0..<3 {
            #expect(service.answers { $0.take(start(2), from: "worker") }.isEmpty)
            service.turn { $0.endAnswers(to: worker) }
        }
        #expect(service.answers { $0.take(start(2), from: "worker") }.isEmpty)
        #expect(committed(service).count == 1)
        let answers = committed(service)
        #expect(answers.count == 1 && answers[0].contains(#""req":"r2","ok":true"#), "\(answers)")
    }

    @Test func whatWaitsForTheClockIsExecutedAndAnsweredToNobody() throws {
        let service = try PartitionService()
        service.turn { partition in
            partition.take(#"{"op":"clock.advance","req":"c","by":1000}"#, from: "worker")
            partition.take(start(1), from: "worker")
            partition.endAnswers(to: worker)
            partition.take(start(2), from: "worker")
        }
        for _ in 0..<20 { service.turn { _ in } }
        let answers = service.takeAnswers()
        #expect(answers.count == 1 && answers[0].contains(#""req":"r2","ok":true"#), "\(answers)")
        #expect(service.send(get(1)).contains(#""ok":true"#))
    }

    @Test func aReadThatWaitsIsAnsweredToNobody() throws {
        let service = try PartitionService(clock: .system)
        let read = #"{"op":"activity.get","req":"p","app":"com.x","key":"k1","minSeq":1}"#
        #expect(service.answers { $0.take(read, from: "worker") }.isEmpty)
        service.turn { $0.endAnswers(to: worker) }
        let answers = service.answers { $0.take(start(1), from: "worker") }
        #expect(answers.count == 1 && answers[0].contains(#""req":"r1""#), "\(answers)")
        service.turn { _ in }
        #expect(service.takeAnswers().isEmpty)
    }
}
