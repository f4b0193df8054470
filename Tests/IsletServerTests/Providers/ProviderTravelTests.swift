import IsletServer
import Testing

/// Providers while the manual clock travels, which may take long.
@Suite struct ProviderTravelTests {
    /// The travel waits for an answer, and others have sent so much meanwhile that no more of it may wait.
    @Test func aProviderThatIsHeardIsNotSilentHoweverMuchWaits() throws {
        let service = try PartitionService()
        let provider = "0198c0de-0000-4000-8000-000000000001"
        service.turn {
            $0.take(
                #"{"op":"provider.register","req":"p","app":"com.x","provider":"\#(provider)","capacity":4,"#
                    + #""kinds":[{"kind":"K","template":"toggle","hasValue":true,"previewValue":false,"#
                    + #""valueDeadline":60000}]}"#, from: "provider")
        }
        service.turn { _ in }
        #expect(service.takeAnswers().joined().contains(#""ok":true"#))
        service.turn { $0.take(#"{"op":"control.add","req":"a","app":"com.x","kind":"K"}"#) }
        for _ in 0..<3 { service.turn { _ in } }
        let asked = service.takeCalls().first { $0.frame.contains(#""op":"control.value""#) }?.frame ?? ""
        let call = try #require(asked.firstMatch(of: /"call":"([^"]+)"/)?.output.1)
        service.turn { $0.take(#"{"op":"clock.advance","req":"c","by":1000}"#) }
        for number in 0..<512 {
            service.turn { partition in
                for peer in ["one", "other"] {
                    partition.take(#"{"op":"service.ping","req":"w\#(number)"}"#, from: peer)
                }
            }
        }
        for _ in 0..<12 {
            service.pass(milliseconds: 4_000)
            service.turn { partition in
                // As the owner does: what is not taken stays with the socket.
                #expect(partition.takesCommands)
                if partition.takesCommands {
                    partition.take(#"{"op":"provider.pong","provider":"\#(provider)","ack":"none"}"#, from: "provider")
                }
            }
        }
        service.turn {
            $0.take(
                #"{"op":"provider.answer","req":"v","provider":"\#(provider)","call":"\#(call)","value":true}"#,
                from: "provider")
        }
        for _ in 0..<20 { service.turn { _ in } }
        let answers = service.takeAnswers()
        #expect(answers.contains { $0.contains(#""req":"c","ok":true"#) }, "the clock arrived")
        let id = try #require(asked.firstMatch(of: /"control":"([^"]+)"/)?.output.1)
        let control = service.send(#"{"op":"control.get","req":"g","app":"com.x","id":"\#(id)"}"#)
        #expect(control.contains(#""value":true"#), "its answer was still wanted: \(control)")
        let list = service.send(#"{"op":"provider.list","req":"l"}"#)
        #expect(list.contains(provider), "it was heard all the time: \(list)")
    }
}
