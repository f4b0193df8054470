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

    /// The first turn of the travel reaches its limit without a stop, and an action that had been given up ends in it.
    @Test func whatAProviderSaysIsNotDatedBeforeWhatWasToldOnTheWay() throws {
        let service = try PartitionService()
        let provider = "0198c0de-0000-4000-8000-000000000001"
        func answer(_ op: String, _ members: String = "") throws -> String {
            let asked = service.takeCalls().last { $0.frame.contains(#""op":"\#(op)""#) }?.frame ?? ""
            let call = try #require(asked.firstMatch(of: /"call":"([^"]+)"/)?.output.1, "no \(op)")
            return #"{"op":"provider.answer","provider":"\#(provider)","call":"\#(call)"\#(members)}"#
        }
        service.turn {
            $0.take(
                #"{"op":"provider.register","req":"p","app":"com.x","provider":"\#(provider)","capacity":4,"#
                    + #""kinds":[{"kind":"K","template":"toggle","hasValue":true,"previewValue":false,"#
                    + #""valueDeadline":60000,"actionDeadline":50}]}"#, from: "provider")
        }
        let added = service.send(#"{"op":"control.add","req":"a","app":"com.x","kind":"K"}"#)
        let id = try #require(added.firstMatch(of: /"control":\{"id":"([^"]+)"/)?.output.1)
        let value = try answer("control.value", #","value":false"#)
        service.turn { $0.take(value, from: "provider") }
        service.send(#"{"op":"control.tap","req":"t","app":"com.x","id":"\#(id)"}"#)
        let late = try answer("control.perform")
        service.pass(milliseconds: 100)
        for _ in 0..<3 { service.turn { _ in } }
        let next = try answer("control.value", #","value":false"#)
        service.turn { $0.take(next, from: "provider") }
        for message in 0..<6 {
            service.turn { partition in
                partition.take(
                    (0..<250).map { number in
                        let stale = 1_800_000_000_001 + message * 250 + number
                        return #"{"op":"activity.start","app":"com.x","type":"T","attributes":{},"contentState":{},"#
                            + #""staleDate":\#(stale)}"#
                    })
            }
        }
        service.turn { $0.take(#"{"op":"clock.advance","req":"c","by":5000}"#) }
        service.turn { $0.take(late, from: "provider") }
        let last = try answer("control.value", #","value":true"#)
        service.turn { $0.take(last, from: "provider") }
        for _ in 0..<10 { service.turn { _ in } }
        #expect(service.takeAnswers().contains { $0.contains(#""req":"c","ok":true"#) }, "the clock arrived")
        let dates = service.events.compactMap { $0.json.firstMatch(of: /"at":(\d+)/).flatMap { Int64($0.output.1) } }
        #expect(dates.count > 3_000 && dates == dates.sorted())
        let asked = service.events.last { $0.json.contains(#""event":"control.reloading""#) }?.json ?? ""
        #expect(asked.contains(#""at":1800000001024,"#), "where the turn's last deadline was: \(asked)")
    }
}
