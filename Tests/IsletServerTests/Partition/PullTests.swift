import IsletCore
import IsletJournal
import IsletProtocol
import IsletServer
import Testing

/// Pulls of many clients: in whose turn they go on, and when they end by themselves.
@Suite struct PullTests {
    private let peers = ["p1", "p2", "p3", "p4"]

    /// Of an app with four chunks, each of some sixty activities.
    private func filled(_ service: PartitionService) {
        let text = String(repeating: "x", count: 3_000)
        for number in 0..<240 {
            let answer = service.send(
                #"{"op":"activity.start","req":"r\#(number)","app":"com.x","type":"T","attributes":{"a":"\#(text)"},"#
                    + #""contentState":{}}"#)
            #expect(answer.contains(#""ok":true"#))
        }
    }

    @Test func aMessageOfManyBytesGoesOnInTurns() throws {
        let service = try PartitionService()
        let digest = #"{"op":"bulk.digest","req":"d","app":"com.x"}"#
        let long = digest + String(repeating: " ", count: 60_000)
        service.turn { partition in
            partition.takeBulk(Array(repeating: long, count: 255) + [#"{"op":"service.ping","req":"last"}"#])
            #expect(!partition.takesBulk)
        }
        var answers = service.takeChunks()
        var turns = 1
        while answers.isEmpty, turns < 100 {
            let isBusy = service.turn { #expect(!$0.takesBulk || turns == 14) }
            answers = service.takeChunks()
            #expect(isBusy || !answers.isEmpty)
            turns += 1
        }
        // 18 of them have more than 1 MiB.
        #expect(turns == 15)
        #expect(answers.count == 1 && answers.first?.frames.count == 256)
        let digests = answers.first?.frames.dropLast() ?? []
        #expect(digests.allSatisfy { $0.contains(#""req":"d""#) && $0.contains(#""ok":true"#) })
        #expect(answers.first?.frames.last?.contains("wrongEndpoint") == true)
        service.turn { #expect($0.takesBulk) }
    }

    @Test func whatIsLeftOfAMessageEndsWithItsClientAndIsRefusedByAStop() throws {
        let service = try PartitionService()
        let many = (0..<200).map { #"{"op":"bulk.digest","req":"\#($0)","app":"com.x"}"# }
        service.turn { $0.takeBulk(many, from: "gone") }
        service.partition.clientIsGone(Peer(destination: .bulk, routingID: Array("gone".utf8)))
        service.turn { #expect($0.takesBulk) }
        #expect(service.takeChunks().isEmpty)
        service.turn { $0.takeBulk(many, from: "stays") }
        service.partition.stop()
        for _ in 0..<3 { service.turn { _ in } }
        let answers = service.takeChunks().filter { $0.peer == "stays" }
        #expect(answers.count == 1 && answers.first?.frames.count == 200)
        #expect(answers.first?.frames.last?.contains("stopping") == true)
    }

    @Test func noPullGetsAheadOfTheOthers() throws {
        let service = try PartitionService()
        filled(service)
        service.turn { partition in
            for peer in peers {
                for number in 1...4 {
                    partition.takeBulk(
                        #"{"op":"bulk.snapshot","req":"\#(number)","app":"com.x","credit":16}"#, from: peer)
                }
            }
        }
        var counts: [String: Int] = [:]
        var ended = 0
        for _ in 0..<100 where ended < 16 {
            for (peer, frames) in service.takeChunks() {
                let header = frames.first ?? ""
                #expect(!header.contains("error"))
                counts["\(peer) \(header.prefix { $0 != "," })", default: 0] += 1
                if header.contains(#""end":true"#) { ended += 1 }
            }
            let most = counts.values.max() ?? 0
            let fewest = counts.count < 16 ? 0 : counts.values.min() ?? 0
            #expect(most - fewest <= 1, "some wait behind the same ones again and again: \(counts)")
            service.turn { _ in }
        }
        #expect(ended == 16 && counts.values.allSatisfy { $0 > 2 })
    }

    /// Files have more, and nothing of it is shown.
    @Test func aHistoryOfWhichMemoryHasAllThatIsShownReadsNoFiles() throws {
        let service = try PartitionService()
        let name = #""app":"com.x","id":"0198c0de-0000-7000-8000-000000000001""#
        service.send(#"{"op":"activity.start","req":"s",\#(name),"type":"T","attributes":{},"contentState":{"n":0}}"#)
        for number in 1...1_000 {
            service.send(#"{"op":"activity.update","req":"u\#(number)",\#(name),"contentState":{"n":\#(number)}}"#)
        }
        let answer = service.send(#"{"op":"activity.history","req":"h",\#(name)}"#)
        #expect(answer.contains(#""complete":false,"sinceRevision":2"#), "\(answer.suffix(200))")
        #expect(service.journal.reads.isEmpty)
    }

    @Test func aReplayThatWaitsForAFreeReadIsNoWork() throws {
        let service = try PartitionService(oneStored())
        let places = JournalRead.maximumInFlight / 2
        service.turn { partition in
            for number in 0..<places {
                partition.takeBulk(
                    #"{"op":"bulk.replay","req":"b\#(number)","app":"com.x","from":0,"credit":4}"#, from: peers[number / 4])
            }
        }
        for _ in 0..<3 { service.turn { _ in } }
        #expect(service.journal.reads.count == places)
        service.turn { $0.takeBulk(#"{"op":"bulk.replay","req":"b","app":"com.x","from":0,"credit":4}"#, from: "p3") }
        for _ in 0..<3 {
            let isBusy = service.turn { _ in }
            #expect(!isBusy, "turns come one after another, and nothing happens in them")
        }
        // Once one of the others is through, it is its turn.
        let first = try #require(service.journal.reads.first)
        _ = service.tell(.read(JournalReadResult(id: first.id, outcome: .events([]))))
        service.turn { _ in }
        #expect(service.journal.reads.count == places + 1)
        let last = try #require(service.journal.reads.last)
        #expect(last.kind == .stream(after: 0))
        _ = service.tell(.read(JournalReadResult(id: last.id, outcome: .events([stored]))))
        service.turn { _ in }
        let chunks = service.takeChunks().filter { $0.peer == "p3" }.map { $0.frames[0] }
        #expect(chunks.count == 1 && chunks[0].contains(#""end":true"#), "\(chunks)")
    }

    /// Its rows were sent: they are not sent a second time for the sake of its end.
    @Test func aFilteredSnapshotWaitsForTheDigestsOfOthersToEnd() throws {
        let service = try PartitionService()
        let start = #"{"op":"activity.start","app":"com.x","type":"T","attributes":{},"contentState":{},"ack":"none"}"#
        // More than a turn looks at.
        for _ in 0..<68 { service.turn { $0.take(Array(repeating: start, count: 250)) } }
        service.turn {
            $0.takeBulk(
                #"{"op":"bulk.snapshot","req":"b","app":"com.x","prefix":"com.x/activity/U/","credit":4}"#, from: "p1")
        }
        service.turn { partition in
            for number in 0..<Engine.maximumDigestScans {
                partition.takeBulk(
                    #"{"op":"bulk.digest","req":"d\#(number)","app":"com.x","prefix":"com.x/activity/T/"}"#,
                    from: peers[number % 2 + 1])
            }
        }
        var headers: [String] = []
        var isBusy = true
        while isBusy { isBusy = service.turn { _ in } }
        for (_, frames) in service.takeChunks() { headers.append(frames[0]) }
        #expect(headers.count == Engine.maximumDigestScans + 1 && headers.allSatisfy { !$0.contains("error") }, "\(headers)")
        #expect(headers.contains { $0.contains(#""req":"b""#) && $0.contains(#""entities":0"#) })
    }

    private let id = "0198c0de-0000-7000-8000-000000000001"

    /// What a process leaves behind whose one event stands in files alone for the next.
    private func oneStored() throws -> KeptJournal.State {
        let before = try PartitionService()
        before.send(
            #"{"op":"activity.start","req":"s","app":"com.x","id":"\#(id)","type":"T","attributes":{},"contentState":{}}"#)
        return before.journal.state
    }

    /// That event.
    private var stored: StoredEvent {
        StoredEvent(seq: 1, previous: 0, topic: Array("com.x/activity/T/\(id)".utf8), json: Array("{}".utf8), image: [])
    }

    @Test func manyHistoriesOfOnePeerKeepNobodyElseWaiting() throws {
        let service = try PartitionService(oneStored())
        service.turn { partition in
            for number in 0..<200 {
                partition.take(#"{"op":"activity.history","req":"h\#(number)","app":"com.x","id":"\#(id)"}"#, from: "p1")
            }
        }
        for _ in 0..<3 { service.turn { _ in } }
        let begun = service.journal.reads.count
        service.turn { partition in
            partition.take(#"{"op":"activity.history","req":"h","app":"com.x","id":"\#(id)"}"#, from: "p2")
            partition.takeBulk(#"{"op":"bulk.replay","req":"b","app":"com.x","from":0,"credit":4}"#, from: "p3")
        }
        let isBusy = service.turn { _ in }
        #expect(!isBusy)
        #expect(service.journal.reads[begun...].map(\.kind) == [.chain(last: 1), .stream(after: 0)])
    }

    @Test func historiesOfManyPeersAreReadInTurns() throws {
        let service = try PartitionService(oneStored())
        let peers = (1...8).map { "p\($0)" }
        service.turn { partition in
            for peer in peers {
                for number in 1...5 {
                    partition.take(
                        #"{"op":"activity.history","req":"\#(peer)-\#(number)","app":"com.x","id":"\#(id)"}"#, from: peer)
                }
            }
        }
        service.turn { _ in }
        var answers: [String] = []
        for number in 0..<40 {
            guard number < service.journal.reads.count else { break }
            let read = service.journal.reads[number]
            answers += service.tell(.read(JournalReadResult(id: read.id, outcome: .events([stored]))))
            answers += service.answers { _ in }
        }
        #expect(answers.count == 40 && answers.allSatisfy { $0.contains(#""ok":true"#) })
        // Two each of the first four have begun; then it is the turn of the other four.
        let early = answers.prefix(12)
        for peer in peers {
            #expect(early.contains { $0.contains("\"\(peer)-") }, "\(peer) waits for all histories of the others")
        }
    }

    /// All places are taken: by pulls that go on by themselves, or by some that wait for their clients.
    @Test(arguments: [(16, 100), (1, 1_000)]) func whoFindsNoPlaceAsksAgainSoonWhereNoPullWaitsForItsClient(
        credit: Int, retryAfter: Int
    ) throws {
        let service = try PartitionService()
        filled(service)
        service.turn { partition in
            for number in 0..<16 {
                partition.takeBulk(
                    #"{"op":"bulk.snapshot","req":"\#(number)","app":"com.x","credit":\#(credit)}"#,
                    from: peers[number / 4])
            }
        }
        for _ in 0..<3 { service.turn { _ in } }
        _ = service.takeChunks()
        service.turn { $0.takeBulk(#"{"op":"bulk.snapshot","req":"one","app":"com.x","credit":1}"#, from: "p5") }
        let refused = service.takeChunks().filter { $0.peer == "p5" }.map { $0.frames[0] }
        #expect(refused.count == 1 && refused[0].contains(#""retryAfter":\#(retryAfter)"#), "\(refused)")
    }

    @Test func aPullWithoutCreditEndsAfterHalfAMinuteAndSaysSo() throws {
        let service = try PartitionService()
        filled(service)
        service.turn { $0.takeBulk(#"{"op":"bulk.snapshot","req":"b","app":"com.x","credit":1}"#) }
        for _ in 0..<3 { service.turn { _ in } }
        #expect(service.takeChunks().count == 1)
        service.pass(milliseconds: 29_000)
        for _ in 0..<3 { service.turn { _ in } }
        #expect(service.takeChunks().isEmpty)
        service.pass(milliseconds: 1_000)
        for _ in 0..<3 { service.turn { _ in } }
        let told = service.takeChunks().map { $0.frames[0] }
        #expect(told.count == 1 && told[0].contains(#""code":"busy""#) && told[0].contains(#""req":"b""#), "\(told)")
        // Credit that was on its way is no mistake, and its name may be used again.
        service.turn { $0.takeBulk(#"{"op":"bulk.credit","req":"b","credit":1}"#) }
        for _ in 0..<3 { service.turn { _ in } }
        #expect(service.takeChunks().isEmpty)
        service.turn { $0.takeBulk(#"{"op":"bulk.snapshot","req":"b","app":"com.x","credit":16}"#) }
        for _ in 0..<12 { service.turn { _ in } }
        #expect(service.takeChunks().last?.frames[0].contains(#""end":true"#) == true)
    }
}
