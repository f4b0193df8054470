import IsletServer
import Testing

/// Reads that wait for a sequence number.
@Suite struct WaitingReadTests {
    /// Whatever `ttl` says: what waits takes a place that others want.
    @Test func noneWaitsForLongerThanAMinute() throws {
        let service = try PartitionService()
        service.turn {
            $0.take(
                #"{"op":"activity.list","req":"r","app":"com.x","minSeq":1000000000,"ttl":1000000000000}"#)
        }
        service.pass(milliseconds: 59_000)
        service.turn { _ in }
        #expect(service.takeAnswers().isEmpty)
        service.pass(milliseconds: 1_000)
        service.turn { _ in }
        let answers = service.takeAnswers()
        #expect(answers.count == 1 && answers[0].contains(#""code":"expired""#), "\(answers)")
    }

    @Test func aShorterTimeThanThatHolds() throws {
        let service = try PartitionService()
        service.turn { $0.take(#"{"op":"activity.list","req":"r","app":"com.x","minSeq":1000000000,"ttl":3000}"#) }
        service.pass(milliseconds: 2_000)
        service.turn { _ in }
        #expect(service.takeAnswers().isEmpty)
        service.pass(milliseconds: 1_000)
        service.turn { _ in }
        #expect(service.takeAnswers().count == 1)
    }
}
