import IsletCore
import IsletServer
import Testing

/// How large a batch becomes while it waits for the one in the air.
@Suite struct BatchRoomTests {
    private static let content = String(repeating: "x", count: 4_000)
    private static let most = 2_000

    private static func start(_ number: Int, staleDate: Int64? = nil) -> String {
        let date = staleDate.map { #","staleDate":\#($0)"# } ?? ""
        // A turn looks at so many of a device's activities only.
        let device = number == 0 ? "d" : "d\(number)"
        return
            #"{"op":"activity.start","app":"com.x","type":"t","key":"k\#(number)","device":"\#(device)","attributes":{},"#
            + #""contentState":{}\#(date)}"#
    }

    private static func update(_ number: Int) -> String {
        #"{"op":"activity.update","app":"com.x","key":"k0","device":"d","contentState":{"n":\#(number),"c":"\#(content)"}}"#
    }

    private static var rules: RuleSet {
        var rules = RuleSet.standard
        rules.maximumPerApp = most
        rules.maximumPerDevice = most
        return rules
    }

    /// One activity, and a commit in the air that does not come back; then as many updates in one turn as are taken.
    private func fill(_ service: PartitionService) -> Int {
        #expect(service.send(Self.start(0)).contains(#""ok":true"#))
        service.holdsCommits = true
        service.turn { $0.take(Self.update(-1)) }
        var taken = 0
        service.turn { partition in
            while partition.takesCommands, taken < Self.most {
                partition.take(Self.update(taken))
                taken += 1
            }
        }
        return taken
    }

    @Test func aBatchThatIsLargeEnoughWaitsForTheOneInTheAir() throws {
        let service = try PartitionService(rules: Self.rules)
        let taken = fill(service)
        // 512 KiB of events with 4 kB each, and a little more.
        #expect((80...130).contains(taken), "\(taken)")
        #expect(service.partition.pollTimeout() <= 10)
        service.holdsCommits = false
        // It lands, and the one that waited departs.
        for _ in 0..<2 { service.turn { _ in } }
        #expect(service.partition.takesCommands)
    }

    @Test func whereTheJournalIsSlowTheBatchGrows() throws {
        let service = try PartitionService(rules: Self.rules)
        _ = fill(service)
        var turns = 0
        while !service.partition.takesCommands, turns < 20 {
            service.turn { _ in }
            turns += 1
        }
        // A turn is a millisecond, and ten are slow.
        #expect((1...10).contains(turns), "\(turns)")
        #expect(service.partition.takesCommands)
    }

    @Test func deadlinesOfOneInstantLeaveRoomForCommands() throws {
        let service = try PartitionService(rules: Self.rules, clock: .system)
        let date = service.now + 2_000
        service.send(Self.start(0))
        service.turn { partition in
            for number in 1..<Self.most { partition.take(Self.start(number, staleDate: date)) }
        }
        service.pass(milliseconds: date - 2 - service.now)
        service.holdsCommits = true
        service.turn { $0.take(Self.update(-1)) }
        // Several turns in which they take effect, and less than the journal may need.
        for _ in 0..<3 { service.turn { _ in } }
        #expect(service.partition.takesCommands)
        #expect(service.partition.pollTimeout() > 0)
        service.holdsCommits = false
        var stale: [Int] = []
        while stale.count < 20 {
            service.turn { _ in }
            stale.append(service.events.count { $0.json.contains(#""lateBy":"#) })
        }
        let first = try #require(stale.first { $0 > 0 })
        #expect(first < Self.most - 1, "all in one batch")
        #expect(stale.last == Self.most - 1)
    }

    @Test func settingsThatReachManyLeaveRoomForCommands() throws {
        let service = try PartitionService(rules: Self.rules)
        // With long names, a thousand of their ends are more than a batch takes beside commands.
        let app = String(repeating: "a", count: 100)
        let type = String(repeating: "t", count: 64)
        service.turn { partition in
            for _ in 0..<Self.most {
                partition.take(
                    #"{"op":"activity.start","app":"\#(app)","type":"\#(type)","attributes":{},"contentState":{}}"#)
            }
        }
        #expect(service.send(#"{"op":"settings.set","app":"\#(app)","activitiesEnabled":false}"#).contains(#""ok":true"#))
        let first = service.events.count
        var turns = 0
        while service.events.count < 2 * Self.most, turns < 100 {
            service.turn { partition in #expect(partition.takesCommands, "turn \(turns)") }
            turns += 1
        }
        #expect(first < 2 * Self.most && service.events.count == 2 * Self.most)
    }
}
