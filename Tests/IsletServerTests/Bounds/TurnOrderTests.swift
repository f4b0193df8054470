import IsletServer
import Testing

@Suite("The order of a turn")
struct TurnOrderTests {
    private var order = TurnOrder()

    /// A turn in which nobody but who comes first gets anything.
    private mutating func crowdedTurn() -> TurnOrder.Party {
        let first = order.first
        if first == .resting { order.resting(mayGoOn: true) }
        order.ingest(mayBeTaken: first == .ingest)
        order.resting(mayGoOn: false)
        order.end()
        return first
    }

    @Test("goes round where each uses up its turn") mutating func rounds() {
        var firsts: [TurnOrder.Party] = []
        for _ in 0..<7 { firsts.append(crowdedTurn()) }
        #expect(firsts == [.commands, .resting, .ingest, .commands, .resting, .ingest, .commands])
    }

    @Test("begins with new commands where all got something") mutating func noneLeftOut() {
        for _ in 0..<3 {
            order.ingest(mayBeTaken: true)
            order.ingest(mayBeTaken: false)
            order.resting(mayGoOn: true)
            order.end()
            #expect(order.first == .commands)
        }
    }

    @Test("waits for whom a whole turn had nothing", arguments: [TurnOrder.Party.resting, .ingest])
    mutating func waits(party: TurnOrder.Party) {
        for _ in 0..<3 {
            switch party {
            case .commands: Issue.record("new commands come first without being asked")
            case .resting: order.resting(mayGoOn: false)
            case .ingest: order.ingest(mayBeTaken: false)
            }
            order.end()
            #expect(order.first == party)
        }
        order.resting(mayGoOn: true)
        order.ingest(mayBeTaken: true)
        order.end()
        #expect(order.first == .commands)
    }
}
