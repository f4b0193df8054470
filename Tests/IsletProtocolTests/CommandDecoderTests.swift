import IsletCore
import IsletProtocol
import Testing

@Suite("Decoded commands")
struct CommandDecoderTests {
    static let id = "01980a1b-2c3d-7e4f-8123-456789abcdef"
    static let entity = EntityID(high: 0x0198_0A1B_2C3D_7E4F, low: 0x8123_4567_89AB_CDEF)

    @Test("activity.start with every field")
    func start() throws {
        let decoded = Decoded(
            """
            {"op":"activity.start","req":"c7-184","client":"01980A1B-2C3D-7E4F-8123-456789ABCDEF","ttl":5000,\
            "source":"push","ack":"none","app":"com.example.pizza","type":"Delivery.v2",\
            "attributes":{ "order" : 1042 },"contentState":{"eta":[1, 2]},"staleDate":1763700600000,\
            "relevanceScore":12.5,"style":"transient","startDate":1763700500000,"alert":{"title":"T"},\
            "pushType":{"channel":"dHN0"},"device":"phone:1","key":"order-7","id":"\(Self.id)","background":true,\
            "ifExists":"update","ifRevision":3}
            """)
        let envelope = try #require(decoded.envelope)
        #expect(decoded.text(envelope.req) == "c7-184")
        #expect(envelope.client == Self.entity)
        #expect(envelope.ttl == 5000)
        #expect(envelope.ifRevision == 3)
        #expect(envelope.source == .push)
        #expect(!envelope.wantsAnswer)
        guard case .activityStart(let start) = decoded.operation else {
            Issue.record("\(decoded.outcome)")
            return
        }
        #expect(decoded.text(start.app) == "com.example.pizza")
        #expect(decoded.text(start.type) == "Delivery.v2")
        #expect(decoded.text(start.attributes) == "{ \"order\" : 1042 }")
        #expect(decoded.text(start.contentState) == "{\"eta\":[1, 2]}")
        #expect(start.staleDate == Instant(1_763_700_600_000))
        #expect(start.relevanceScore == 12.5)
        #expect(start.style == .transient)
        #expect(start.startDate == Instant(1_763_700_500_000))
        #expect(decoded.text(start.alert) == "{\"title\":\"T\"}")
        #expect(decoded.text(start.pushType) == "{\"channel\":\"dHN0\"}")
        #expect(decoded.text(start.device) == "phone:1")
        #expect(decoded.text(start.key) == "order-7")
        #expect(start.id == Self.entity)
        #expect(start.background == true)
        #expect(start.updatesExisting)
    }

    @Test("what is absent or null has its default")
    func defaults() throws {
        let nulls = Field.allCases.filter { OperationName.activityStart.fields.contains($0) }
            .filter { ![.op, .app, .type, .attributes, .contentState].contains($0) }
            .map { "\"\($0.name)\":null" }.joined(separator: ",")
        for extra in ["", "," + nulls] {
            let decoded = Decoded(
                #"{"op":"activity.start","app":"a","type":"T","attributes":{},"contentState":{}\#(extra)}"#)
            #expect(try #require(decoded.envelope) == Envelope())
            guard case .activityStart(let start) = decoded.operation else {
                Issue.record("\(decoded.verdict)")
                return
            }
            #expect(
                start
                    == ActivityStart(
                        app: start.app, type: start.type, attributes: start.attributes, contentState: start.contentState
                    ))
        }
    }

    @Test("activity.update by id, and by key with and without a device")
    func update() throws {
        var decoded = Decoded(
            """
            {"op":"activity.update","req":"1","app":"com.example.pizza","id":"\(Self.id)","contentState":{"a":1},\
            "staleDate":1763700600000,"relevanceScore":-3,"alert":{},"timestamp":1763700500000}
            """)
        guard case .activityUpdate(let update) = decoded.operation else {
            Issue.record("\(decoded.verdict)")
            return
        }
        #expect(update.address.target == .id(Self.entity))
        #expect(decoded.text(update.contentState) == "{\"a\":1}")
        #expect(update.staleDate == Instant(1_763_700_600_000))
        #expect(update.relevanceScore == -3)
        #expect(decoded.text(update.alert) == "{}")
        #expect(update.timestamp == Instant(1_763_700_500_000))

        decoded = Decoded(#"{"op":"activity.update","app":"a","key":"k","device":"d","contentState":{}}"#)
        guard case .activityUpdate(let byKey) = decoded.operation, case .key(let key, let device) = byKey.address.target
        else {
            Issue.record("\(decoded.verdict)")
            return
        }
        #expect(decoded.text(key) == "k")
        #expect(decoded.text(device) == "d")
        decoded = Decoded(#"{"op":"activity.update","app":"a","key":"k","contentState":{}}"#)
        guard case .activityUpdate(let noDevice) = decoded.operation, case .key(_, nil) = noDevice.address.target else {
            Issue.record("\(decoded.verdict)")
            return
        }
    }

    @Test(
        "activity.end with each dismissal policy",
        arguments: zip(
            [
                "", #","dismissalPolicy":"default""#, #","dismissalPolicy":"immediate""#,
                #","dismissalPolicy":{ "after" : 1763700600000 }"#, #","dismissalPolicy":null"#,
                #","dismissalPolicy":{"\u0061fter":1763700600000}"#,
            ],
            [
                .default, .default, .immediate, .after(Instant(1_763_700_600_000)), .default,
                .after(Instant(1_763_700_600_000)),
            ] as [DismissalPolicy]))
    func end(_ field: String, _ policy: DismissalPolicy) {
        let decoded = Decoded(#"{"op":"activity.end","app":"a","key":"k"\#(field)}"#)
        guard case .activityEnd(let end) = decoded.operation else {
            Issue.record("\(decoded.verdict)")
            return
        }
        #expect(end.dismissalPolicy == policy)
    }

    @Test("the smaller operations")
    func others() throws {
        func operation(_ fields: String) -> IsletCore.Operation? { Decoded("{\(fields)}").operation }
        let target = #""app":"a","id":"\#(Self.id)""#
        if case .activityDismiss(let dismiss) = operation(#""op":"activity.dismiss",\#(target),"by":"system""#) {
            #expect(dismiss.by == .system)
        } else {
            Issue.record("activity.dismiss")
        }
        if case .activityRenew(let renew) = operation(#""op":"activity.renew",\#(target),"staleDate":1763700600000"#) {
            #expect(renew.staleDate == Instant(1_763_700_600_000))
            #expect(renew.contentState == nil)
        } else {
            Issue.record("activity.renew")
        }
        if case .activityHeartbeat(let address) = operation(#""op":"activity.heartbeat",\#(target)"#) {
            #expect(address.target == .id(Self.entity))
        } else {
            Issue.record("activity.heartbeat")
        }
        for op in ["get", "history", "explain"] {
            let decoded = Decoded(#"{"op":"activity.\#(op)",\#(target),"minSeq":7}"#)
            #expect(decoded.envelope?.minSeq == 7)
        }
        if case .activityList(let list) = operation(
            #""op":"activity.list","app":"a","state":"stale","type":"T","device":"d","key":"k","limit":1000,"cursor":"x""#
        ) {
            #expect((list.state, list.limit, list.order) == (.stale, 1000, .none))
        } else {
            Issue.record("activity.list")
        }
        if case .activityList(let list) = operation(#""op":"activity.list","device":"d","order":"presentation""#) {
            #expect((list.app, list.limit, list.order) == (nil, 50, .presentation))
        } else {
            Issue.record("activity.list presentation")
        }
        if case .settingsSet(let set) = operation(#""op":"settings.set","app":"a","activitiesEnabled":false"#) {
            #expect((set.activitiesEnabled, set.frequentPushesEnabled) == (false, nil))
        } else {
            Issue.record("settings.set")
        }
        if case .deviceEvent(let event) = operation(#""op":"device.event","device":"d","event":"uninstall","app":"a""#)
        {
            #expect(event.kind == .uninstall)
            #expect(event.app != nil)
        } else {
            Issue.record("device.event")
        }
        #expect(operation(#""op":"clock.advance","by":0"#) == .clockAdvance(.by(0)))
        #expect(
            operation(#""op":"clock.advance","to":1763700600000"#) == .clockAdvance(.to(Instant(1_763_700_600_000))))
        #expect(operation(#""op":"service.info""#) == .serviceInfo)
        #expect(operation(#""op":"service.ping""#) == .servicePing)
        #expect(operation(#""op":"bulk.credit","req":"1","credit":16"#) == .bulkCredit(16))
        #expect(operation(#""op":"bulk.cancel","req":"1""#) == .bulkCancel)
        if case .bulkSnapshot(let pull) = operation(#""op":"bulk.snapshot","req":"1","app":"a","prefix":"","credit":1"#)
        {
            #expect(pull.prefix != nil)
        } else {
            Issue.record("bulk.snapshot")
        }
        if case .bulkReplay(let pull) = operation(#""op":"bulk.replay","req":"1","app":"a","from":0,"credit":4"#) {
            #expect((pull.from, pull.credit) == (0, 4))
        } else {
            Issue.record("bulk.replay")
        }
        let nonce = String(repeating: "aB", count: 16)
        if case .streamApplied(let applied) = operation(#""op":"stream.applied","nonce":"\#(nonce)","apps":{}"#) {
            #expect(applied.nonce.count == 32)
        } else {
            Issue.record("stream.applied")
        }
    }

    @Test("escapes in names and in the command's own texts are read; payloads stay as they were sent")
    func escapes() throws {
        let decoded = Decoded(
            #"""
            {"\u006fp":"activity\u002eupdate","req":"\u0061\/b","\u0061pp":"com.ex\u0061mple","key":"k\u0031",
            "contentState":{"t":"\u0041"},"relevanceScore":1,"source":"p\u0075sh"}
            """#)
        let envelope = try #require(decoded.envelope)
        #expect(decoded.text(envelope.req) == "a/b")
        #expect(envelope.source == .push)
        guard case .activityUpdate(let update) = decoded.operation, case .key(let key, nil) = update.address.target
        else {
            Issue.record("\(decoded.verdict)")
            return
        }
        #expect(decoded.text(update.address.app) == "com.example")
        #expect(decoded.text(key) == "k1")
        #expect(decoded.text(update.contentState) == #"{"t":"\u0041"}"#)
    }

    @Test("a decoder remembers nothing of the frame before")
    func reuse() {
        var decoder = CommandDecoder()
        let frames = [
            #"{"op":"service.ping","req":"1","zzz":1}"#, #"{"op":"service.ping","r\u0065q":"2"}"#,
            #"{"op":"service.ping"}"#,
            "{", #"{"op":"service.ping","req":"3","req":"4"}"#, #"{"op":"service.ping","req":"5"}"#,
        ]
        let verdicts = frames.map { Decoded(Array($0.utf8), with: &decoder).verdict }
        #expect(verdicts == ["unknownField zzz", "ok", "ok", "badMessage invalidJSON", "badField req twice", "ok"])
        let last = Decoded(Array(frames[5].utf8), with: &decoder)
        #expect(last.text(last.envelope?.req) == "5")
    }

    @Test("a refused command's envelope is echoed as far as it can be read")
    func refusedEnvelope() {
        func envelope(_ text: String) -> Envelope? {
            guard case .failure(let refused) = Decoded(text).outcome else { return nil }
            return refused.envelope
        }
        #expect(envelope(#"{"op":"x","req":"r","ack":"none"}"#)?.wantsAnswer == false)
        #expect(envelope(#"{"op":"x","req":"r"}"#)?.req?.count == 1)
        #expect(envelope(#"{"req":"r"}"#)?.req?.count == 1)
        #expect(envelope(#"{"op":"service.ping","req":5,"ack":"none"}"#)?.req == nil)
        #expect(envelope(#"{"op":"service.ping","req":"r","client":1}"#)?.req?.count == 1)
        #expect(envelope(#"{"op":"service.ping","req":"r","ack":"some"}"#)?.wantsAnswer == true)
        #expect(envelope(#"{"op":"service.ping","req":"r""#)?.req == nil)
    }

    @Test("a field's index is its raw value, and its name is found again")
    func fieldIndexes() {
        for field in Field.allCases { #expect(field.index == Int(field.rawValue)) }
        #expect(Field.allCases.count <= CommandDecoder.maximumFields)
        for name in OperationName.allCases { #expect(name.fields.contains(.op)) }
    }

    @Test("a frame of 65 536 bytes is read, and one byte more is not")
    func length() {
        let head = #"{"op":"service.ping""#
        let exact = head + String(repeating: " ", count: 65_536 - head.utf8.count - 1) + "}"
        #expect(Decoded(exact).verdict == "ok")
        #expect(Decoded(exact + " ").verdict == "badMessage frameTooLong")
    }
}
