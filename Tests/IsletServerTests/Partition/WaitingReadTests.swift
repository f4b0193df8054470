import IsletJournal
import IsletServer
import Testing

/// Reads with a `minSeq`, and how long they wait.
@Suite struct WaitingReadTests {
    private static let read = #"{"op":"activity.list","app":"com.a","minSeq":9,"ttl":"#
    /// No message is about this journal: it gives the answers that are there.
    private static let news = JournalNotice.hasRoom

    @Test("a read waits as long as its ttl says, and a minute at most", arguments: [300, 1_000_000_000_000] as [Int64])
    func longest(_ ttl: Int64) throws {
        let service = try PartitionService()
        service.turn { $0.take(Self.read + "\(ttl)}") }
        let wait = min(ttl, 60_000)
        service.pass(milliseconds: wait - 100)
        #expect(service.tell(Self.news).isEmpty)
        service.pass(milliseconds: 200)
        let answers = service.tell(Self.news)
        #expect(answers.count == 1 && answers.first?.contains(#""code":"expired""#) == true)
    }
}
