import IsletClient
import Testing
import islet

private let now = RecordedSample.now

@Suite("What a replay changes in commands")
struct ReplayTranslationTests {
    private let command = Command(
        "activity.end", app: "com.a",
        [
            "staleDate": .integer(now + 60_000), "startDate": .integer(now + 5),
            "dismissalPolicy": .object([.init("after", .integer(now + 9))]), "timestamp": .integer(now + 7_000),
            "contentState": .object([.init("staleDate", .integer(now))]),
        ])

    @Test("Dates move by the offset, those inside payloads not")
    func dates() {
        let moved = ReplayTimes(first: now, offset: 1_000).shifted(command, at: now + 10_000)
        #expect(moved["staleDate"]?.integer == now + 61_000)
        #expect(moved["startDate"]?.integer == now + 1_005)
        #expect(moved["dismissalPolicy"]?.description == #"{"after":\#(now + 1_009)}"#)
        #expect(moved["timestamp"]?.integer == now + 8_000)
        #expect(moved["contentState"] == command["contentState"])
    }

    @Test("A timestamp keeps its distance from its command at any speed", arguments: [1, 10, 0.5, nil])
    func timestamps(_ speed: Double?) {
        let times = ReplayTimes(first: now, offset: 1_000, speed: speed)
        let turn = times.turn(of: now + 10_000)
        #expect(turn == speed.map { Int64(10_000 / $0) } ?? 0)
        #expect(times.shifted(command, at: now + 10_000)["timestamp"]?.integer == now + 1_000 + turn - 3_000)
    }

    @Test("Dates at the ends of time trap nowhere", arguments: [Int64.min, .max])
    func extremes(_ date: Int64) {
        let times = ReplayTimes(first: now, offset: date < 0 ? -1 : 1, speed: 1e-6)
        #expect(times.date(date) == date)
        let dates: RawObject = ["timestamp": .integer(date), "staleDate": .integer(date)]
        let shifted = times.shifted(Command("x", dates), at: now * 2)
        #expect(shifted["staleDate"]?.integer == date)
    }

    @Test("Apps, groups and members are called by the map, the others with the prefix")
    func names() {
        let names = ReplayNames(prefix: "staging.", map: ["com.b": "com.c"])
        let renamed = names.renamed(
            Command(
                "group.admit", app: "com.a",
                ["group": .string("g"), "member": .string("com.b"), "key": .string("k")]))
        #expect(
            RecordedSample.text(renamed)
                == #"group.admit {"app":"staging.com.a","group":"staging.g","member":"com.c","key":"k"}"#)
    }
}

@Suite("What a replay compares")
struct ReplayVerificationTests {
    private func ended(_ patch: String) throws -> ReplayedEntity {
        var sample = RecordedSample()
        try sample.start(patch: patch)
        var planner = ReplayPlanner(sample.recording)
        _ = try planner.plan(#require(sample.recording.event(0)))
        return try #require(planner.entities[RecordedSample.id])
    }

    private let times = ReplayTimes(first: now, offset: 1_000)
    private var exact: ReplayVerification { ReplayVerification(times: times, names: ReplayNames(), isExact: true) }

    @Test("An entity is the same where its dates have moved, and else each member is named")
    func differences() throws {
        let entity = try ended(#""key":"k","staleDate":\#(now),"startedAt":\#(now)"#)
        var found = entity.members
        found["staleDate"] = .integer(now + 1_000)
        found["startedAt"] = .integer(now + 1_000)
        found["revision"] = .integer(99)
        #expect(exact.differences(entity, found: found).isEmpty)
        found["startedAt"] = .integer(now + 1_001)
        found["staleDate"] = nil
        found["contentState"] = RawJSON(#"{"eta":13}"#)
        let texts = exact.differences(entity, found: found).map(\.text)
        #expect(
            texts == [
                #"activity/Ride/k: contentState is {"eta":13}, recorded was {"eta":12}"#,
                "activity/Ride/k: staleDate is not there, recorded was \(now + 1_000)",
                "activity/Ride/k: startedAt is \(now + 1_001), recorded was \(now + 1_000)",
            ])
        let loose = ReplayVerification(times: times, names: ReplayNames(), isExact: false)
        #expect(loose.differences(entity, found: found).count == 2, "a clock that runs makes dates of its own")
    }

    @Test("What is gone need not be there, and what is not gone must")
    func gone() throws {
        var entity = try ended("")
        #expect(exact.differences(entity, found: nil).map(\.member) == ["state"])
        entity.members["state"] = .string("dismissed")
        #expect(exact.differences(entity, found: nil).isEmpty)
    }

    @Test("Control characters of a recording reach no terminal")
    func printable() throws {
        let entity = try ended(#""key":"\u001b[31mk""#)
        #expect(!exact.differences(entity, found: nil)[0].text.contains("\u{1B}"))
    }
}
