import IsletServer
import Testing

@Suite struct WorkLedgerTests {
    private static let small = WaitingWork.Limits(count: 6, countOfPeer: 3, bytes: 600, bytesOfPeer: 300)
    private var ledger = WorkLedger { _ in Self.small }

    private func peer(_ name: String) -> Peer { Peer(destination: .commands, routingID: Array(name.utf8)) }

    @Test(arguments: WaitingWork.allCases) func onePeerHasItsShareAndNoMore(_ work: WaitingWork) throws {
        var ledger = WorkLedger()
        let (limits, one, other) = (work.limits, peer("one"), peer("other"))
        #expect(ledger.usage(of: work) == WorkLedger.Usage())
        var tickets: [WorkLedger.Ticket?] = []
        for count in 1...limits.countOfPeer {
            tickets.append(try ledger.admit(work, for: one, bytes: 1))
            #expect(ledger.usage(of: work, for: one) == WorkLedger.Usage(count: count, bytes: count))
        }
        #expect(throws: WorkShortage.ofPeer) { try ledger.admit(work, for: one, bytes: 1) }
        #expect(ledger.refusals(of: work) == 1)
        // Another peer has its own.
        tickets.append(try ledger.admit(work, for: other, bytes: 1))
        // One that is given back is free.
        ledger.giveBack(&tickets[0])
        #expect(tickets[0] == nil)
        tickets.append(try ledger.admit(work, for: one, bytes: 1))
        for index in tickets.indices { ledger.giveBack(&tickets[index]) }
        #expect(ledger.usage(of: work) == WorkLedger.Usage())
        #expect(ledger.peerCount == 0)
    }

    @Test(arguments: WaitingWork.allCases) func allTogetherHaveNoMoreThanThereMayBe(_ work: WaitingWork) throws {
        var ledger = WorkLedger()
        let limits = work.limits
        for number in 0..<limits.count {
            _ = try ledger.admit(work, for: peer("\(number / limits.countOfPeer)"), bytes: 0)
        }
        #expect(throws: WorkShortage.inAll) { try ledger.admit(work, for: peer("one more"), bytes: 0) }
        #expect(ledger.usage(of: work).count == limits.count)
        // Of other kinds there is as much as before.
        for other in WaitingWork.allCases where other != work {
            #expect(ledger.shortage(of: other, for: peer("one more"), bytes: 0) == nil)
        }
    }

    @Test(arguments: WaitingWork.allCases) func whatWaitsIsWeighed(_ work: WaitingWork) throws {
        var ledger = WorkLedger()
        let limits = work.limits
        #expect(ledger.shortage(of: work, for: peer("a"), bytes: limits.bytesOfPeer + 1) == .ofPeer)
        var ticket: WorkLedger.Ticket? = try ledger.admit(work, for: peer("a"), bytes: limits.bytesOfPeer)
        #expect(ledger.shortage(of: work, for: peer("a"), bytes: 0) == nil)
        #expect(ledger.shortage(of: work, for: peer("a"), bytes: 1) == .ofPeer)
        ledger.weigh(&ticket, bytes: limits.bytesOfPeer - 1)
        #expect(ledger.shortage(of: work, for: peer("a"), bytes: 1) == nil)
        // What was executed is entered whatever it weighs, and the next is refused.
        var answers: WorkLedger.Ticket? = ledger.enter(work, for: peer("b"), bytes: limits.bytes)
        #expect(ledger.shortage(of: work, for: peer("c"), bytes: 1) == .inAll)
        ledger.giveBack(&answers)
        ledger.giveBack(&ticket)
        #expect(ledger.usage(of: work) == WorkLedger.Usage())
    }

    @Test(arguments: WaitingWork.allCases) func aShareIsNotAll(_ work: WaitingWork) {
        let limits = work.limits
        #expect(0 < limits.countOfPeer && limits.countOfPeer < limits.count)
        #expect(0 < limits.bytesOfPeer && limits.bytesOfPeer < limits.bytes)
    }

    @Test func aPeerThatIsGoneGivesBackWhatIsNotDoneWithoutIt() throws {
        var ledger = self.ledger
        var reads: WorkLedger.Ticket? = try ledger.admit(.reads, for: peer("a"), bytes: 5)
        var message: WorkLedger.Ticket? = try ledger.admit(.messages, for: peer("a"), bytes: 7)
        _ = try ledger.admit(.pulls, for: peer("a"), bytes: 1)
        _ = try ledger.admit(.reads, for: peer("b"), bytes: 2)
        #expect(ledger.peerIsGone(peer("a")) == [.reads, .pulls])
        #expect(ledger.usage(of: .reads) == WorkLedger.Usage(count: 1, bytes: 2))
        #expect(ledger.usage(of: .messages) == WorkLedger.Usage(count: 1, bytes: 7))
        // It comes again: what it had before is not taken from what it has now.
        var again: WorkLedger.Ticket? = try ledger.admit(.reads, for: peer("a"), bytes: 3)
        ledger.weigh(&reads, bytes: 100)
        ledger.giveBack(&reads)
        #expect(ledger.usage(of: .reads, for: peer("a")) == WorkLedger.Usage(count: 1, bytes: 3))
        ledger.giveBack(&again)
        ledger.giveBack(&message)
        #expect(ledger.peerIsGone(peer("a")) == [])
        #expect(ledger.peerIsGone(peer("b")) == [.reads])
        #expect(ledger.peerCount == 0)
        #expect(WaitingWork.allCases.allSatisfy { ledger.usage(of: $0) == WorkLedger.Usage() })
    }

    @Test func aPeerIsUnlocatedUntilItsConnectionIsToldOrItHasNothingMore() throws {
        var ledger = self.ledger
        #expect(!ledger.hasUnlocated && !ledger.isUnlocated(peer("a")))
        var first: WorkLedger.Ticket? = try ledger.admit(.reads, for: peer("a"), bytes: 0)
        _ = try ledger.admit(.lists, for: peer("b"), bytes: 0)
        #expect(ledger.isUnlocated(peer("a")) && ledger.isUnlocated(peer("b")))
        ledger.located(peer("b"))
        #expect(ledger.isUnlocated(peer("a")) && !ledger.isUnlocated(peer("b")))
        ledger.giveBack(&first)
        #expect(!ledger.hasUnlocated)
        _ = try ledger.admit(.lists, for: peer("b"), bytes: 0)
        #expect(!ledger.hasUnlocated)
        _ = ledger.peerIsGone(peer("b"))
        _ = try ledger.admit(.lists, for: peer("b"), bytes: 0)
        #expect(ledger.isUnlocated(peer("b")), "its connection may be another one now")
    }

    /// Admissions, weighings, returns and losses at random, beside a model that keeps a list: never beyond a limit, and
    /// nothing is left at the end.
    @Test(arguments: 1...16) func whateverHappensNothingIsLeft(_ seed: UInt64) throws {
        var (ledger, random) = (self.ledger, SeededGenerator(seed: seed))
        var held: [(ticket: WorkLedger.Ticket?, work: WaitingWork, peer: Peer, bytes: Int)] = []
        for _ in 0..<400 {
            let work = try #require(WaitingWork.allCases.randomElement(using: &random))
            let peer = peer("\(Int.random(in: 0..<5, using: &random))")
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let bytes = Int.random(in: 0...150, using: &random)
                let (own, all) = (held.filter { $0.work == work && $0.peer == peer }, held.filter { $0.work == work })
                let weight = { (tickets: [Int]) in tickets.reduce(bytes, +) }
                let isOfPeer = own.count == 3 || weight(own.map(\.bytes)) > 300
                let isInAll = all.count == 6 || weight(all.map(\.bytes)) > 600
                do throws(WorkShortage) {
                    held.append((try ledger.admit(work, for: peer, bytes: bytes), work, peer, bytes))
                    #expect(!isOfPeer && !isInAll)
                } catch {
                    #expect(error == .ofPeer ? isOfPeer : isInAll)
                }
            case 6..<9:
                guard let index = held.indices.randomElement(using: &random) else { continue }
                if Bool.random(using: &random) {
                    held[index].bytes /= 2
                    ledger.weigh(&held[index].ticket, bytes: held[index].bytes)
                } else {
                    ledger.giveBack(&held[index].ticket)
                    held.remove(at: index)
                }
            default:
                let gone = ledger.peerIsGone(peer)
                #expect(gone == Set(held.filter { $0.peer == peer && !$0.work.outlivesPeer }.map(\.work)))
                for index in held.indices.reversed() where held[index].peer == peer && gone.contains(held[index].work) {
                    var late = held.remove(at: index)
                    if Bool.random(using: &random) { ledger.giveBack(&late.ticket) }
                }
            }
            for work in WaitingWork.allCases {
                let all = held.filter { $0.work == work }
                #expect(ledger.usage(of: work).count == all.count)
                #expect(ledger.usage(of: work).bytes == all.reduce(0) { $0 + $1.bytes })
            }
            #expect(ledger.peerCount == Set(held.map(\.peer)).count)
        }
        for index in held.indices { ledger.giveBack(&held[index].ticket) }
        #expect(ledger.peerCount == 0)
        #expect(WaitingWork.allCases.allSatisfy { ledger.usage(of: $0) == WorkLedger.Usage() })
    }
}
