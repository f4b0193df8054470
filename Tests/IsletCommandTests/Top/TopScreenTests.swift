import IsletClient
import Testing
import islet

@Suite("What a top shows")
struct TopScreenTests {
    private func sample(_ count: Int = 3, total: Int64? = nil) -> TopSample {
        var sample = TopSample()
        sample.apply(.tick(at: 0))
        let rows = (0..<count).map { TopSample.activity("order-\($0 + 100)", staleIn: Int64($0 + 1) * 60_000) }
        sample.answer(rows, total: total, at: 3_600_000)
        return sample
    }

    @Test("80 columns and 24 rows hold the figures, the bar, the tabs, the rows and the keys")
    func standard() {
        let lines = sample().lines
        #expect(lines.count == 24)
        #expect(TopScreen.lines(sample().model).allSatisfy { $0.columns <= 80 })
        #expect(lines[0].hasPrefix("islet top  tcp://127.0.0.1:7411  0.1.0 full  up 1 h"))
        #expect(lines[0].hasSuffix("00:00:00 UTC  live"))
        #expect(lines[2] == "timers    12 031 armed  2 overdue  next in 1.5 s  lateness p50 0 p99 3 max 14 ms")
        #expect(lines[3] == "commit    p50 0.4 p99 1.9 max 12 ms  answer p50 0.03 p99 0.05 max 0.06 ms")
        #expect(lines[4].contains("subscribers 3, 1 lagging by 1 200 at most"))
        #expect(lines[5].contains("active 12 031") && lines[5].contains("stale 7"))
        #expect(lines[6] == " 1 Problems  2 Activities 12 038  3 Controls  4 Widgets  5 Providers  6 Subs ")
        #expect(lines[7].hasPrefix("NAME") && lines[7].contains("NEXT▲"))
        #expect(lines[8].hasPrefix("order-100") && lines[8].contains("stale in 1 m"))
        #expect(lines[22] == "showing 3 of 3 · by next")
        #expect(lines[23].hasPrefix("q quit  / filter"))
    }

    @Test("Where there are more than were asked for, it says so")
    func many() {
        var sample = sample(200, total: 12_031)
        #expect(sample.text.contains("showing 200 of 12 031"))
        sample.press(.character("/"))
        sample.type("order-123")
        sample.press(.enter)
        #expect(sample.text.contains("showing 1 found among 200 of 12 031"))
    }

    @Test("A service that was never there is waited for")
    func waiting() {
        var sample = TopSample()
        sample.apply(.tick(at: 0))
        sample.apply(.failed("no answer", at: 5_000))
        #expect(sample.text.contains("waiting for tcp://127.0.0.1:7411"))
    }

    @Test("Every screen has as many lines as it has rows, none too wide", arguments: [1, 2, 5, 9, 14, 24, 60])
    func sizes(rows: Int) {
        var sample = sample(30)
        for columns in [1, 2, 10, 40, 80, 200] {
            sample.apply(.resized(ScreenSize(columns: columns, rows: rows)))
            for keys: [Key] in [[], [.enter], [.escape, .character("?")], [.escape, .character("T")], [.escape]] {
                for key in keys { sample.press(key) }
                let lines = TopScreen.lines(sample.model)
                #expect(lines.count == rows && lines.allSatisfy { $0.columns <= columns })
            }
        }
    }

    @Test("A line for each interval has the figures under their titles")
    func line() {
        let figures = TopFigures(stats: TopSample.stats(taken: 0, at: 1_000))
        let later = TopFigures(stats: TopSample.stats(taken: 1_204, at: 2_000))
        let line = TopLines.line(later, TopRates(from: figures, to: later, milliseconds: 1_000))
        let cells = Dictionary(
            uniqueKeysWithValues: zip(TopLines.head.split(separator: " "), line.split(separator: " ")))
        #expect(cells["TIME"] == "00:00:00" && cells["CMD/s"] == "1204" && cells["ACTIVE"] == "12031")
        #expect(cells["LATE99"] == "3" && cells["COMMIT99"] == "1.9" && cells["LAGGING"] == "1")
        let old = TopFigures(info: ["uptime": .integer(1)])
        #expect(TopLines.line(old, TopRates(from: old, to: old, milliseconds: 1)).contains("-"))
    }

    @Test(
        "Figures are short",
        arguments: [
            (0, "0"), (0.004, "0.01"), (0.04, "0.04"), (0.4, "0.4"), (1.94, "1.9"), (2.0, "2"), (9.96, "10"),
            (12.4, "12"), (12_345, "12345"),
        ])
    func milliseconds(value: Double, shown: String) {
        #expect(TopText.milliseconds(value) == shown)
    }

    @Test("Rates and ages are short too")
    func short() {
        #expect(TopText.count(.min) == "-9 223 372 036 854 775 807" && TopText.milliseconds(-1e300) == "0.01")
        #expect(TopText.rate(nil) == "-" && TopText.rate(0) == "0" && TopText.rate(0.25) == "0.3")
        #expect(TopText.rate(1_204.4) == "1 204" && TopText.rate(3) == "3")
        #expect(TopText.age(-5) == "0s" && TopText.age(99_000) == "99s" && TopText.age(600_000) == "10m")
        #expect(TopText.age(7_200_000) == "2h" && TopText.age(172_800_000) == "2d")
        #expect(TopText.bytes(61_000_000) == "61 MB" && TopText.bytes(1_450_000_000) == "1.4 GB")
    }
}

@Suite("A top's filter")
struct TopFilterTests {
    private let row = TopSample.activity("order-7", state: "stale")

    private func fits(_ text: String, isTyping: Bool = false) -> Bool {
        TopFilter(text).matches(row, .activities, cells: ["order-7", "stale"], isTyping: isTyping)
    }

    @Test("All words must stand in the row, in any case")
    func words() {
        #expect(fits("") && fits("ORDER stale") && fits("pizza") && !fits("order-8") && !fits("order pending"))
    }

    @Test("A value is whole, as in the lists; one that is being typed is a beginning")
    func values() {
        #expect(fits("state=stale") && !fits("state=st") && fits("state=st", isTyping: true))
        #expect(fits("key=order-7") && !fits("key=order") && !fits("key=order-") && !fits("app=com.example"))
        #expect(fits("key=order", isTyping: true) && fits("key=order- stale", isTyping: true))
        #expect(fits("type=Delivery") && !fits("kind=Delivery") && fits("type=Delivery order key=order-7"))
        #expect(!fits("device=phone-1") && fits("device=", isTyping: true) && !fits("device=") && !fits("a=b"))
        #expect(fits("key='order-7'") && fits("(key=order-7)"))
        for wrong in ["state=st", "state=st*", "state=", "a=b"] { #expect(TopFilter(wrong).problem != nil) }
        for well in ["", "state=stale", "key=order- stale", "order stale"] { #expect(TopFilter(well).problem == nil) }
        #expect(TopFilter("app=com.example").includes(app: "com.example"))
        #expect(!TopFilter("app=com.example").includes(app: "com.example.pizza"))
    }

    @Test("What is of the lists' grammar is read so; until it is, all rows are seen while it is typed")
    func expressions() {
        #expect(fits("state=stale and key~order-") && fits("key~ORDER*") && !fits("state!=stale") && fits("revision<2"))
        #expect(fits("state=stale and ", isTyping: true) && !fits("state=stale and "))
        #expect(TopFilter("state!=stale").fields(for: .activities) == [:])
        #expect(TopFilter("state=stale or key~2").fields(for: .activities) == [:])
        #expect(TopFilter("state=stale and key~2").fields(for: .activities) == ["state": .string("stale")])
    }

    @Test("What the service can look for is asked of it, and nothing that it would refuse")
    func fields() {
        let filter = TopFilter("state=stale key=order- device=phone-1 type=Delivery word")
        #expect(
            filter.fields(for: .activities) == [
                "state": .string("stale"), "key": .string("order-"), "device": .string("phone-1"),
                "type": .string("Delivery"),
            ])
        #expect(TopFilter("state=no key=a/b device=ü").fields(for: .activities) == [:])
        #expect(TopFilter("state=stale key=x").fields(for: .controls) == [:])
        #expect(TopFilter("order-7").possibleKey == "order-7" && TopFilter("two words").possibleKey == nil)
        #expect(TopFilter("a/b").possibleKey == nil)
    }
}
