import IsletClient
import Testing
import islet

@Suite("The figures as text")
struct StatsTextTests {
    private func lines(_ json: String) throws -> [String] {
        let stats = try #require(RawObject(Array(json.utf8)))
        return StatsText.lines(StatsReading(stats), style: Style(isOn: false))
    }

    @Test("say what is there, and nothing of what is not")
    func parts() throws {
        let lines = try lines(
            #"{"now":1767225600000,"uptime":11520000,"version":"0.1.0","guarantee":"full","#
                + #""commands":{"taken":12031,"applied":12031,"refused":0},"events":12500,"joins":3,"#
                + #""timers":{"armed":80,"overdue":2,"nextAt":1767225660000}}"#)
        #expect(
            lines == [
                "islet 0.1.0, up 3 h 12 m, guarantee full, its time is 2026-01-01 00:00:00 UTC",
                "commands     12 031 taken, 12 031 applied", "events       12 500 made, 3 joins of subscribers",
                "timers       80 armed, 2 overdue, next at 2026-01-01 00:01:00 UTC (in 1 m)",
            ])
        #expect(try self.lines("{}").count == 1)
        #expect(
            try self.lines(#"{"now":0,"subscribers":{"reporting":0,"lagging":0},"clients":{"cut":0}}"#).dropFirst()
                == ["subscribers  none reports how far it is"])
        #expect(
            try self.lines(#"{"now":0,"clients":{"connected":5,"cut":2}}"#).last
                == "clients      5 connected, 2 cut off, since they did not read")
    }

    @Test("begin with what an operator must know")
    func warnings() throws {
        let lines = try lines(#"{"now":0,"diskFull":true,"stopping":true,"events":1}"#)
        #expect(lines[1...2] == ["the disk is full: changes are refused", "it is stopping"])
    }

    @Test("have percentiles since the start, and below them those of the last while")
    func spans() throws {
        let values = #""count":1000,"p50":400,"p99":1900,"p999":4000,"max":12500"#
        let recent = #"{"span":42000,"count":0,"p50":0,"p99":0,"p999":0,"max":0}"#
        let lines = try lines(#"{"now":0,"commit":{"unit":"us",\#(values),"recent":\#(recent)}}"#)
        #expect(
            lines.dropFirst() == [
                "commit       p50 0.4 ms, p99 1.9 ms, p99.9 4.0 ms, max 12.5 ms of 1 000", "  last 42 s  none yet",
            ])
    }

    @Test("count nothing as none, and name what is slow")
    func counts() throws {
        let lines = try lines(
            #"{"now":0,"activities":{"active":0,"stale":0},"#
                + #""subscribers":{"reporting":3,"lagging":1,"maximumLag":1200},"memory":{"resident":220200960}}"#)
        #expect(
            lines.dropFirst() == [
                "activities   none", "subscribers  3 report, 1 lagging, at most 1 200 events behind",
                "memory       210 MiB resident",
            ])
    }
}
