import Testing
import islet

@Suite("The events of a scenario")
struct ScenarioEventsTests {
    private func event(_ seq: Int) -> [UInt8] {
        Array(#"{"epoch":"e","seq":\#(seq),"at":1767225600000,"event":"activity.updated"}"#.utf8)
    }

    @Test("nothing can be said of them once some were not kept")
    func cut() {
        let events = ScenarioEvents(room: 2)
        let topic = Array("com.example/activity/T/0190".utf8)
        for seq in 1...2 { events.take(topic, event(seq)) }
        #expect(events.problem == nil)
        events.take(topic, event(3))
        #expect(events.problem?.hasPrefix("more than 2 events came") == true)
    }
}
