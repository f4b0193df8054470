import IsletCore
import IsletServer
import Testing

@Suite struct ReplayRingTests {
    private func entity(_ number: UInt64) -> EntityID { EntityID(high: 7, low: number) }

    private func json(_ app: AppID, _ seq: UInt64, padding: Int = 0) -> [UInt8] {
        Array("{\"app\":\(app),\"seq\":\(seq)}".utf8) + [UInt8](repeating: 32, count: padding)
    }

    private func append(
        _ ring: inout ReplayRing, app: AppID, seq: UInt64, entity number: UInt64 = 1, revision: UInt32 = 1,
        padding: Int = 0
    ) {
        let topic = Array("app\(app)/activity/order/\(number)".utf8)
        ring.append(
            app: app, seq: seq, previous: seq * 7, entity: entity(number), revision: revision, topic: topic.span,
            json: json(app, seq, padding: padding).span)
    }

    /// Reads everything after `seq`, as often as needed, and checks every byte.
    private func read(_ ring: borrowing ReplayRing, app: AppID, after seq: UInt64, padding: Int = 0) -> [UInt64]? {
        var at = seq
        var result: [UInt64] = []
        while true {
            let replay = ring.forEach(app: app, after: at, maximumRows: 7, maximumBytes: 1 << 20) {
                seq, _, topic, json in
                result.append(seq)
                let isRight = json.withUnsafeBytes { $0.elementsEqual(self.json(app, seq, padding: padding)) }
                let begins = topic.withUnsafeBytes { $0.starts(with: "app\(app)/activity/order/".utf8) }
                #expect(isRight && begins)
            }
            switch replay {
            case .tooOld: return nil
            case .rows(_, let last, let isEnd):
                at = last
                if isEnd { return result }
            }
        }
    }

    @Test func whatWasPublishedComesBackByteForByteAndInOrder() {
        var ring = ReplayRing()
        for seq in 1...UInt64(1_000) {
            append(&ring, app: 0, seq: seq)
            append(&ring, app: 4, seq: seq + 500)
        }
        #expect(read(ring, app: 0, after: 0) == Array(1...1_000))
        #expect(read(ring, app: 0, after: 990) == Array(991...1_000))
        #expect(read(ring, app: 0, after: 1_000) == [])
        #expect(read(ring, app: 4, after: 500) == Array(501...1_500))
        #expect(ring.oldest(0) == 1)
        #expect(ring.oldest(4) == 501)
    }

    @Test func aReplayFromBeforeTheOldestEventIsTooOld() {
        var ring = ReplayRing()
        append(&ring, app: 2, seq: 501)
        #expect(
            ring.forEach(app: 2, after: 499, maximumRows: 9, maximumBytes: 9) { _, _, _, _ in } == .tooOld(oldest: 501))
        #expect(read(ring, app: 2, after: 500) == [501])
    }

    @Test func anAppThatIsNotKnownHasNothingToReplay() {
        let ring = ReplayRing()
        #expect(ring.oldest(3) == nil)
        let replay = ring.forEach(app: 3, after: 9, maximumRows: 1, maximumBytes: 1) { _, _, _, _ in }
        #expect(replay == .rows(0, last: 9, isEnd: true))
    }

    @Test func aRunEndsAtTheMaximumOfRowsOrBytesButGivesOneRowAtLeast() {
        var ring = ReplayRing()
        for seq in 1...UInt64(10) { append(&ring, app: 0, seq: seq, padding: 1_000) }
        var seqs: [UInt64] = []
        let byRows = ring.forEach(app: 0, after: 2, maximumRows: 3, maximumBytes: 1 << 20) { seq, _, _, _ in
            seqs.append(seq)
        }
        #expect(byRows == .rows(3, last: 5, isEnd: false))
        let byBytes = ring.forEach(app: 0, after: 5, maximumRows: 99, maximumBytes: 3_000) { seq, _, _, _ in
            seqs.append(seq)
        }
        #expect(byBytes == .rows(2, last: 7, isEnd: false))
        let least = ring.forEach(app: 0, after: 7, maximumRows: 99, maximumBytes: 1) { seq, _, _, _ in seqs.append(seq)
        }
        #expect(least == .rows(1, last: 8, isEnd: false))
        #expect(seqs == Array(3...8))
    }

    @Test func theBoundHoldsAndTheLoudestAppPays() throws {
        let limits = ReplayRing.Limits(bytes: 4 << 20, bytesPerApp: 4 << 20)
        var ring = ReplayRing(limits: limits)
        for seq in 1...UInt64(5) { append(&ring, app: 1, seq: seq) }
        for seq in 1...UInt64(40_000) {
            append(&ring, app: 0, seq: seq, padding: 200)
            #expect(ring.heldBytes <= limits.bytes)
        }
        #expect(read(ring, app: 1, after: 0) == Array(1...5))
        let known = ring.oldest(0)
        let oldest = try #require(known)
        #expect(oldest > 1)
        #expect(read(ring, app: 0, after: oldest - 1, padding: 200) == Array(oldest...40_000))
        #expect(read(ring, app: 0, after: oldest - 2) == nil)
        // At most an eighth of the memory is not events of some 300 bytes.
        #expect((40_000 - oldest) * 300 > UInt64(limits.bytes) * 4 / 5)
    }

    @Test func oneAppHasABoundOfItsOwn() throws {
        var ring = ReplayRing(limits: ReplayRing.Limits(bytes: 4 << 20, bytesPerApp: 256 << 10))
        for seq in 1...UInt64(10_000) { append(&ring, app: 0, seq: seq, padding: 200) }
        #expect(ring.heldBytes <= 256 << 10)
        let oldest = ring.oldest(0)
        #expect(try #require(oldest) > 1)
    }

    @Test func manySmallAppsShareTheMemory() {
        let limits = ReplayRing.Limits(bytes: 1 << 20, bytesPerApp: 1 << 20)
        var ring = ReplayRing(limits: limits)
        for app in 0..<AppID(1_000) { append(&ring, app: app, seq: 1) }
        #expect(ring.heldBytes <= limits.bytes)
        // Where there is no room for all, the later ones are kept.
        #expect(read(ring, app: 999, after: 0) == [1])
        #expect(ring.oldest(0) == 2)
        #expect(read(ring, app: 0, after: 1) == [])
    }

    @Test func anEventLargerThanAChunkIsKept() {
        var ring = ReplayRing()
        append(&ring, app: 0, seq: 1)
        append(&ring, app: 0, seq: 2, padding: 3 << 20)
        append(&ring, app: 0, seq: 3)
        var counts: [Int] = []
        let replay = ring.forEach(app: 0, after: 0, maximumRows: 9, maximumBytes: 1 << 30) { _, _, _, json in
            counts.append(json.count)
        }
        #expect(replay == .rows(3, last: 3, isEnd: true))
        #expect(counts[1] > 3 << 20)
    }

    @Test func anEventLargerThanTheBoundLeavesAHoleThatIsSaid() {
        var ring = ReplayRing(limits: ReplayRing.Limits(bytes: 64 << 10, bytesPerApp: 64 << 10))
        append(&ring, app: 0, seq: 1)
        append(&ring, app: 0, seq: 2, padding: 128 << 10)
        #expect(ring.oldest(0) == 3)
        #expect(read(ring, app: 0, after: 1) == nil)
        append(&ring, app: 0, seq: 3)
        #expect(read(ring, app: 0, after: 2) == [3])
    }

    @Test func aHistoryHasTheEventsOfOneEntityOldestFirst() {
        var ring = ReplayRing()
        // Three entities in turn, over several chunks.
        for seq in 0..<UInt64(30_000) {
            append(&ring, app: 0, seq: seq + 1, entity: seq % 3, revision: UInt32(seq / 3) + 1)
        }
        var seqs: [UInt64] = []
        var revisions: [UInt32] = []
        var bytes = 0
        let all = ring.history(of: entity(1), app: 0, maximumRows: 20_000, maximumBytes: .max) {
            seq, revision, topic, json in
            seqs.append(seq)
            revisions.append(revision)
            bytes += topic.count + json.count
            let isRight = json.withUnsafeBytes { $0.elementsEqual(self.json(0, seq)) }
            #expect(isRight)
        }
        #expect(all == ReplayRing.History(rows: 10_000, bytes: bytes, sinceRevision: 1, previous: 2 * 7))
        #expect(all?.isComplete == true)
        #expect(seqs == (0..<10_000).map { $0 * 3 + 2 })
        #expect(revisions == Array(1...10_000))

        let newest = ring.history(of: entity(1), app: 0, maximumRows: 1_000, maximumBytes: .max) { _, _, _, _ in }
        #expect(newest?.rows == 1_000 && newest?.sinceRevision == 9_001 && newest?.previous == 27_002 * 7)
        #expect(newest?.isComplete == false)
        var last: UInt64 = 0
        let earlier = ring.history(of: entity(1), app: 0, through: 300, maximumRows: 1_000, maximumBytes: .max) {
            seq, _, _, _ in last = seq
        }
        #expect(earlier?.rows == 100 && earlier?.isComplete == true && last == 299)
        let short = ring.history(of: entity(1), app: 0, maximumRows: 1_000, maximumBytes: 1) { _, _, _, _ in }
        #expect(short?.rows == 1 && short?.sinceRevision == 10_000 && short?.previous == 29_999 * 7)
        #expect(ring.history(of: entity(9), app: 0, maximumRows: 9, maximumBytes: 9) { _, _, _, _ in } == nil)
        #expect(ring.history(of: entity(1), app: 5, maximumRows: 9, maximumBytes: 9) { _, _, _, _ in } == nil)
    }

    @Test func aHistoryWhoseBeginningIsGoneSaysSo() throws {
        var ring = ReplayRing(limits: ReplayRing.Limits(bytes: 64 << 10, bytesPerApp: 64 << 10))
        for seq in 1...UInt64(2_000) { append(&ring, app: 0, seq: seq, revision: UInt32(seq)) }
        let known = ring.oldest(0)
        let oldest = try #require(known)
        let found = ring.history(of: entity(1), app: 0, maximumRows: 9_999, maximumBytes: .max) { _, _, _, _ in }
        let history = try #require(found)
        #expect(UInt64(history.sinceRevision) == oldest)
        #expect(!history.isComplete)
    }

    @Test(arguments: [21, 22, 23] as [UInt64])
    func itAgreesWithAnArray(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limits = ReplayRing.Limits(bytes: 512 << 10, bytesPerApp: 300 << 10)
        var ring = ReplayRing(limits: limits)
        var model: [[(entity: UInt64, revision: UInt32, padding: Int)]] = Array(repeating: [], count: 6)
        var revisions: [EntityID: UInt32] = [:]
        for step in 0..<8_000 {
            let app = AppID.random(in: 0..<6, using: &random) * AppID.random(in: 0...1, using: &random)
            let number = UInt64.random(in: 0..<8, using: &random) * 8 + UInt64(app)
            let revision = (revisions[entity(number)] ?? 0) + 1
            revisions[entity(number)] = revision
            let padding = Int.random(in: 0..<(step % 50 == 0 ? 9_000 : 300), using: &random)
            model[Int(app)].append((number, revision, padding))
            append(
                &ring, app: app, seq: UInt64(model[Int(app)].count), entity: number, revision: revision,
                padding: padding)
            #expect(ring.heldBytes <= limits.bytes)
            guard step % 40 == 0, let oldest = ring.oldest(app) else { continue }

            var seen: [(UInt64, UInt32, Int)] = []
            let from = UInt64.random(in: (oldest - 1)...UInt64(model[Int(app)].count), using: &random)
            let replay = ring.forEach(app: app, after: from, maximumRows: .max, maximumBytes: .max) {
                seq, revision, _, json in
                seen.append((seq, revision, json.count))
            }
            let expected = model[Int(app)].enumerated().dropFirst(Int(from)).map { index, event in
                (UInt64(index) + 1, event.revision, json(app, UInt64(index) + 1).count + event.padding)
            }
            #expect(
                seen.elementsEqual(expected, by: ==)
                    && replay == .rows(expected.count, last: UInt64(model[Int(app)].count), isEnd: true),
                "seed \(seed), step \(step)")

            var history: [UInt32] = []
            let extent = ring.history(of: entity(number), app: app, maximumRows: .max, maximumBytes: .max) {
                _, revision, _, _ in
                history.append(revision)
            }
            let kept = model[Int(app)].enumerated().filter { $0.offset + 1 >= oldest && $0.element.entity == number }
            #expect(
                history == kept.map(\.element.revision) && extent?.sinceRevision == history.first,
                "seed \(seed), step \(step)")
        }
    }
}
