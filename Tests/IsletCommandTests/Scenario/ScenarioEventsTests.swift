import Testing
import islet

@Suite("The events of a scenario")
struct ScenarioEventsTests {
    private let topic = Array("com.example/activity/T/0190".utf8)

    private func event(_ seq: Int, epoch: String = "e") -> [UInt8] {
        Array(#"{"epoch":"\#(epoch)","seq":\#(seq),"at":1767225600000,"event":"activity.updated"}"#.utf8)
    }

    private func join(_ apps: String) -> [UInt8] { Array(#"{"at":1767225600000,"epoch":"e","apps":{\#(apps)}}"#.utf8) }

    private func at(_ seq: Int, epoch: String = "e", app: String = "com.example") -> String {
        #""\#(app)":{"epoch":"\#(epoch)","seq":\#(seq)}"#
    }

    @Test("nothing can be said of them once some were not kept")
    func cut() {
        let events = ScenarioEvents(room: 2)
        for seq in 1...2 { events.take(topic, event(seq)) }
        #expect(events.problem() == nil)
        events.take(topic, event(3))
        #expect(events.problem()?.hasPrefix("more than 2 events came") == true)
    }

    @Test("nothing is missing where numbers follow each other, also of an app that begins")
    func whole() {
        let events = ScenarioEvents()
        events.stand(join(at(4)))
        events.take(topic, event(5))
        events.take(Array("com.new/activity/T/0190".utf8), event(1))
        events.stand(join("\(at(5)),\(at(1, app: "com.new"))"))
        events.take(topic, event(6))
        events.take(Array("com.new/~".utf8), Array(#"{"epoch":"e","seq":1,"at":1767225600000}"#.utf8))
        events.stand(join("\(at(6)),\(at(1, app: "com.new")),\(at(0, app: "com.idle"))"))
        #expect(events.problem() == nil)
    }

    @Test("a number that is passed over tells that events are missing before it")
    func passedOver() {
        let events = ScenarioEvents()
        events.stand(join(at(4)))
        events.take(topic, event(5))
        events.take(topic, event(7))
        events.take(topic, event(8))
        #expect(events.problem()?.hasPrefix("events are missing") == true)
        #expect(events.problem(since: 1) != nil)
        #expect(events.problem(since: 2) == nil)
    }

    @Test(
        "a join tells what is missing behind the last that came",
        arguments: [
            #""com.example":{"epoch":"e","seq":6}"#, #""com.example":{"epoch":"f","seq":5}"#, "",
            #""com.example":{"epoch":"e","seq":5},"com.new":{"epoch":"e","seq":1}"#,
        ])
    func behind(_ apps: String) {
        let events = ScenarioEvents()
        events.stand(join(at(4)))
        events.take(topic, event(5))
        events.stand(join(at(5)))
        #expect(events.problem() == nil)
        events.stand(join(apps))
        #expect(events.problem(since: 1) != nil)
    }

    @Test("an event of another history, or of an app that began unheard, tells it, too")
    func otherHistory() {
        for next in [event(6, epoch: "f"), event(1, epoch: "f")] {
            let events = ScenarioEvents()
            events.stand(join(at(5)))
            events.take(topic, next)
            #expect(events.problem() != nil)
        }
        let events = ScenarioEvents()
        events.stand(join(""))
        events.take(topic, event(2))
        #expect(events.problem() != nil)
    }

    @Test("where a join names no apps, only what comes is compared")
    func unnamed() {
        let events = ScenarioEvents()
        events.stand(Array(#"{"error":{"code":"tooMany","message":"more than 1000","retry":"never"}}"#.utf8))
        events.take(topic, event(5))
        events.take(topic, event(6))
        #expect(events.problem() == nil)
        events.take(topic, event(8))
        #expect(events.problem() != nil)
    }
}
