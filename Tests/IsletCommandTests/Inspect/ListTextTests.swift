import IsletClient
import Testing
import islet

@Suite("What lists of the inspection show")
struct ListTextTests {
    private let plain = Style(isOn: false)
    private let now: Int64 = 1_767_225_600_000

    private func object(_ json: String) throws -> RawObject { try #require(RawObject(Array(json.utf8))) }

    private func trimmed(_ lines: [String]) -> [String] {
        lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
    }

    // MARK: Timers

    private func timers(_ more: String = "") throws -> TimersText {
        TimersText(
            try object(
                #"{"timers":[{"at":1767225597000,"cause":"entry","family":"widget","app":"a.b","kind":"x.Flight","#
                    + #""id":"0198c0de-2c00-7a3e-9f21-3b5c8d7e0a11","state":"shown"},"#
                    + #"{"at":1767227400000,"cause":"staleDate","family":"activity","app":"a.b","kind":"Order","#
                    + #""id":"i","key":"order-7","device":"phone","state":"active"}],"total":12031,"overdue":1,"#
                    + #""hours":[{"from":1767225600000,"count":10},{"from":1767229200000,"count":1}],"later":5,"#
                    + #""exact":false}"#), now: now, style: plain)
    }

    @Test("timers: what is due says for how long, and what is to come says when")
    func timerTable() throws {
        let text = try timers()
        #expect(
            trimmed(text.table) == [
                "FIRES        AT                       WHAT       NAME                        APP  DEVICE  STATE",
                "due for 3 s  2025-12-31 23:59:57 UTC  entry      widget Flight/3b5c8d7e0a11  a.b  -       shown",
                "in 30 m      2026-01-01 00:30:00 UTC  staleDate  activity order-7            a.b  phone   active",
            ])
        let shown = text.shown(["app": "a.b", "device": nil])
        #expect(shown == "showing 2 of about 12 031 timers, with app a.b, 1 overdue")
        let timers = try object(#"{"timers":[{"key":"k","id":"i"},{"key":"k","id":"i","device":"d"},{"id":"i"}]}"#)
        let rows = timers["timers"]?.elements?.compactMap(\.object) ?? []
        #expect(rows.map(TimersText.address) == ["k", "i", "i"])
        #expect(try trimmed(self.timers().table(of: rows, isWide: true))[0].hasSuffix("STATE  KIND  ID"))
    }

    @Test("timers: the longest bar is of the hour that has most, and what comes after the last hour has one too")
    func timerHours() throws {
        #expect(
            try timers().hours == [
                "Thu 2026-01-01 UTC", "00:00         10  " + String(repeating: "#", count: 40),
                "01:00          1  ####", "later          5  " + String(repeating: "#", count: 20),
            ])
        let nothing = TimersText(try object(#"{"timers":[],"total":0}"#), now: now, style: plain)
        #expect(nothing.table.isEmpty && nothing.hours == ["later          0"])
        #expect(nothing.shown([:]) == "showing 0 of 0 timers, none overdue")
    }

    @Test("timers: lateness of a service that does not tell it is nothing")
    func lateness() throws {
        #expect(TimersText.lateness([:]).isEmpty)
        let stats = try object(#"{"lateness":{"unit":"ms","count":2,"p50":1,"p99":3,"p999":3,"max":3}}"#)
        #expect(TimersText.lateness(stats) == ["", "lateness     p50 1 ms, p99 3 ms, p99.9 3 ms, max 3 ms of 2"])
    }

    // MARK: Slots and subscribers

    @Test("slots: who is full is said to be")
    func slots() throws {
        let row = try object(#"{"device":"phone-1","held":6,"apps":[{"app":"a.b","held":5},{"app":"c","held":1}]}"#)
        #expect(
            SlotsText(perApp: 5, perDevice: 20, style: plain).table([row]).last
                == "phone-1  6 of 20  a.b 5 of 5 full, c 1 of 5")
        #expect(SlotsText(perApp: nil, perDevice: nil, style: plain).table([row]).last == "phone-1  6     a.b 5, c 1")
    }

    @Test("subscribers: three apps of each, and all where there is room")
    func subscribers() throws {
        let apps = (1...5).map { #""a\#($0)":{"seq":\#($0)000,"lag":\#($0 == 2 ? 12 : 0)}"# }.joined(separator: ",")
        let row = try object(
            #"{"nonce":"0123456789abcdef0123456789abcdef","age":3000,"lag":12,"isLagging":true,"apps":{\#(apps)}}"#)
        #expect(
            SubscribersText.table([row], style: plain).last
                == "0123456789ab  12   yes   3 s ago   a1 at 1 000, a2 at 2 000 (12 behind), a3 at 3 000, and 2 more")
        let wide = try #require(SubscribersText.table([row], isWide: true, style: plain).last)
        #expect(wide.hasPrefix("0123456789abcdef0123456789abcdef  ") && wide.hasSuffix("a5 at 5 000"))
        let none = try object(#"{"nonce":"0123456789abcdef0123456789abcdef","age":0,"lag":0,"isLagging":false,"apps":{}}"#)
        #expect(SubscribersText.table([none], style: plain).last?.hasSuffix("  nothing yet") == true)
    }

    // MARK: HTTP

    @Test("an answer of HTTP: its status, and its object, whole or in chunks")
    func http() {
        func read(_ text: String) -> HTTPQuestion.Answer? { HTTPQuestion.read(Array(text.utf8)) }
        let whole = read("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}")
        #expect(whole?.status == 200 && whole?.object?["status"]?.string == "ok")
        let chunked = read("HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n{\"ready\":false}\r\n0\r\n\r\n")
        #expect(chunked?.status == 503 && chunked?.object?["ready"]?.bool == false)
        #expect(read("HTTP/1.1 404 Not Found\r\n\r\nnothing")?.object == nil)
        #expect(read("SSH-2.0-OpenSSH_9\r\n") == nil && read("") == nil && read("HTTP/1.1 ok") == nil)
    }
}
