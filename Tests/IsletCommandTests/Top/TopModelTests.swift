import IsletClient
import Testing
import islet

@Suite("What a top does")
struct TopModelTests {
    private let rows = [
        TopSample.activity("order-3", staleIn: 3_000), TopSample.activity("order-1", state: "stale", staleIn: 1_000),
        TopSample.activity("order-2"),
    ]

    private func sample() -> TopSample {
        var sample = TopSample()
        sample.apply(.tick(at: 0))
        sample.answer(rows, at: 10)
        return sample
    }

    @Test("It asks at once, then once in each interval, and never twice at a time")
    func asking() {
        var sample = TopSample()
        sample.apply(.tick(at: 0))
        #expect(sample.effects == [.read(sample.model.request)])
        sample.apply(.tick(at: 1_500))
        #expect(sample.effects == [])
        sample.answer(rows, at: 1_600)
        // It took long: the service has as much time again.
        sample.apply(.tick(at: 3_100))
        #expect(sample.effects == [])
        sample.apply(.tick(at: 3_200))
        #expect(sample.effects == [.read(sample.model.request)])
    }

    @Test("Rows come by their next deadline, those without one last")
    func order() {
        var sample = sample()
        #expect(sample.names == ["order-1", "order-3", "order-2"])
        sample.press(.character("r"))
        #expect(sample.names == ["order-3", "order-1", "order-2"])
    }

    @Test("The selection stays on its row when others come and go")
    func selection() {
        var sample = sample()
        sample.press(.down)
        #expect(sample.selected == "order-3")
        sample.answer(rows + [TopSample.activity("order-0", staleIn: 10)], at: 1_010)
        #expect(sample.names == ["order-0", "order-1", "order-3", "order-2"])
        #expect(sample.selected == "order-3")
        sample.answer([TopSample.activity("order-9")], at: 2_010)
        #expect(sample.selected == "order-9")
        sample.answer([], at: 3_010)
        #expect(sample.selected == nil)
        sample.press(.down, .up, .end, .pageDown, .enter, .character("e"), .character("t"))
        #expect(sample.text.contains("there are no activities now"))
    }

    @Test("A filter takes effect with each key, is asked of the service when it is entered, and Esc takes it away")
    func filter() {
        var sample = sample()
        sample.press(.character("/"))
        sample.type("state=st")
        #expect(sample.names == ["order-1"])
        sample.type("ale")
        sample.press(.enter)
        #expect(sample.effects == [.read(sample.model.request)])
        #expect(sample.model.request.filter.fields(for: .activities) == ["state": .string("stale")])
        sample.press(.escape)
        #expect(sample.names.count == 3)
        sample.press(.character("/"), .character("q"), .character("?"))
        #expect(sample.text.contains("/q?"))
        sample.press(.backspace, .backspace, .backspace)
        #expect(!sample.text.contains("/q"))
        #expect(!sample.effects.contains(.quit))
    }

    @Test("While it is paused nothing is asked, but what is looked at for the first time")
    func pause() {
        var sample = sample()
        sample.press(.character("p"))
        #expect(sample.text.contains("PAUSED"))
        sample.apply(.tick(at: 60_000))
        #expect(sample.effects == [])
        sample.press(.character("3"))
        #expect(sample.effects == [.read(sample.model.request)])
        sample.answer([], at: 60_010)
        #expect(sample.effects == [])
        sample.press(.character("p"))
        sample.apply(.tick(at: 70_000))
        #expect(sample.effects == [.read(sample.model.request)])
    }

    @Test("Details and explanations are asked for each time; q leaves them, then the top")
    func panels() {
        var sample = sample()
        sample.press(.character("e"))
        #expect(sample.effects == [.read(sample.model.request)])
        sample.answer(rows, at: 20, panel: ["1.  00:00:00  active: started", "Now it is active."])
        #expect(sample.text.contains("Why is it so? order-1") && sample.text.contains("Now it is active."))
        sample.press(.character("q"))
        #expect(sample.effects.first != .quit)
        #expect(sample.names.count == 3)
        sample.press(.character("t"))
        #expect(sample.effects.first == .follow(prefix: "com.example.pizza/activity/Delivery/" + id("order-1")))
        #expect(sample.text.contains("joining"))
        sample.apply(.tail([]))
        sample.apply(.tail(["00:00:01  updated \u{1B}[2J"]))
        #expect(sample.text.contains("updated ␛[2J"))
        sample.press(.escape)
        #expect(sample.effects.first == .unfollow)
        sample.press(.character("q"))
        #expect(sample.effects == [.quit])
    }

    private func id(_ key: String) -> String { TopSample.activity(key)["id"]?.string ?? "" }

    @Test("A tail keeps a thousand lines")
    func tail() {
        var sample = sample()
        sample.press(.character("T"))
        #expect(sample.effects.first == .follow(prefix: ""))
        for number in 0..<30 { sample.apply(.tail((0..<100).map { "event \(number * 100 + $0)" })) }
        #expect(sample.text.contains("event 2999"))
        sample.press(.home)
        #expect(sample.text.contains("event 2000") && sample.text.contains("of 1000"))
    }

    @Test("A service that does not answer is away until it does, and what is shown stays")
    func away() {
        var sample = sample()
        sample.apply(.tick(at: 1_100))
        sample.apply(.tick(at: 4_200))
        #expect(sample.text.contains("NO ANSWER for 3 s") && sample.names.count == 3)
        sample.apply(.failed("no answer", at: 6_100))
        #expect(sample.text.contains("NO ANSWER for 5 s"))
        sample.apply(.tick(at: 12_000))
        #expect(sample.effects == [.read(sample.model.request)])
        sample.answer(rows, at: 12_010)
        #expect(sample.text.contains("live") && !sample.text.contains("NO ANSWER"))
    }

    @Test("Rates are made of two readings, and of none across a restart")
    func rates() {
        var sample = sample()
        sample.answer(rows, at: 2_010, taken: 2_408)
        #expect(sample.text.contains("commands  1 204/s"))
        let before = TopFigures(stats: TopSample.stats(taken: 100, at: 5_000))
        let after = TopFigures(stats: TopSample.stats(taken: 10, at: 50))
        let none = TopRates(from: before, to: before, milliseconds: 0)
        #expect(TopRates(from: before, to: after, milliseconds: 1_000) == none)
    }

    @Test("No key and no size brings it down", arguments: 0..<40)
    func random(seed: UInt64) {
        var sample = sample()
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(truncatingIfNeeded: state >> 33) % bound
        }
        let keys: [Key] = [
            .enter, .escape, .backspace, .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .tab, .backTab,
            .control("u"), .control("w"), .control("l"), .delete,
        ] + "/?sSrpetTkjgGd12345 x=*".map { .character($0) }
        for step in 0..<400 {
            switch next(10) {
            case 0: sample.apply(.resized(ScreenSize(columns: next(140), rows: next(40))))
            case 1:
                let many = (0..<next(30)).map { TopSample.activity("order-\($0)", staleIn: Int64(next(100_000))) }
                sample.answer(many, at: Int64(step) * 100, panel: many.map(\.description))
            case 2: sample.apply(.tail(["a line"]))
            case 3: sample.apply(.failed("no answer", at: Int64(step) * 100))
            case _: sample.press(keys[next(keys.count)])
            }
            _ = sample.text
        }
    }
}
