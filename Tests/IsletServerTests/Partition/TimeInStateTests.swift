import IsletCore
import IsletServer
import Testing

/// Since when something is in its state, as reads say it.
@Suite struct TimeInStateTests {
    private let provider = "0198c0de-0000-4000-8000-000000000001"
    private let id = "0198c0de-0000-7000-8000-000000000007"

    private func stateAt(_ answer: String) -> Int64? {
        answer.firstMatch(of: /"stateAt":(\d+)/).flatMap { Int64($0.output.1) }
    }

    /// How an activity is read, and as it is read by the next process: behind the events alone, and behind a snapshot.
    private func read(
        _ service: PartitionService, _ what: String, at location: SourceLocation = #_sourceLocation
    ) throws -> Int64? {
        let get = #"{"op":"\#(what).get","req":"g","app":"com.x","id":"\#(id)"}"#
        let seen = stateAt(service.send(get))
        let list = #"{"op":"\#(what).list","req":"l","app":"com.x"}"#
        if seen != nil { #expect(stateAt(service.send(list)) == seen, sourceLocation: location) }
        let next = try PartitionService(service.journal.state, clock: .system)
        #expect(stateAt(next.send(get)) == seen, sourceLocation: location)
        return seen
    }

    @Test func anActivityIsInItsStateSinceTheEventThatBroughtItThere() throws {
        let service = try PartitionService(clock: .system)
        let name = #""app":"com.x","id":"\#(id)""#
        let update = #"{"op":"activity.update","req":"u",\#(name),"contentState":{"n":1}"#
        service.send(
            #"{"op":"activity.start","req":"s",\#(name),"type":"T","attributes":{},"contentState":{},"#
                + #""startDate":\#(service.now + 60_000),"alert":{"title":"t","body":"b"}}"#)
        let scheduled = service.now - 1
        #expect(try abs(#require(try read(service, "activity")) - scheduled) <= 1)
        let begin = try #require(try read(service, "activity"))
        service.pass(milliseconds: 20_000)
        service.send(update + "}")
        #expect(try read(service, "activity") == begin, "an update leaves it in its state")
        service.pass(milliseconds: 60_000)
        service.turn { _ in }
        let started = try #require(try read(service, "activity"))
        #expect((59_000...60_000).contains(started - begin), "not from when it was noticed")
        let stale = service.now + 5_000
        service.send(update + #","staleDate":\#(stale)}"#)
        #expect(try read(service, "activity") == started)
        // It is noticed late.
        service.pass(milliseconds: 9_000)
        service.turn { _ in }
        #expect(try read(service, "activity") == stale)
        for _ in 0..<4 { service.sweep() }
        #expect(try read(service, "activity") == stale)
        service.send(update + "}")
        let again = try #require(try read(service, "activity"))
        #expect(again > stale)
        service.pass(milliseconds: 1_000)
        service.send(#"{"op":"activity.end","req":"e",\#(name)}"#)
        let ended = try #require(try read(service, "activity"))
        #expect(ended > again)
        for _ in 0..<4 { service.sweep() }
        #expect(try read(service, "activity") == ended)
        // A snapshot's row and events have no such member.
        let rows = service.pull(#"{"op":"bulk.snapshot","req":"b","app":"com.x","credit":4}"#)
        #expect(rows.contains { $0.contains(id) } && !rows.joined().contains("stateAt"))
        #expect(!service.events.isEmpty && !service.events.contains { $0.json.contains("stateAt") })
    }

    @Test(arguments: ["control", "widget"]) func whatFailsIsSaidToFailSinceItsFirstFailure(family: String) throws {
        var rules = RuleSet.standard
        rules.widgetDeveloperMode = true
        let service = try PartitionService(rules: rules, clock: .system)
        let isControl = family == "control"
        let kinds =
            isControl
            ? #""kinds":[{"kind":"K","template":"toggle","hasValue":true,"previewValue":false}]"#
            : #""widgets":[{"kind":"K","families":["systemSmall"],"placeholder":{}}]"#
        service.turn {
            $0.take(
                #"{"op":"provider.register","req":"p","app":"com.x","provider":"\#(provider)",\#(kinds)}"#, from: "provider")
        }
        for _ in 0..<3 { service.turn { _ in } }
        #expect(service.takeAnswers().joined().contains(#""ok":true"#))
        let place = isControl ? "" : #","family":"systemSmall""#
        service.send(#"{"op":"\#(family).add","req":"a","app":"com.x","kind":"K","id":"\#(id)"\#(place)}"#)
        let added = try #require(try read(service, family))
        func calls() throws -> Substring {
            for _ in 0..<3 { service.turn { _ in } }
            let asked = service.takeCalls().last { $0.frame.contains(#""call":"#) && !$0.frame.contains("cancel") }
            return try #require(asked?.frame.firstMatch(of: /"call":"([^"]+)"/)?.output.1)
        }
        func fail() throws {
            let call = try calls()
            service.pass(milliseconds: 50)
            service.turn {
                $0.take(
                    #"{"op":"provider.fail","req":"f","provider":"\#(provider)","call":"\#(call)","reason":"threw"}"#,
                    from: "provider")
            }
            for _ in 0..<3 { service.turn { _ in } }
            _ = service.takeAnswers()
        }
        func since() -> Int64? {
            let answer = service.send(#"{"op":"problem.list","req":"l"}"#)
            #expect(answer.contains(#""byWhat":{"failed":1}"#) || !answer.contains(#""what":"failed""#))
            return answer.firstMatch(of: /"what":"failed".*?"since":(\d+)/).flatMap { Int64($0.output.1) }
        }
        try fail()
        let first = try #require(since())
        #expect(first > added && first <= service.now)
        // Each try is a state of its own, and the failure goes on.
        for _ in 0..<2 {
            service.send(#"{"op":"\#(family).reload","req":"r","app":"com.x","id":"\#(id)"}"#)
            try fail()
            #expect(since() == first)
        }
        #expect(try #require(try read(service, family)) > added)
        let next = try PartitionService(service.journal.state, clock: .system)
        next.turn {
            $0.take(
                #"{"op":"provider.register","req":"p","app":"com.x","provider":"\#(provider)",\#(kinds)}"#, from: "provider")
        }
        for _ in 0..<3 { next.turn { _ in } }
        _ = next.takeAnswers()
        let answer = next.send(#"{"op":"problem.list","req":"l"}"#)
        #expect(answer.contains(#""since":\#(first)"#), "\(answer)")
    }
}
