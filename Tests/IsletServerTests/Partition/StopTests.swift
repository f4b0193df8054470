import IsletJournal
import IsletServer
import Testing

/// How long a stop waits for what may never be there.
@Suite struct StopTests {
    private func start(_ number: Int) -> String {
        #"{"op":"activity.start","req":"r\#(number)","app":"com.x","type":"T","attributes":{},"contentState":{}}"#
    }

    @Test func aCommitThatDoesNotComeIsGivenUp() throws {
        let service = try PartitionService()
        service.holdsCommits = true
        service.turn { $0.take(start(1)) }
        service.turn { $0.take(start(2)) }
        service.partition.stop()
        service.turn { _ in }
        #expect(!service.partition.isDone)
        service.pass(milliseconds: 5_001)
        // The first may be written still, and nobody knows.
        let answers = service.tell(.swept)
        #expect(answers.count == 1 && answers.allSatisfy { $0.contains(#""req":"r2""#) && $0.contains("stopping") })
        #expect(service.partition.isDone && service.journal.state.lastBatch == 1)
    }

    /// Clients send again by themselves: that it was not executed would be wrong.
    @Test func aCommandThatCameAgainIsNotRefusedWhereACommitDoesNotCome() throws {
        func named(_ number: Int) -> String {
            start(number).replacing(#""op""#, with: #""client":"00000000-0000-4000-8000-000000000001","op""#)
        }
        let service = try PartitionService(clock: .system)
        #expect(service.send(named(1)).contains(#""ok":true"#))
        service.holdsCommits = true
        service.turn { $0.take(named(2)) }
        for number in 1...3 { service.turn { $0.take(named(number), from: "again") } }
        service.turn { $0.take(named(3), from: "once more") }
        service.partition.stop()
        service.pass(milliseconds: 5_001)
        service.turn { _ in }
        // The third is in no batch that was handed over: it is not going to happen, whoever asks.
        let answers = service.tell(.swept)
        #expect(answers.count == 2 && answers.allSatisfy { $0.contains(#""req":"r3""#) && $0.contains("stopping") })
        #expect(service.partition.isDone)
    }

    /// Its answer left with nothing for as long as another one of its message was missing.
    @Test func aChangeThatWaitedBesideAReadIsNotRefusedWhereACommitDoesNotCome() throws {
        let service = try PartitionService(clock: .system)
        let read = #"{"op":"activity.list","req":"g","app":"com.x","minSeq":50}"#
        service.turn { $0.take([start(1), read]) }
        service.turn { _ in }
        service.holdsCommits = true
        service.turn { $0.take(start(2)) }
        service.turn { $0.take(start(3)) }
        service.partition.stop()
        service.pass(milliseconds: 5_001)
        service.turn { _ in }
        let answers = service.tell(.swept)
        #expect(answers.count == 1 && answers.allSatisfy { $0.contains(#""req":"r3""#) && $0.contains("stopping") })
        #expect(service.partition.isDone)
    }

    @Test(arguments: [5_000, nil] as [Int64?]) func aSnapshotIsWaitedForAsLongAsTheOwnerWants(patience: Int64?) throws {
        let service = try PartitionService()
        #expect(service.send(start(1)).contains(#""ok":true"#))
        service.partition.patienceAtStop = patience
        service.partition.stop()
        service.turn { _ in }
        service.pass(milliseconds: 60_000)
        service.turn { _ in }
        #expect(service.partition.isDone == (patience != nil))
        for _ in 0..<10 { service.sweep() }
        #expect(service.partition.isDone)
    }
}
