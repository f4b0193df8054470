import IsletClient
import Testing
import islet

private let id = RecordedSample.id
private let other = RecordedSample.other

@Suite("What a replay sends")
struct ReplayPlannerTests {
    @Test("A start has all that its event tells, the payloads byte for byte, and nothing that is the default")
    func start() throws {
        var sample = RecordedSample()
        try sample.start(
            patch: #""key":"k","device":"phone","staleDate":1767225660000,"pushType":{"channel":"c"}"#,
            more: #""alert":{"title":"Hi"}"#)
        #expect(
            sample.last == #"activity.start {"app":"com.a","id":"\#(id)","type":"Ride","attributes":{"n": 1},"#
                + #""contentState":{"eta":12},"staleDate":1767225660000,"pushType":{"channel":"c"},"device":"phone","#
                + #""key":"k","alert":{"title":"Hi"}}"#)
        try sample.start(other, patch: #""startDate":1767225600000"#)
        #expect(sample.last.hasSuffix(#""startDate":1767225600000,"alert":{}}"#))
    }

    @Test("A start by push says so, and a style or relevance that is not the default stands")
    func otherStart() throws {
        var sample = RecordedSample()
        try sample.add(
            "activity.started", to: "active", cause: "push",
            patch: #""app":"com.a","type":"Ride","attributes":{},"contentState":{},"#
                + #""relevanceScore":2.5,"style":"transient""#)
        #expect(sample.last.contains(#""source":"push""#))
        #expect(sample.last.contains(#""relevanceScore":2.5,"style":"transient""#))
    }

    @Test("A scheduled start gets the alert that its later event tells")
    func scheduled() throws {
        var sample = RecordedSample()
        try sample.add(
            "activity.scheduled", to: "pending",
            patch: #""app":"com.a","type":"Ride","attributes":{},"contentState":{},"#
                + #""relevanceScore":0,"startDate":1767225700000"#)
        try sample.add(
            "activity.started", from: "pending", to: "active", cause: "startDate", at: 100_000,
            more: #""alert":{"title":"Now"}"#)
        let planned = RecordedSample.text(sample.verdicts[0])
        #expect(planned.hasSuffix(#""startDate":1767225700000,"alert":{"title":"Now"}}"#))
        #expect(sample.last == "follows deadline")
    }

    @Test("An update has also what its patch leaves out, since it replaces all")
    func update() throws {
        var sample = RecordedSample()
        try sample.start(patch: #""staleDate":1767225660000"#)
        try sample.add("activity.updated", from: "active", to: "active", at: 5, patch: #""relevanceScore":7"#)
        #expect(
            sample.last == #"activity.update {"app":"com.a","id":"\#(id)","contentState":{"eta":12},"#
                + #""staleDate":1767225660000,"relevanceScore":7}"#)
        try sample.add(
            "activity.updated", from: "active", to: "active", cause: "push", at: 9,
            patch: #""contentState":{"eta":1},"staleDate":null,"relevanceScore":0,"timestamp":1767225600007"#)
        #expect(
            sample.last == #"activity.update {"app":"com.a","id":"\#(id)","source":"push","contentState":{"eta":1},"#
                + #""timestamp":1767225600007}"#)
    }

    @Test("The timestamp of the execution is not sent")
    func timestamp() throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.add("activity.updated", from: "active", to: "active", at: 9, patch: #""timestamp":1767225600009"#)
        #expect(!sample.last.contains("timestamp"))
    }

    @Test(
        "The policy of an end is what its dates tell",
        arguments: [
            (0, #","dismissalPolicy":"immediate"}"#), (14_400_000, "\"}"),
            (60_000, #","dismissalPolicy":{"after":1767225660000}}"#),
        ])
    func policy(_ span: Int64, _ end: String) throws {
        var sample = RecordedSample()
        try sample.start()
        let dates = #""endedAt":\#(RecordedSample.now),"dismissAt":\#(RecordedSample.now + span)"#
        try sample.add("activity.ended", from: "active", to: "ended", patch: dates)
        #expect(sample.last == #"activity.end {"app":"com.a","id":"\#(id)"# + (end.hasPrefix("\"") ? end : "\"" + end))
    }

    @Test(
        "What a deadline or another command has brought about is not sent",
        arguments: [
            ("stale", "active", "staleDate", "follows deadline"), ("stale", "active", "heartbeat", "follows deadline"),
            ("ended", "stale", "activeLimit", "follows deadline"), ("ended", "stale", "heartbeat", "follows deadline"),
            ("dismissed", "ended", "dismissalPolicy", "follows deadline"),
            ("dismissed", "ended", "transient", "follows command"),
            ("dismissed", "ended", "renewal", "follows command"),
            ("ended", "active", "magic", "impossible unknownCause"),
            ("dismissed", "active", "magic", "impossible unknownCause"),
            ("melted", "active", "command", "impossible unknownEvent"),
        ])
    func following(_ verb: String, _ from: String, _ cause: String, _ expected: String) throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.add("activity.\(verb)", from: from, to: verb, cause: cause)
        #expect(sample.last == expected)
    }

    @Test(
        "Who dismisses is told",
        arguments: [
            ("person", #"activity.dismiss {"app":"com.a","id":"\#(id)","by":"person"}"#),
            ("system", #"activity.dismiss {"app":"com.a","id":"\#(id)","by":"system"}"#),
            ("command", #"activity.end {"app":"com.a","id":"\#(id)","dismissalPolicy":"immediate"}"#),
            ("settings", #"settings.set {"app":"com.a","activitiesEnabled":false}"#),
        ])
    func dismissal(_ cause: String, _ expected: String) throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.add("activity.dismissed", from: "active", to: "dismissed", cause: cause)
        #expect(sample.last == expected)
    }

    @Test("An ended one that goes before its date was ended again at once")
    func endedAgain() throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.add(
            "activity.ended", from: "active", to: "ended", patch: #""endedAt":1767225600000,"dismissAt":1767225660000"#)
        try sample.add("activity.dismissed", from: "ended", to: "dismissed", cause: "dismissalPolicy", at: 59_999)
        #expect(sample.last.contains("immediate"))
    }

    @Test("A renewal is one command with what its successor begins with")
    func renewal() throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.add("activity.ended", from: "active", to: "ended", cause: "renewal")
        try sample.add("activity.dismissed", from: "ended", to: "dismissed", cause: "renewal")
        try sample.add(
            "activity.started", to: "active", cause: "renewal", id: other,
            patch: #""app":"com.a","type":"Ride","contentState":{"eta":20},"attributes":{},"renews":"\#(id)""#)
        let texts = sample.verdicts.map(RecordedSample.text)
        #expect(texts[1] == #"activity.renew {"app":"com.a","id":"\#(id)","contentState":{"eta":20}}"#)
        #expect(texts[2...] == ["follows command", "follows command"])
        guard case .send(let commands) = sample.verdicts[1] else { return }
        #expect(commands[0].successor == other)
    }

    @Test("A renewal whose successor is not recorded is an end, and a successor without the renewal a start")
    func halfRenewals() throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.add("activity.ended", from: "active", to: "ended", cause: "renewal")
        #expect(sample.last.contains("immediate"))
        var second = RecordedSample()
        try second.add(
            "activity.started", to: "active", cause: "renewal", id: other,
            patch: #""app":"com.a","type":"Ride","contentState":{"eta":20},"attributes":{},"renews":"\#(id)""#)
        #expect(second.last.hasPrefix("activity.start "))
    }

    @Test("A device that is left, and a switch, are told once, and the switch is on again before the next start")
    func once() throws {
        var sample = RecordedSample()
        for id in [id, other] { try sample.start(id, patch: #""device":"phone""#) }
        for id in [id, other] {
            try sample.add("activity.ended", from: "active", to: "ended", cause: "transient", at: 5, id: id)
        }
        let texts = sample.verdicts.map(RecordedSample.text)
        #expect(texts[2...] == [#"device.event {"device":"phone","event":"leave"}"#, "follows command"])

        var second = RecordedSample()
        for id in [id, other] { try second.start(id, patch: #""device":"phone""#) }
        for id in [id, other] {
            try second.add("activity.dismissed", from: "active", to: "dismissed", cause: "settings", at: 5, id: id)
        }
        try second.start("0198c0de-1c00-7a3e-9f21-3b5c8d7e0a13", patch: #""device":"phone""#)
        let others = second.verdicts.map(RecordedSample.text)
        #expect(others[2] == #"settings.set {"app":"com.a","device":"phone","activitiesEnabled":false}"#)
        #expect(others[3] == "follows command")
        let on = #"settings.set {"app":"com.a","device":"phone","activitiesEnabled":true}; activity.start"#
        #expect(others[4].hasPrefix(on))
    }

    @Test("What the switch for frequent pushes has ended is ended by itself, its timestamp kept")
    func frequentPushes() throws {
        var sample = RecordedSample()
        try sample.start(patch: #""timestamp":1767225600000"#)
        try sample.add(
            "activity.ended", from: "active", to: "ended", cause: "settings", at: 5,
            patch: #""endedAt":1767225600005,"dismissAt":1767240000005"#)
        #expect(sample.last == #"activity.end {"app":"com.a","id":"\#(id)","timestamp":1767225600000}"#)
    }

    @Test("What is not known is not guessed")
    func obstacles() throws {
        var sample = RecordedSample()
        try sample.add("activity.updated", from: "active", to: "active")
        try sample.add("hologram.shown", to: "shown")
        try sample.add("activity.started", to: "active", id: other)
        try sample.add("activity.updated", from: "active", to: "active", id: other)
        #expect(
            sample.verdicts.map(RecordedSample.text) == [
                "impossible startNotRecorded", "impossible unknownEvent", "impossible incomplete",
                "impossible startNotRecorded",
            ])
    }

    @Test("The same recording gives the same commands with the same numbers")
    func numbers() throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.add("activity.stale", from: "active", to: "stale", cause: "staleDate")
        try sample.add("activity.updated", from: "stale", to: "active", patch: #""contentState":{}"#)
        #expect(sample.verdicts == sample.verdicts)
        let numbers = sample.verdicts.flatMap { verdict -> [UInt64?] in
            guard case .send(let commands) = verdict else { return [] }
            return commands.map(\.command.requestNumber)
        }
        #expect(numbers == [1, 2])
    }
}
