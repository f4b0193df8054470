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

    @Test("keeps each life of an id that was used again, and none of them twice")
    func lives() throws {
        func event(_ seq: Int, _ name: String, _ revision: Int, from: Bool) -> String {
            #"{"topic":"com.a/control/Torch/x","event":{"epoch":"e","seq":\#(seq),"at":1767225600000,"#
                + #""event":"control.\#(name)",\#(from ? #""from":"loading","# : "")"to":"loading","cause":"command","#
                + #""control":{"id":"x","revision":\#(revision)\#(from ? "" : #","app":"com.a","kind":"Torch""#)}}}"#
        }
        var sample = RecordedSample()
        let lines = [
            event(1, "added", 1, from: false), event(2, "removed", 2, from: true), event(3, "added", 1, from: false),
            event(4, "removed", 2, from: true),
        ]
        for text in lines + lines { try sample.take(text) }
        #expect(sample.recording.count == 4)
        #expect(sample.recording.repeated == 4)
        let begun = sample.verdicts.map(RecordedSample.text).filter { $0.hasPrefix("control.add ") }
        #expect(begun.count == 2)
    }

    @Test("counts as many missing events as there can be, and not one more")
    func endlessGaps() throws {
        var sample = RecordedSample()
        for epoch in 0...2_048 {
            try sample.take(line("com.a", 1, epoch: "\(epoch)"))
            try sample.take(line("com.a", 1 << 53, epoch: "\(epoch)"))
        }
        #expect(sample.recording.missing == .max)
        #expect(sample.recording.gaps.count == 100)
    }

    @Test("knows the app of an event without its topic from the entity's start")
    func apps() throws {
        var sample = RecordedSample()
        try sample.start()
        try sample.add("activity.stale", from: "active", to: "stale", cause: "staleDate")
        try sample.add("activity.stale", from: "active", to: "stale", cause: "staleDate", id: RecordedSample.other)
        #expect((0..<3).map { sample.recording.event($0)?.app } == ["com.a", "com.a", nil])
    }

    @Test("gives the events of a group to the app in whose stream they are missing, and drops none")
    func owners() throws {
        func set(_ seq: Int, _ group: String, _ revision: Int) -> String {
            #"{"epoch":"e","seq":\#(seq),"at":1767225600000,"event":"group.set","#
                + #""group":{"group":"\#(group)","key":"k","revision":\#(revision),"value":2,"by":"com.b"}}"#
        }
        var sample = RecordedSample()
        for text in [
            line("com.a", 1), line("com.b", 1), set(2, "g", 1), set(2, "h", 1), line("com.b", 3), set(3, "h", 2),
            line("com.a", 5), set(3, "h", 2),
        ] {
            try sample.take(text)
        }
        #expect(sample.recording.gaps.map { "\($0.app) \($0.first) \($0.last)" } == ["com.a 4 4"])
        #expect(sample.recording.repeated == 1)
        let texts = sample.verdicts.map(RecordedSample.text)
        #expect(texts[2].hasPrefix(#"group.create {"app":"com.b","group":"g"}; group.set"#))
        #expect(texts[3].hasPrefix(#"group.create {"app":"com.a","group":"h"}; group.admit"#))
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
