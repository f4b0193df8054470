import IsletClient
import Testing

/// Where a stream is to be read from, for it to begin at a date.
@Suite struct PastSearchTests {
    /// Streams of random dates, of which a chunk has a few rows: the place is the one that looking at each event finds.
    @Test(arguments: 0..<200)
    func `the first event that is not older is found with few questions`(run: Int) throws {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SplitMix(state: seed)
        let count = Int.random(in: 0...2_000, using: &generator)
        var dates: [Int64] = []
        for _ in 0..<count { dates.append((dates.last ?? 1_000) + Int64.random(in: 0...3, using: &generator)) }
        let oldest = UInt64.random(in: 1...UInt64(count + 1), using: &generator)
        let date = Int64.random(in: 990...(dates.last ?? 1_000) + 10, using: &generator)

        var search = PastSearch(date: date, head: UInt64(count))
        var step = search.begin()
        var questions = 0
        while case .ask(let from) = step {
            questions += 1
            try #require(questions < 60, "seed \(seed)")
            step = try search.received(chunk(dates, after: from, oldest: oldest, date))
        }
        guard case .found(let start) = step else { return }
        let kept = (1...UInt64(count + 1)).first { $0 >= oldest && ($0 > UInt64(count) || dates[Int($0) - 1] >= date) }
        #expect(start.seq + 1 == kept, "seed \(seed)")
        // It is said to be cut where the oldest kept event is not older than the date.
        let isCut = oldest > 1 && start.seq + 1 == oldest
        #expect(start.isCut == isCut, "seed \(seed)")
        if isCut, oldest <= count { #expect(start.firstAt == dates[Int(oldest) - 1], "seed \(seed)") }
    }

    @Test func `a refusal ends it, and an answer that is out of order too`() {
        var search = PastSearch(date: 5, head: 10)
        _ = search.begin()
        var refused = BulkChunk(req: "")
        refused.end = .failed(ServiceError(code: .unavailable, message: "no"))
        #expect(throws: IsletError.self) { try search.received(refused) }
        var disordered = chunk([1, 2, 3], after: 0, oldest: 1, 5)
        disordered.rows.swapAt(0, 2)
        #expect(throws: IsletError.self) { try search.received(disordered) }
    }

    private func chunk(_ dates: [Int64], after from: UInt64, oldest: UInt64, _ date: Int64) -> BulkChunk {
        var chunk = BulkChunk(req: "")
        guard from + 1 >= oldest else {
            chunk.end = .failed(ServiceError(code: .tooOld, message: "", detail: ["oldest": .integer(oldest)]))
            return chunk
        }
        for index in dates.indices.dropFirst(Int(from)).prefix(7) {
            let json = #"{"epoch":"e","seq":\#(index + 1),"at":\#(dates[index]),"event":"activity.updated","#
                + #""activity":{"id":"a","revision":1}}"#
            chunk.rows.append(.init(topic: "a/activity/T/a", bytes: Array(json.utf8)))
        }
        if Int(from) + 7 >= dates.count {
            chunk.end = .complete(seq: UInt64(dates.count), entities: nil, digest: nil)
        }
        return chunk
    }
}
