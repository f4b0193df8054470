import IsletCore
import Testing

@Suite struct ConfigurationFormTests {
    private func form(_ json: String) -> [UInt8] {
        Array(json.utf8).withUnsafeBytes { ConfigurationForm($0).bytes }
    }

    @Test(arguments: [
        (#"{"city":"Köln","n":1}"#, #" { "n" : 1.0 , "city" : "K\u00f6ln" } "#),
        (#"{"a":"\"\\/\n"}"#, #"{"a":"\u0022\u005c\/\u000A"}"#),
        (#"{"a":"😀"}"#, #"{"a":"\ud83d\uDE00"}"#),
        (#"{"a":{"x":[1,2],"y":null}}"#, "{\"a\":\t{\"y\":null,\r\n\"x\":[ 1e0 , 20E-1 ]}}"),
        (#"{"a":0}"#, #"{"a":-0.00e7}"#),
        (#"{"a":1200}"#, #"{"a":1.2e+0003}"#),
        ("", "{}"),
        ("{}", #"{"a":null}"#),
    ])
    func spellingsOfOneConfigurationAreOne(one: String, other: String) {
        #expect(form(one) == form(other))
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":"1"}"#), (#"{"a":[1,2]}"#, #"{"a":[2,1]}"#), (#"{"a":1}"#, #"{"a":-1}"#),
        (#"{"a":1}"#, #"{"a":10}"#), (#"{"a":9007199254740993}"#, #"{"a":9007199254740992}"#),
        (#"{"a":"null"}"#, "{}"), (#"{"a":[null]}"#, #"{"a":[]}"#), (#"{"a":{"b":null}}"#, #"{"a":{}}"#),
        (#"{"a":"\ud83d"}"#, #"{"a":"\ud83e"}"#), (#"{"a":{"b":1,"b":2}}"#, #"{"a":{"b":2,"b":1}}"#),
        (#"{"a":"b\",\"c"}"#, #"{"a":"b","c":""}"#), (#"{"a":true}"#, #"{"a":false}"#),
    ])
    func differentConfigurationsStayDifferent(one: String, other: String) {
        #expect(form(one) != form(other))
    }

    @Test func theFormOfAFormIsItself() {
        let once = String(decoding: form(#"{ "b":"\u0022\\","a":1.50e1 }"#), as: UTF8.self)
        #expect(once == #"{"a":15,"b":"\"\\"}"#)
        #expect(form(once) == Array(once.utf8))
    }

    private static func parameter(_ name: String, _ value: String) -> KindParameter {
        var parameter = KindParameter(name: Array(name.utf8), type: .string)
        parameter.defaultValue = Array(value.utf8)
        return parameter
    }

    @Test(arguments: [
        ("", #"{"a":"x","b":{"c":15}}"#), ("{}", #"{"a":"x","b":{"c":15}}"#),
        (#"{"b":null,"a":null}"#, #"{"a":"x","b":{"c":15}}"#), (#"{"z":1}"#, #"{"a":"x","b":{"c":15},"z":1}"#),
        (#"{"\u0061":"y"}"#, #"{"a":"y","b":{"c":15}}"#), (#"{"n":2,"b":[]}"#, #"{"a":"x","b":[],"n":2}"#),
        ("{", "{"),
    ])
    func whatIsLeftOutIsFilledInByTheDefaults(written: String, whole: String) {
        let defaults = ConfigurationForm.Defaults([
            Self.parameter("b", #" { "c" : 1.5e1 } "#), Self.parameter("a", #""\u0078""#),
            KindParameter(name: Array("n".utf8), type: .integer),
        ])
        let form = Array(written.utf8).withUnsafeBytes { ConfigurationForm($0, fillingIn: defaults).bytes }
        #expect(String(decoding: form, as: UTF8.self) == whole)
        #expect(form.withUnsafeBytes { ConfigurationForm($0, fillingIn: defaults).bytes } == form)
    }

    /// What cannot come in: it is as it was written, and nothing is read beyond it.
    @Test(arguments: [
        "{", #"{"a"#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"{"a":"\"#, #"{"a":"\ud83"#, #"{"a":-}"#, #"{"a":[1}"#, "x",
        String(repeating: #"{"a":"#, count: 70) + "1" + String(repeating: "}", count: 70),
        #"{"a":1e9999999999}"#,
    ])
    func whatIsNoConfigurationIsAsItWasWritten(text: String) {
        #expect(form(text) == Array(text.utf8))
    }
}
