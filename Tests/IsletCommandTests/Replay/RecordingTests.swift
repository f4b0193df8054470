import IsletClient
import Testing
import islet

@Suite("A recording")
struct RecordingTests {
    private func line(_ app: String, _ seq: Int, epoch: String = "e") -> String {
        #"{"topic":"\#(app)/activity/Ride/x","event":{"epoch":"\#(epoch)","seq":\#(seq),"at":1767225600000,"#
            + #""event":"activity.stale"}}"#
    }

    @Test("tells the gaps of each app, leaves out what it has twice, and begins anew with another epoch")
    func gaps() throws {
        var sample = RecordedSample()
        for text in [
            line("com.a", 3), line("com.b", 9), line("com.a", 4), line("com.a", 4), line("com.a", 8), line("com.b", 10),
            line("com.a", 2), line("com.a", 1, epoch: "f"), line("com.a", 2, epoch: "f"),
        ] {
            try sample.take(text)
        }
        #expect(sample.recording.gaps.map { "\($0.app) \($0.first) \($0.last)" } == ["com.a 5 7"])
        #expect(sample.recording.missing == 3)
        #expect(sample.recording.repeated == 2)
        #expect(sample.recording.count == 7)
    }

    @Test("knows the app of an event without its topic from the entity's start")
    func apps() throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.add("activity.stale", from: "active", to: "stale", cause: "staleDate")
        try sample.add("activity.stale", from: "active", to: "stale", cause: "staleDate", id: RecordedSample.other)
        #expect((0..<3).map { sample.recording.event($0)?.app } == ["com.a", "com.a", nil])
    }

    @Test("gives the event of a group to the app in whose stream it is the next")
    func owners() throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.take(line("com.b", 9))
        try sample.take(
            #"{"epoch":"e","seq":2,"at":1767225600000,"event":"group.set","#
                + #""group":{"group":"g","key":"k","revision":2,"value":2,"by":"com.b"}}"#)
        #expect(sample.recording.event(2)?.app == "com.a")
        try sample.take(
            #"{"epoch":"e","seq":10,"at":1767225600000,"event":"group.notified","#
                + #""notification":{"group":"h","name":"moved","by":"com.b"}}"#)
        #expect(sample.recording.event(3)?.app == "com.b")
        #expect(sample.recording.gaps.isEmpty)
    }

    @Test("takes the lines of a journal's dump, those without events too")
    func dump() throws {
        var sample = RecordedSample()
        try sample.take(#"{"batch":1,"at":5,"facts":2,"answers":0}"#)
        try sample.take(
            line("com.a", 1).replacing("{\"topic", with: #"{"batch":2,"at":5,"topic"#, maxReplacements: 1))
        #expect(sample.recording.count == 1)
        #expect(sample.recording.event(0)?.line == 2)
    }

    @Test("is refused by the line that is none, but for a last one whose end is missing")
    func badLines() throws {
        var sample = RecordedSample()
        #expect(throws: RecordingError.notJSON(line: 1)) { try sample.take("{", isCut: true) }
        try sample.start()
        #expect(throws: RecordingError.notAnEvent(line: 3)) { try sample.take(#"{"epoch":"e"}"#) }
        #expect(throws: RecordingError.notAnEvent(line: 4)) { try sample.take(#"{"epoch":"e"}"#, isCut: true) }
        #expect(throws: RecordingError.notJSON(line: 5)) { try sample.take(#"{"epoch":"e""#) }
        try sample.take(#"{"epoch":"e""#, isCut: true)
        #expect(sample.recording.cutLine == 6)
        #expect(sample.recording.count == 1)
    }

    @Test("is known again by its first event, under the same names")
    func identity() throws {
        var first = RecordedSample()
        try first.start()
        var longer = first
        try longer.start(RecordedSample.other)
        var second = RecordedSample()
        try second.start(RecordedSample.other)
        let names = ReplayNames()
        let client = ReplayIdentity.client(first.recording, names)
        #expect(ReplayIdentity.client(longer.recording, names) == client)
        #expect(ReplayIdentity.client(second.recording, names) != client)
        #expect(ReplayIdentity.client(first.recording, ReplayNames(prefix: "staging.")) != client)
        #expect(ReplayIdentity.client(first.recording, ReplayNames(map: ["com.a": "com.b"])) != client)
        #expect(client.count == 36 && client.dropFirst(14).first == "8")
    }
}
