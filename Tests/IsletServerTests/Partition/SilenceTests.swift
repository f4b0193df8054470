import IsletCore
import IsletJournal
import IsletServer
import Testing

/// Silence that no publisher could break: while a commit holds back the answers that publishers wait for.
@Suite struct SilenceTests {
    private static let start =
        #"{"op":"activity.start","app":"com.x","type":"T","key":"k","attributes":{},"contentState":{}}"#
    private static let heartbeat = #"{"op":"activity.heartbeat","app":"com.x","key":"k"}"#

    private func service() throws -> PartitionService {
        var rules = RuleSet.standard
        (rules.heartbeatStaleAfter, rules.heartbeatEndAfter) = (8_000, 12_000)
        let service = try PartitionService(rules: rules, clock: .system)
        #expect(service.send(Self.start).contains(#""ok":true"#))
        return service
    }

    /// A heartbeat whose commit takes so long; how many answers leave at its end.
    private func hang(_ service: PartitionService, milliseconds: Int64, turns: Int = 1) -> Int {
        service.holdsCommits = true
        #expect(service.answers { $0.take(Self.heartbeat) }.isEmpty)
        for _ in 0..<turns {
            service.pass(milliseconds: milliseconds / Int64(turns))
            service.turn { _ in }
        }
        service.holdsCommits = false
        let answers = service.tell(.committed(through: service.journal.state.lastBatch, microseconds: 1)).count
        // That a batch is committed is told in a turn, and the one before may have noted which answers are remembered.
        service.turn { _ in }
        return answers
    }

    private func told(_ service: PartitionService) -> [String] {
        service.events.map { event in
            ["started", "stale", "ended"].first { event.json.contains(#""event":"activity.\#($0)""#) } ?? event.json
        }
    }

    @Test(arguments: [1, 10, 100])
    func itCountsAnewOnceTheAnswersLeave(turns: Int) throws {
        let service = try service()
        #expect(hang(service, milliseconds: 60_000, turns: turns) == 1)
        #expect(told(service) == ["started"])
        service.work(milliseconds: 7_900)
        #expect(told(service) == ["started"])
        service.work(milliseconds: 200)
        #expect(told(service) == ["started", "stale"])
        service.work(milliseconds: 4_000)
        #expect(told(service) == ["started", "stale", "ended"])
    }

    @Test func aShortCommitChangesNothing() throws {
        let service = try service()
        #expect(hang(service, milliseconds: 1_900) == 1)
        service.work(milliseconds: 6_000)
        #expect(told(service) == ["started"])
        service.work(milliseconds: 150)
        #expect(told(service) == ["started", "stale"])
    }
}
