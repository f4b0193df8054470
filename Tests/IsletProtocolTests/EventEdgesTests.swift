import IsletCore
import IsletProtocol
import Testing

@Suite("What events can say")
struct EventEdgesTests {
    @Test("stands for each of them, and each cause and state is one of an event")
    func complete() {
        let names =
            ActivityEventName.allCases.map { "\($0.wireName)" } + ControlEventName.allCases.map { "\($0.wireName)" }
            + WidgetEventName.allCases.map { "\($0.wireName)" } + GroupEvent.Name.allCases.map { "\($0.wireName)" }
        #expect(Set(names) == Set(EventEdges.all.keys))
        func said(_ family: String, _ words: (EventEdges) -> [String]) -> Set<String> {
            Set(EventEdges.all.filter { $0.key.hasPrefix(family) }.values.flatMap(words))
        }
        #expect(said("activity.") { $0.causes } == Set(Cause.allCases.map { "\($0.wireName)" }))
        #expect(said("control.") { $0.causes } == Set(ControlCause.allCases.map { "\($0.wireName)" }))
        #expect(said("widget.") { $0.causes } == Set(WidgetCause.allCases.map { "\($0.wireName)" }))
        #expect(said("activity.") { $0.to } == Set(ActivityState.allCases.map { "\($0.wireName)" }))
        #expect(said("control.") { $0.to } == Set(ControlState.allCases.map { "\($0.wireName)" }))
        #expect(said("widget.") { $0.to } == Set(WidgetState.allCases.map { "\($0.wireName)" }))
    }

    @Test("tells what comes from what never does")
    func words() throws {
        let stale = try #require(EventEdges.all["activity.stale"])
        #expect(stale.allow(from: "active", to: "stale", cause: "staleDate"))
        #expect(stale.allow(from: nil, to: nil, cause: "heartbeat"))
        #expect(!stale.allow(from: "ended", to: "stale", cause: "staleDate"))
        #expect(!stale.allow(from: "active", to: "active", cause: "staleDate"))
        #expect(!stale.allow(from: "active", to: "stale", cause: "command"))
    }
}
