import IsletProtocol
import Testing

@Suite("The guess whether a frame registers a provider")
struct RegistrationHintTests {
    private func mayBeRegistration(_ frame: String) -> Bool { OperationName.mayBeRegistration(Array(frame.utf8).span) }

    @Test(
        "is right wherever it says no",
        arguments: [
            #"{"op":"provider.register","app":"a.b","kinds":[]}"#, #"{"op": "provider.register", "app": "a.b"}"#,
            #"{"op":"provider\u002eregister","app":"a.b"}"#, #"{"op":"\u0070rovider.register","app":"a.b"}"#,
            #"{"op":"provider.registe\u0072","app":"a.b"}"#, #"{"\u006fp":"provider.register","app":"a.b"}"#,
            #"{"app":"a.b","kinds":[],"op":"provider.register"}"#, #" { "op" : "provider.register","app":"a.b"}"#,
            #"{"op":"provider.register"}"#,
        ])
    func registrations(frame: String) { #expect(mayBeRegistration(frame)) }

    @Test(
        "says no to what begins with another op",
        arguments: [
            #"{"op":"activity.update","app":"a.b","id":"x","contentState":{"op":"provider.register"}}"#,
            #"{"op": "activity.update", "app": "a.b", "key": "provider.register"}"#,
            #"{"op":"provider.answer","provider":"x","call":"1"}"#, #"{"op":"provider.list","app":"a.b"}"#,
            #"{"op":"service.ping"}"#, "", "{", "\u{0}abc",
        ])
    func others(frame: String) { #expect(!mayBeRegistration(frame)) }
}
