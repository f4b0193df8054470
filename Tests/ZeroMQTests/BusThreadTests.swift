import Testing
import ZeroMQ

@Suite struct BusThreadTests {
    @Test(.timeLimit(.minutes(1)))
    func `the documented echo answers a dealer over tcp`() async throws {
        let context = try ZeroMQContext()
        let thread = try BusThread(name: "echo")
        let echo = try await thread.host { thread throws(ZeroMQError) in try Echo(on: thread, context: context) }
        let dealer = try Socket(.dealer, in: context)
        try dealer.connect(echo.endpoint)
        #expect(try dealer.send(copying: "hello") == .sent)
        var answer = Message()
        #expect(try dealer.receive(into: &answer, dontWait: false))
        #expect(answer.bytes == Array("hello".utf8))
        dealer.close()
        await thread.stop()
    }
}
