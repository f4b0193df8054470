import IsletClient
import Testing

/// Actions that end when the service no longer waits for them: it is asked for the truth once more.
@Suite struct LateReloadTests {
    private var now = ContinuousClock.now
    private var machine: ProviderMachine
    private var random = SystemRandomNumberGenerator()

    init() {
        machine = ProviderMachine(
            id: "me", app: "a",
            kinds: [("lamp", .object([])), ("scene", (["reloadsSiblings": .bool(true)] as RawObject).json)],
            capacity: 2_000, grace: .seconds(5), now: now)
        _ = due()
        register(1)
    }

    /// The frames that are sent.
    private func sent(_ effects: [ProviderMachine.Effect]) -> [String] {
        effects.compactMap { effect in
            guard case .send(let frame) = effect else { return nil }
            return String(decoding: frame, as: UTF8.self)
        }
    }

    @discardableResult private mutating func due() -> [String] {
        sent(machine.due(now: now, using: &random))
    }

    @discardableResult private mutating func receive(_ frame: String) -> [String] {
        sent(machine.received(Array(frame.utf8), now: now, using: &random))
    }

    @discardableResult private mutating func register(_ number: Int) -> [String] {
        receive(#"{"req":"register-\#(number)","ok":true,"pingLimit":15000}"#)
    }

    private mutating func disconnect() {
        _ = machine.disconnected(now: now, using: &random)
    }

    /// The connection is lost, and there is a new one.
    private mutating func reconnect(_ number: Int) -> [String] {
        disconnect()
        now += .seconds(1)
        due()
        return register(number)
    }

    private mutating func perform(
        _ call: Int, op: String = "control.perform", kind: String = "lamp", id: String = "c"
    ) -> ProviderCall? {
        receive(#"{"call":"\#(call)","op":"\#(op)","app":"a","kind":"\#(kind)","control":"\#(id)","within":900}"#)
        for effect in machine.begin() {
            if case .begin(let call) = effect { return call }
        }
        return nil
    }

    private mutating func finish(_ call: ProviderCall?) -> [String] {
        guard let call else { return ["did not begin"] }
        return sent(machine.finished(call, .answer(["value": .bool(true)]), now: now))
    }

    private func reload(_ number: Int, _ id: String = "c") -> String {
        #"{"op":"control.reload","req":"reload-\#(number)","app":"a","id":"\#(id)"}"#
    }

    @Test mutating func `one that ends after its connection was lost is told once there is another`() {
        let call = perform(1)
        disconnect()
        #expect(finish(call) == [])
        now += .seconds(1)
        due()
        #expect(register(2) == [reload(1)])
        #expect(receive(#"{"req":"reload-1","ok":true}"#) == [])
        #expect(reconnect(3) == [])
    }

    @Test mutating func `one that ends on the next connection is told at once, and again where that is lost too`() {
        let call = perform(1)
        #expect(reconnect(2) == [])
        #expect(finish(call) == [reload(1)])
        #expect(reconnect(3) == [reload(2)])
        #expect(receive(#"{"req":"reload-1","ok":true}"#) == [])
        #expect(receive(#"{"req":"reload-2","ok":false,"error":{"code":"notFound","retry":"never"}}"#) == [])
        #expect(reconnect(4) == [])
    }

    @Test mutating func `one that the service cancelled is told`() {
        let call = perform(1)
        receive(#"{"op":"provider.cancel","call":"1","reason":"timedOut"}"#)
        #expect(finish(call) == [reload(1)])
    }

    @Test mutating func `one that ends while the provider stops is told before the goodbye`() {
        let (first, second) = (perform(1, id: "c"), perform(2, id: "d"))
        for call in 1...2 { receive(#"{"op":"provider.cancel","call":"\#(call)","reason":"timedOut"}"#) }
        #expect(sent(machine.stop(now: now)) == [#"{"op":"provider.drain","req":"drain-1","provider":"me"}"#])
        #expect(receive(#"{"req":"drain-1","ok":true}"#) == [])
        #expect(finish(first) == [reload(1)])
        #expect(
            finish(second) == [reload(2, "d"), #"{"op":"provider.leave","req":"leave-1","provider":"me"}"#])
    }

    @Test mutating func `of a kind with siblings all are told, once`() {
        let calls = [perform(1, kind: "scene", id: "c"), perform(2, kind: "scene", id: "d"), perform(3, id: "e")]
        disconnect()
        for call in calls { #expect(finish(call) == []) }
        now += .seconds(1)
        due()
        let all = #"{"op":"control.reload","req":"reload-1","app":"a","kind":"scene"}"#
        #expect(register(2) == [all, reload(2, "e")])
    }

    @Test mutating func `a busy service is asked again when it says`() {
        let call = perform(1)
        _ = reconnect(2)
        #expect(finish(call) == [reload(1)])
        let busy = #"{"req":"reload-1","ok":false,"error":{"code":"busy","retry":"later","retryAfter":700}}"#
        #expect(receive(busy) == [])
        #expect(machine.nextWakeUp == now + .milliseconds(700))
        now += .milliseconds(699)
        #expect(due() == [])
        now += .milliseconds(1)
        #expect(due() == [reload(2)])
        #expect(machine.nextWakeUp == now - .milliseconds(700) + .seconds(15))
    }

    @Test mutating func `a value that was only asked for is told to nobody`() {
        let call = perform(1, op: "control.value")
        #expect(reconnect(2) == [] && finish(call) == [])
    }

    @Test(arguments: [1, LateReloads.maximumCount, LateReloads.maximumCount + 1])
    mutating func `very many are one reload of all`(count: Int) {
        let calls = (1...count).map { perform($0, id: "c\($0)") }
        disconnect()
        for call in calls { #expect(finish(call) == []) }
        now += .seconds(1)
        due()
        let told = register(2)
        guard count > LateReloads.maximumCount else {
            #expect(told == (1...count).map { reload($0, "c\($0)") })
            return
        }
        #expect(told == [#"{"op":"control.reload","req":"reload-1","app":"a"}"#])
    }
}
