import Testing
import ZeroMQ

@Suite struct RandomSeedTests {
    /// A ROUTER's first automatic routing id is a zero byte and `rand()`, which without a seed is 6b8b4567 everywhere;
    /// a peer that claims the next id in advance would abort the process.
    @Test func `two processes draw different automatic routing ids`() async throws {
        let first = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { try printFirstRoutingID() }
        let second = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { try printFirstRoutingID() }
        let ids = [first, second].map { result in
            String(decoding: result.standardOutputContent, as: UTF8.self)
                .split(whereSeparator: \.isNewline).first { $0.hasPrefix("routing id ") }
        }
        #expect(try #require(ids[0]) != #require(ids[1]))
        #expect(!ids.contains("routing id 006b8b4567"))
    }
}

/// Prints the first routing id that this process makes, in hex.
private func printFirstRoutingID() throws {
    let context = try ZeroMQContext()
    let router = try makeSocket(.router, context)
    try router.bind("inproc://first")
    let dealer = try makeSocket(.dealer, context)
    try dealer.connect("inproc://first")
    try dealer.sendMessage([utf8("x")])
    let id = try router.receiveMessage()[0]
    let digits = Array("0123456789abcdef")
    print("routing id " + String(id.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }))
}
