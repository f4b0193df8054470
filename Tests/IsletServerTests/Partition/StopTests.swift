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
