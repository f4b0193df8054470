import IsletServer
import Testing
import ZeroMQ

@Suite("Inbound messages")
struct InboundMessagesTests {
    private let context: ZeroMQContext

    init() throws { context = try ZeroMQContext() }

    /// A router and a dealer that are connected.
    private struct Wire: ~Copyable {
        let router: Socket
        let dealer: Socket
    }

    /// A wire with the dealer's messages waiting at the router.
    private func wire(withWaiting messages: [[[UInt8]]]) throws -> Wire {
        let router = try Socket(.router, in: context)
        try router.bind("inproc://inbound")
        let dealer = try Socket(.dealer, in: context)
        try dealer.connect("inproc://inbound")
        for message in messages {
            for (index, frame) in message.enumerated() {
                let more = index + 1 < message.count
                try #require(try dealer.send(copying: frame, more: more) == .sent)
            }
        }
        return Wire(router: router, dealer: dealer)
    }

    private func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("become the present one after the other, each with its own frames") func order() throws {
        let messages = [
            [[], text("one"), text("two")], [[0, 0, 0, 1], [], text("three")], [text("bare")], [[]], [[], text("last")],
        ]
        let wire = try wire(withWaiting: messages)
        var inbound = InboundMessages()
        var message = Message()
        let received = inbound.receive(100, from: wire.router, into: &message, isRouted: true)
        #expect(received == 5)
        var commands: [[String]] = []
        var routes: [Int] = []
        while inbound.next() {
            commands.append(inbound.commands.map { String(decoding: inbound.frame($0), as: UTF8.self) })
            routes.append(inbound.routeCount)
        }
        #expect(commands == [["one", "two"], ["three"], ["bare"], [], ["last"]])
        #expect(routes == [2, 3, 1, 2, 2])
        let more = inbound.receive(100, from: wire.router, into: &message, isRouted: true)
        #expect(more == 0)
        let isLeft = inbound.next()
        #expect(!isLeft)
    }

    @Test("are as many as asked for, and the others wait") func limit() throws {
        let wire = try wire(withWaiting: (0..<100).map { [[], text("\($0)")] })
        var inbound = InboundMessages()
        var message = Message()
        let received = inbound.receive(3, from: wire.router, into: &message, isRouted: true)
        #expect(received == 3)
        // The rest of what is here is given up by the next call, which only its owner's bug could make.
        let isThere = inbound.next()
        let first = inbound.frame(2)
        #expect(isThere)
        #expect(first == text("0"))
        var all: [String] = []
        while true {
            let count = inbound.receive(100, from: wire.router, into: &message, isRouted: true)
            guard count > 0 else { break }
            #expect(count <= InboundMessages.messagesAtOnce)
            while inbound.next() { all.append(String(decoding: inbound.frame(2), as: UTF8.self)) }
        }
        #expect(all == (3..<100).map { "\($0)" })
    }

    @Test("end where their bytes or frames are enough") func bounds() throws {
        let large = [UInt8](repeating: 7, count: 60_000)
        let wire = try wire(
            withWaiting: (0..<6).map { _ in [[], large] } + (0..<4).map { _ in [[]] + (0..<100).map { _ in [1] } })
        var inbound = InboundMessages()
        var message = Message()
        var counts: [Int] = []
        while true {
            let count = inbound.receive(100, from: wire.router, into: &message, isRouted: true)
            guard count > 0 else { break }
            counts.append(count)
        }
        // 128 KiB are reached with the third; then three large ones, again; then two of 102 frames each time.
        #expect(counts == [3, 3, 2, 2])
    }

    @Test("with too many commands, or one that is too long, do not hurt the next") func tooMuch() throws {
        let messages = [
            [[]] + (0..<300).map { _ in text("x") }, [[], [UInt8](repeating: 1, count: 70_000)], [[], text("fine")],
        ]
        let wire = try wire(withWaiting: messages)
        var inbound = InboundMessages()
        var message = Message()
        var seen: [(many: Bool, long: Bool, first: String)] = []
        while inbound.receive(100, from: wire.router, into: &message, isRouted: true) > 0 {
            while inbound.next() {
                let index = inbound.commands.lowerBound
                seen.append(
                    (inbound.hasTooManyFrames, inbound[index].isTooLong, String(decoding: inbound.frame(index), as: UTF8.self)))
            }
        }
        #expect(seen.map(\.many) == [true, false, false])
        #expect(seen.map(\.long) == [false, true, false])
        #expect(seen.map(\.first) == ["x", String(repeating: "\u{1}", count: 1_024), "fine"])
    }

    @Test("of far too many frames are refused once, and passed over by and by", arguments: [-1, 0, 1, 3])
    func farTooMuch(beyond: Int) throws {
        let atOnce = InboundMessages.framesOfMessageAtOnce + 2 * InboundMessages.framesPassedOverAtOnce
        // With the routing id, so many frames more than three calls receive.
        let wire = try wire(withWaiting: [(0..<atOnce + beyond - 1).map { _ in text("x") }, [[], text("fine")]])
        var inbound = InboundMessages()
        var message = Message()
        var received: [Int] = []
        var seen: [String] = []
        while seen.last != "fine", received.count < 10 {
            received.append(inbound.receive(1, from: wire.router, into: &message, isRouted: true))
            while inbound.next() {
                seen.append(inbound.hasTooManyFrames ? "too many" : String(decoding: inbound.frame(2), as: UTF8.self))
            }
        }
        #expect(seen == ["too many", "fine"])
        // Whose end a call reaches goes on with the next message.
        #expect(received == (beyond > 0 ? [1, 0, 0, 1] : [1, 0, 1]))
    }
}
