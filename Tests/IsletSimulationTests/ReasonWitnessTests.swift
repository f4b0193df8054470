import IsletOracle
import Testing

/// The witness of controls judges what is shown of a provider's reason: it lets pass what was said, and nothing else.
@Suite struct ReasonWitnessTests {
    private static let at: Int64 = 1_790_000_000_000
    private static let id = "01a0c453-8129-7edd-9805-20e8b4b559d9"
    private static let topic = "com.example.pizza/control/Torch/\(id)"

    private func json(_ text: String) throws -> JSON { try #require(JSON(Array(text.utf8))) }

    /// What the witness finds wrong where a provider says something of a call, and the event tells something of it.
    private func complaint(
        said: String??, told: String?, failure: String = "threw", then reason: String? = nil
    ) throws -> String? {
        let witness = ControlWitness()
        witness.read(
            try json(
                """
                {"seq":1,"at":\(Self.at),"event":"control.added","to":"loading","cause":"command","control":{\
                "id":"\(Self.id)","app":"com.example.pizza","kind":"Torch","template":"toggle","state":"loading",\
                "revision":1,"value":true,"valueSource":"preview","isDisabled":false,"isRedacted":false,\
                "addedAt":\(Self.at),"cause":"command"}}
                """), topic: Self.topic)
        witness.called(
            try json(
                """
                {"call":"1","op":"control.value","app":"com.example.pizza","kind":"Torch","control":"\(Self.id)",\
                "attempt":1,"within":300}
                """), committed: 1, run: 1, at: 0)
        if let said { witness.failed("1", saying: said) }
        let member = told.map { #","failureReason":"\#($0)""# } ?? ""
        witness.read(
            try json(
                """
                {"seq":2,"at":\(Self.at),"event":"control.failed","from":"loading","to":"preview","cause":"provider",\
                "control":{"id":"\(Self.id)","state":"preview","revision":2,"failure":"\(failure)"\(member),\
                "cause":"provider","next":{"at":\(Self.at + 1_000),"cause":"retry"}}}
                """), topic: Self.topic)
        guard let reason else { return witness.complaint }
        witness.read(
            try json(
                """
                {"seq":3,"at":\(Self.at + 1_000),"event":"control.reloading","from":"preview","to":"loading",\
                "cause":"retry","lateBy":0,"control":{"id":"\(Self.id)","state":"loading","revision":3,\
                "failureReason":\(reason),"cause":"retry","next":null}}
                """), topic: Self.topic)
        return witness.complaint
    }

    @Test func whatWasSaidIsShown() throws {
        #expect(try complaint(said: "db down", told: "db down") == nil)
        #expect(try complaint(said: .some(nil), told: nil) == nil)
        #expect(try complaint(said: "db down", told: nil, failure: "badAnswer") == nil)
        #expect(try complaint(said: "db down", told: "db down", then: "\"db down\"") == nil)
    }

    @Test func nothingElseIs() throws {
        #expect(try complaint(said: "db down", told: "db up") != nil)
        #expect(try complaint(said: "db down", told: nil) != nil, "it is lost")
        #expect(try complaint(said: .some(nil), told: "db down") != nil, "nobody gave one")
        #expect(try complaint(said: nil, told: nil) != nil, "nobody said that it failed")
        #expect(try complaint(said: "db down", told: "db down", failure: "badAnswer") != nil)
        #expect(try complaint(said: "db down", told: "db down", then: "null") != nil, "it goes before its time")
    }
}
