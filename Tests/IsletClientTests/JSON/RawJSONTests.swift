import IsletClient
import Testing

/// JSON as exact bytes: what is read, what is made, what is refused.
@Suite struct RawJSONTests {
    @Test func `values are read by their kind`() {
        #expect(RawJSON(#""a\"bé\n""#)?.string == "a\"bé\n")
        #expect(RawJSON("42")?.integer == 42)
        #expect(RawJSON("-42")?.integer == -42)
        #expect(RawJSON("42.5")?.integer == nil)
        #expect(RawJSON("42.5")?.double == 42.5)
        #expect(RawJSON("1e3")?.double == 1_000)
        #expect(RawJSON("true")?.bool == true)
        #expect(RawJSON("null")?.isNull == true)
        #expect(RawJSON("[1,[2],{}]")?.elements?.map(\.description) == ["1", "[2]", "{}"])
        #expect(RawJSON("18446744073709551615")?.unsigned == .max)
        #expect(RawJSON("\"1\"")?.integer == nil)
        #expect(RawJSON("1")?.string == nil)
    }

    @Test(arguments: ["", "{", "[1,]", "tru", "01", "\"a", "{}x", "nan", "{a:1}", "\u{FEFF}{}"])
    func `what is not well-formed is no value`(text: String) {
        #expect(RawJSON(text) == nil)
    }

    @Test(arguments: [64, 65, 127, 128, 129])
    func `values nest as deep as the service's own messages and no deeper`(depth: Int) {
        let texts = [
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth),
            String(repeating: #"{"a":"#, count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1),
        ]
        for text in texts { #expect((RawJSON(text) == nil) == (depth > 128)) }
    }

    @Test func `bytes are kept as they are, white space around them left out`() {
        let text = #"{ "b" : 1.0e0 ,"a":"é" }"#
        #expect(RawJSON("  \(text)\n")?.description == text)
    }

    @Test func `an object keeps its order and gives the bytes of each member`() {
        let object = RawObject(Array(#"{"z": {"q":1} ,"a":[1, 2],"n":null}"#.utf8))
        #expect(object?.members.map(\.name) == ["z", "a", "n"])
        #expect(object?["z"]?.description == #"{"q":1}"#)
        #expect(object?["a"]?.description == "[1, 2]")
        #expect(object?["x"] == nil)
    }

    @Test func `a name that stands twice makes it no object`() {
        #expect(RawObject(Array(#"{"a":1,"a":2}"#.utf8)) == nil)
        let many = (0..<100).map { "\"m\($0)\":1" }.joined(separator: ",")
        #expect(RawObject(Array("{\(many)}".utf8))?.members.count == 100)
        #expect(RawObject(Array("{\(many),\"m5\":1}".utf8)) == nil)
    }

    @Test func `names are compared by their bytes, as the service does`() throws {
        let (one, two) = ("\u{E9}", "e\u{301}")
        let object = try #require(RawObject(Array("{\"\(one)\":1,\"\(two)\":2}".utf8)))
        #expect(object[one] == .integer(1) && object[two] == .integer(2))
        let names = (0..<30).map { ",\"m\($0)\":0" }.joined()
        #expect(RawObject(Array("{\"\(one)\":1,\"\(two)\":2\(names)}".utf8))?.members.count == 32)
    }

    @Test func `a merge patch changes, clears, adds and keeps`() {
        var object: RawObject = ["a": .integer(1), "b": .integer(2), "c": .integer(3)]
        object.merge(["b": .null, "c": .string("x"), "d": .bool(true)])
        #expect(object.description == #"{"a":1,"c":"x","d":true}"#)
    }

    @Test func `strings are escaped so that they read back`() {
        let text = "a\"\\\n\r\t\u{1}\u{1F}é🍕/"
        #expect(RawJSON.string(text).string == text)
        #expect(RawJSON(RawJSON.string(text).bytes) != nil)
    }

    @Test func `numbers that JSON does not have are refused`() {
        #expect(RawJSON.number(.infinity) == nil)
        #expect(RawJSON.number(.nan) == nil)
        #expect(RawJSON.number(3)?.description == "3")
        #expect(RawJSON.number(0.5)?.description == "0.5")
    }
}
