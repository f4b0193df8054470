import IsletJournal
import IsletServer
import Testing

/// Who says that it is far behind, and who hears of that.
@Suite struct LaggingReportTests {
    private let nonce = String(repeating: "7", count: 32)

    private func applied(_ apps: Int, nonce: String, seq: (Int) -> Int = { _ in 1 }) -> String {
        let positions = (0..<apps).map { #""com.a\#($0)":{"epoch":"e1","seq":\#(seq($0))}"# }
        return #"{"op":"stream.applied","nonce":"\#(nonce)","apps":{\#(positions.joined(separator: ","))}}"#
    }

    /// So many apps with an activity, and so many events of each.
    private func filled(apps: Int, events: Int) throws -> PartitionService {
        let service = try PartitionService(clock: .system)
        for app in 0..<apps {
            let name = #""app":"com.a\#(app)","key":"k","ack":"none""#
            let start = #"{"op":"activity.start",\#(name),"type":"T","attributes":{},"contentState":{}}"#
            let updates = (1..<max(events, 1)).map {
                #"{"op":"activity.update",\#(name),"contentState":{"n":\#($0)}}"#
            }
            for first in stride(from: 0, to: updates.count + 1, by: 200) {
                service.turn { $0.take(Array(([start] + updates)[first..<min(first + 200, updates.count + 1)])) }
            }
        }
        for _ in 0..<3 { service.turn { _ in } }
        return service
    }

    private func lagging(_ service: PartitionService) -> [Bool] {
        let stats = service.send(#"{"op":"service.stats","req":"s"}"#)
        let list = service.send(#"{"op":"subscriber.list","req":"l"}"#)
        let problems = service.send(#"{"op":"problem.list","req":"p"}"#)
        return [
            stats.contains(#""lagging":1"#), list.contains(#""isLagging":true"#), problems.contains(#""what":"lagging""#),
        ]
    }

    /// The events of all apps wait for it in one queue.
    @Test(arguments: [(500, false), (502, true)])
    func whoIsFarBehindInAllAppsTogetherLags(events: Int, isLagging: Bool) throws {
        let service = try filled(apps: 20, events: events)
        service.turn { $0.take(applied(20, nonce: nonce)) }
        service.turn { _ in }
        let told = service.takeStreamMessages().filter { $0.json.contains("lagging") }.map(\.topic)
        #expect(told.count == (isLagging ? 17 : 0) && told.first?.hasSuffix(nonce) ?? true, "\(told)")
        #expect(lagging(service) == [isLagging, isLagging, isLagging])
        // It says that it has come nearer.
        service.turn { $0.take(applied(20, nonce: nonce) { _ in events - 1 }) }
        #expect(lagging(service) == [false, false, false])
    }

    /// What was published since it reported is on its way.
    @Test func whoWasNotFarBehindLagsOnlyOnceItHasSaidNothingForLong() throws {
        let service = try filled(apps: 20, events: 502)
        service.turn { $0.take(applied(20, nonce: nonce) { _ in 502 }) }
        let update = (0..<20).flatMap { app in
            (0..<10).map { #"{"op":"activity.update","app":"com.a\#(app)","key":"k","contentState":{"m":\#($0)},"ack":"none"}"# }
        }
        for _ in 0..<51 {
            service.turn { $0.take(update) }
            service.turn { $0.take(update.map { $0.replacing(#""m""#, with: #""o""#) }) }
        }
        #expect(lagging(service) == [false, false, false])
        service.work(milliseconds: 31_000)
        #expect(lagging(service) == [true, true, true])
    }

    /// So many positions are looked at in several turns, in which nothing goes on while the disk is full.
    @Test func theProblemsOfAFullDiskAreToldHoweverMuchIsReported() throws {
        let service = try filled(apps: 1, events: 1)
        for number in 0..<6 {
            service.turn { $0.take(applied(1_000, nonce: "\(number)" + String(repeating: "7", count: 31)), from: "p\(number)") }
        }
        _ = service.tell(.isFull(free: 0))
        for command in [#"{"op":"problem.list","req":"p"}"#, #"{"op":"problem.list","req":"p","family":"subscriber"}"#] {
            let answer = service.send(command)
            #expect(answer.contains(#""what":"full""#) && answer.contains(#""exact":false"#), "\(answer)")
        }
    }
}
