import IsletClient
import Testing

/// When the service is told how far readers are, and what.
@Suite struct ReportScheduleTests {
    private var schedule = ReportSchedule()
    private let start = ContinuousClock.now

    private func report(_ seq: UInt64, apps: Int = 1, nonce: String = "5a") -> AppliedReport {
        AppliedReport(
            nonce: nonce,
            positions: (0..<apps).map { .init(app: "com.example.app\($0)", StreamPosition(epoch: "e1", seq: seq)) })
    }

    private mutating func told(after seconds: Double, _ reports: AppliedReport...) -> [AppliedReport] {
        schedule.due(now: start + .seconds(seconds)) { reports.enumerated().map { ($0.offset, $0.element) } }
    }

    @Test mutating func `nothing is told, and nothing waits, before anything came in`() {
        let early = told(after: 0, report(1))
        #expect(early.isEmpty && schedule.nextWakeUp == nil)
        schedule.moved(by: 1)
        let none = told(after: 1)
        #expect(none.isEmpty && schedule.nextWakeUp == nil)
    }

    @Test mutating func `what is new is told at once, then once a second`() {
        schedule.moved(by: 1)
        let first = told(after: 0, report(1))
        #expect(first == [report(1)])
        schedule.moved(by: 1)
        let soon = told(after: 0.9, report(2))
        #expect(soon.isEmpty && schedule.nextWakeUp == start + .seconds(1))
        let second = told(after: 1, report(3))
        #expect(second == [report(3)])
        schedule.moved(by: 1)
        let same = told(after: 2, report(3))
        #expect(same.isEmpty)
    }

    @Test mutating func `where nothing is new it is told again after half a minute`() {
        schedule.moved(by: 1)
        _ = told(after: 0, report(1))
        #expect(schedule.nextWakeUp == start + .seconds(30))
        let early = told(after: 29.9, report(1))
        let late = told(after: 30, report(1))
        #expect(early.isEmpty && late == [report(1)] && schedule.nextWakeUp == start + .seconds(60))
        let gone = told(after: 60)
        #expect(gone.isEmpty && schedule.nextWakeUp == nil)
    }

    @Test mutating func `only readers that got further, or joined anew, are told of`() {
        schedule.moved(by: 1)
        _ = told(after: 0, report(1, nonce: "a"), report(1, nonce: "b"), report(1, nonce: "c"))
        schedule.moved(by: 1)
        let news = told(after: 1, report(1, nonce: "a"), report(2, nonce: "b"), report(1, nonce: "d"))
        #expect(news == [report(2, nonce: "b"), report(1, nonce: "d")])
    }

    @Test mutating func `of very many apps it is told less often, and no command is too long`() {
        let many = report(1, apps: 1_000)
        #expect(many.frame.count < 65_536)
        schedule.moved(by: 1)
        _ = told(after: 0, many)
        schedule.moved(by: 1)
        let soon = told(after: 9, report(2, apps: 1_000))
        let late = told(after: 10, report(2, apps: 1_000))
        #expect(soon.isEmpty && late.count == 1)
        let long = (0..<1_000).map {
            AppliedReport.Position(
                app: "a\($0)" + String(repeating: "x", count: 95), StreamPosition(epoch: "k3v9", seq: .max))
        }
        let frame = AppliedReport(nonce: String(repeating: "5", count: 32), positions: long).frame
        #expect((50_000..<65_536).contains(frame.count))
    }

    @Test mutating func `after very many messages it is told at once, so that nobody seems to lag who keeps up`() {
        schedule.moved(by: 1)
        _ = told(after: 0, report(1, apps: 101))
        schedule.moved(by: ReportSchedule.muchNews - 1)
        let soon = told(after: 0.25, report(5_000, apps: 101))
        schedule.moved(by: 1)
        let then = told(after: 0.5, report(5_001, apps: 101))
        #expect(soon.isEmpty && then == [report(5_001, apps: 101)])
        schedule.moved(by: 1)
        let next = told(after: 1, report(5_002, apps: 101))
        #expect(next.isEmpty && schedule.nextWakeUp == start + .seconds(10.5))
    }

    @Test func `a replica says how far it is once its join was answered, under that nonce`() throws {
        var replica = Replica(scope: ReplicaScope(prefix: "com.example.pizza/", keepsEntities: false))
        let nonce = String(repeating: "5a", count: 16)
        _ = replica.start()
        _ = replica.join(nonce: nonce)
        #expect(replica.applied == nil)
        let answer = #"{"at":0,"apps":{"com.example.pizza":{"epoch":"e1","seq":3}}}"#
        let topic = [0xFF] + Array("join/\(nonce)/com.example.pizza".utf8)
        _ = replica.received(topic: topic, body: Array(answer.utf8))
        let position = AppliedReport.Position(app: "com.example.pizza", StreamPosition(epoch: "e1", seq: 3))
        let expected = AppliedReport(nonce: nonce, positions: [position])
        #expect(replica.applied == expected)
        let frame = #"{"op":"stream.applied","nonce":"\#(nonce)","apps":{"com.example.pizza":{"epoch":"e1","seq":3}}}"#
        #expect(String(decoding: expected.frame, as: UTF8.self) == frame)
        _ = replica.join(nonce: String(repeating: "6b", count: 16))
        #expect(replica.applied == nil)
    }

    @Test(arguments: ["", "com.example.pizza/"])
    func `a replica of what has no events yet is somewhere, too`(prefix: String) {
        var replica = Replica(scope: ReplicaScope(prefix: prefix, keepsEntities: false))
        let nonce = String(repeating: "5a", count: 16)
        _ = replica.start()
        _ = replica.join(nonce: nonce)
        let topic = [0xFF] + Array((prefix.isEmpty ? "join/\(nonce)" : "join/\(nonce)/com.example.pizza").utf8)
        _ = replica.received(topic: topic, body: Array(#"{"at":0,"apps":{},"epoch":"e1"}"#.utf8))
        #expect(replica.applied == AppliedReport(nonce: nonce, positions: []))
    }
}
