import IsletCore
import Testing

/// `activity.tap`: an event that counts, and changes nothing.
@Suite("Activities: taps")
struct ActivityTapTests {
    private func tap(_ rig: EngineRig, _ id: EntityID, url: String?, ifRevision: UInt64? = nil) -> Engine.Outcome {
        var frame = FrameBuilder()
        var tap = ActivityTap(address: ActivityAddress(app: frame.run("com.a"), target: .id(id)))
        tap.url = frame.run(url)
        return rig.send(.activityTap(tap), frame, EngineRig.envelope(.local, ifRevision: ifRevision))
    }

    @Test("it is an event and a revision; state, cause and dates stay")
    func tapped() {
        let rig = EngineRig()
        let id = rig.started()
        let before = rig.record(id)?.machine
        #expect(tap(rig, id, url: "\"a://b\"").text == "applied")
        #expect(rig.told == ["tapped \(id.short) r2 active>active command"] && rig.record(id)?.machine == before)
        #expect(rig.events[0].cause == .person)
        #expect(rig.events[0].rule == .tapped && rig.events[0].url?.count == 7)
        #expect(tap(rig, id, url: nil).text == "applied" && rig.events[0].url == nil)
        #expect(tap(rig, id, url: nil, ifRevision: 2).text == "conflict r3")
    }

    @Test("the URL is there until the events are released, each its own")
    func urls() {
        let rig = EngineRig()
        let id = rig.started()
        var engine = Engine(rules: .standard, start: rig.now)
        swap(&engine, &rig.engine)
        for url in ["\"a://1\"", "\"a://22\""] {
            var frame = FrameBuilder()
            var tap = ActivityTap(address: ActivityAddress(app: frame.run("com.a"), target: .id(id)))
            tap.url = frame.run(url)
            let bytes = frame.bytes
            _ = engine.apply(Command(operation: .activityTap(tap)), of: bytes.span, at: rig.now, freshID: EntityID(77))
        }
        let urls = engine.events.map { event in
            event.url.map { String(decoding: engine.interactionBytes[$0.indices], as: UTF8.self) } ?? "-"
        }
        #expect(urls == ["\"a://1\"", "\"a://22\""])
        engine.releaseEvents()
        #expect(engine.interactionBytes.isEmpty)
    }

    @Test("one that is over is not tapped")
    func over() {
        let rig = EngineRig()
        let id = rig.started()
        var frame = FrameBuilder()
        let address = ActivityAddress(app: frame.run("com.a"), target: .id(id))
        _ = rig.send(.activityEnd(ActivityEnd(address: address)), frame)
        #expect(tap(rig, id, url: nil).text == "ignored ended" && rig.told == [])
        _ = rig.send(.activityDismiss(ActivityDismiss(address: address)), frame)
        #expect(tap(rig, id, url: nil).text == "ignored dismissed")
        #expect(tap(rig, EntityID(99), url: nil).text == "notFound")
    }
}
