import IsletCore
import IsletProtocol
import Testing

@Suite("JSON grammar")
struct ScannerGrammarTests {
    @Test("accepts what the grammar allows", arguments: GrammarCases.good)
    func accepts(_ text: String) {
        #expect(isValue(Array(text.utf8)))
        #expect(ReferenceJSON.accepts(Array(text.utf8)), "the reference disagrees")
    }

    @Test("refuses what the grammar does not allow", arguments: GrammarCases.bad)
    func refuses(_ text: String) {
        #expect(!isValue(Array(text.utf8)))
        #expect(!ReferenceJSON.accepts(Array(text.utf8)), "the reference disagrees")
    }

    @Test("refuses bytes that are no strict UTF-8", arguments: GrammarCases.badUTF8)
    func refusesBadUTF8(_ bytes: [UInt8]) {
        let string = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        let object = Array("{\"k\":".utf8) + string + Array("}".utf8)
        #expect(throws: ScanError(.invalidUTF8, at: 6 + GrammarCases.asciiPrefix(bytes))) { try members(of: object) }
        #expect(!ReferenceJSON.accepts(object))
        #expect(!isValue(Array("{".utf8) + string + Array(":1}".utf8)), "in a name")
    }

    @Test("accepts each first and last character of every length of UTF-8", arguments: GrammarCases.goodUTF8)
    func acceptsUTF8(_ bytes: [UInt8]) throws {
        for padding in 0..<9 {
            let text = Array(repeating: UInt8(ascii: "x"), count: padding) + bytes
            let string = [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
            #expect(isValue(string))
        }
    }

    @Test("finds the special byte wherever it stands in a word", arguments: 0..<20)
    func positions(_ before: Int) throws {
        let plain = String(repeating: "p", count: before)
        for after in 0..<10 {
            let rest = String(repeating: "q", count: after)
            #expect(try members(of: "{\"k\":\"\(plain)\\n\(rest)\"}")[0].value == "\"\(plain)\\n\(rest)\"")
            for control: UInt8 in [0, 1, 0x1F] {
                var bytes = Array("{\"k\":\"\(plain)".utf8)
                bytes.append(control)
                bytes += Array("\(rest)\"}".utf8)
                #expect(throws: ScanError(.controlCharacter, at: 6 + before)) { try members(of: bytes) }
            }
            // 0x20, 0x21, 0x23 and 0x7F are neighbours of what is special, and plain.
            #expect(isValue(Array("\"\(plain) !#[]\u{7F}\(rest)\"".utf8)))
        }
    }
}

/// Documents in the spirit of the well-known parsing test suites; each is a whole document.
enum GrammarCases {
    static let good: [String] = [
        "{}", "[]", "\"\"", "0", "-0", "1", "-1", "true", "false", "null", " {} ", "\n[\t]\r ", "\t1", "1 ",
        "10", "123", "-123", "0.5", "-0.0", "1.5", "0e1", "0E1", "1e5", "1E5", "1e+5", "1e-5", "1E+05", "1.5e300",
        "1e999",
        "-1e-999", "0.00000000000000000000000000000000000000000000000001", "123456789012345678901234567890",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.0e0", "0e0", "0.0e-0",
        "[1]", "[1,2]", "[1 , 2]", "[[]]", "[[],[]]", "[{}]", "[null,true,false]", "[\"a\",1,{}]", "[1,\n2]", "[0]",
        "{\"a\":1}", "{\"a\" : 1}", "{ \"a\":1 , \"b\":2 }", "{\"\":0}", "{\"a\":{}}", "{\"a\":[]}", "{\"a\":[{}]}",
        "{\"a\":{\"b\":{\"c\":[1,[2,[3]]]}}}", "{\"a\":1,\"a\":2}", "{\"a\":\"b\",\"c\":null}", "{\"a b\":1}",
        "\"a\"", "\"abcdefgh\"", "\"abcdefghi\"", "\"\\\"\"", "\"\\\\\"", "\"\\/\"", "\"/\"", "\"\\b\\f\\n\\r\\t\"",
        "\"\\u0000\"", "\"\\u0041\"", "\"\\uFFFF\"", "\"\\uffff\"", "\"\\uD83D\\uDE00\"", "\"\\uD800\"", "\"\\uDC00\"",
        "\"\\uDC00\\uD800\"", "\"\\uD800x\"", "\"\\uD800\\n\"", "\"\\\\u0041\"", "\"\\\\\\\"\"", "\"\u{7F}\"", "\"é\"",
        "\"日本語\"", "\"😀\"", "\"\u{FEFF}\"", "\"\u{2028}\u{2029}\"", "\"\u{80}\"", "\"'\"", "\"// no comment\"",
        "{\"\\u0061\":1}", "{\"é\":\"\\u00e9\"}", "[\"\\\"]\",1]", "{\"}\":\"{\"}", "[\"[\",\"]\"]", "[ ]", "{ }",
        nested(64), nestedObjects(64), nestedMixed(64),
    ]

    static let bad: [String] = [
        "", " ", "\n", "{", "}", "[", "]", "\"", "{}}", "[]]", "{}{}", "[][]", "1 2", "{} x", "null null", "true,", ",",
        ":", "[,]", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1", "[1,", "[\"a\"", "[}", "{]", "[1}", "{\"a\":1]", "[{]}",
        "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1,,\"b\":2}", "{,\"a\":1}", "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{\"a\":1", "{\"a\":", "{\"a\"", "{\"a", "{\"a\":1,", "{\"a\":1,\"",
        "{\"a\":1;\"b\":2}", "{\"a\"::1}", "{:1}", "{{}:1}", "{[]:1}", "{\"a\":1 2}", "{\"a\"=1}",
        "tru", "t", "fals", "nul", "True", "TRUE", "False", "Null", "nil", "undefined", "truee", "true1", "trueXfalse",
        "NaN", "Infinity", "-Infinity", "inf", "-", "+1", "+", ".5", "-.5", "1.", "-1.", "1.e5", ".", "1e", "1e+",
        "1e-",
        "1E", "1e1.5", "1e1e1", "01", "-01", "00", "0123", "-00", "1_000", "1,000", "0x10", "0b1", "1a", "- 1", "--1",
        "1.2.3", "1..2", "1-2", "1+2", "１", "1e５", "[01]", "[1.]", "[-]", "{\"a\":01}", "{\"a\":-}",
        "\"a", "\"a\\", "\"a\\\"", "\"\\", "\"\\u\"", "\"\\u0\"", "\"\\u00\"", "\"\\u004\"", "\"\\u00G0\"",
        "\"\\u-001\"",
        "\"\\u+041\"", "\"\\u 041\"", "\"\\U0041\"", "\"\\x41\"", "\"\\a\"", "\"\\v\"", "\"\\0\"", "\"\\'\"", "\"\\ \"",
        "\"\\é\"", "\"\\u12", "\"\\u1234", "'a'", "`a`", "a", "\"a\"b", "\"a\"\"b\"", "\"\u{00}\"", "\"\u{1F}\"",
        "\"\n\"",
        "\"\t\"", "\"a\nb\"", "{\"\n\":1}", "// x", "{} // x", "/* x */ {}", "[1 /* x */]", "# x", "\u{FEFF}{}",
        "\u{A0}1",
        "\u{0B}1", "\u{0C}1", "\u{2028}1", "{}\u{00}", "\u{00}", "[\u{00}]", "é", "[é]", "{é:1}", "<a/>", "$",
        nested(65), nestedObjects(65), nestedMixed(65), String(repeating: "[", count: 100_000),
        String(repeating: "{\"a\":", count: 20_000), String(repeating: "[", count: 64),
    ]

    static let badUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0], [0xC1], [0xF5], [0xF8], [0xFC], [0xFE], [0xFF], [0xC2], [0xDF], [0xE0], [0xE0, 0xA0],
        [0xF0], [0xF0, 0x90], [0xF0, 0x90, 0x80], [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0x80],
        [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xAF, 0xBF],
        [0xED, 0xB0, 0x80], [0xED, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC2, 0x41],
        [0xC2, 0xC2], [0xE1, 0x80, 0x41], [0xE1, 0x41, 0x80], [0xF1, 0x80, 0x80, 0x41], [0xF1, 0x80, 0x41, 0x80],
        [0xE2, 0x82, 0xC0], [0x41, 0x80], [0x41, 0xFF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [0xFF, 0xFE],
        [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xC3],
    ]

    static let goodUTF8: [[UInt8]] = [
        [0x7F], [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xE0, 0xBF, 0xBF], [0xEC, 0xBF, 0xBF],
        [0xED, 0x80, 0x80],
        [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80], [0xF3, 0xBF, 0xBF, 0xBF],
        [0xF4, 0x80, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
    ]

    /// Where the first byte stands that is not ASCII: the error names that one.
    static func asciiPrefix(_ bytes: [UInt8]) -> Int {
        bytes.prefix { $0 < 0x80 }.count
    }

    static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    static func nestedObjects(_ depth: Int) -> String {
        String(repeating: "{\"a\":", count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
    }

    static func nestedMixed(_ depth: Int) -> String {
        let open = (0..<depth).map { $0 % 3 == 0 ? "[" : "{\"a\":" }.joined()
        let close = (0..<depth).reversed().map { $0 % 3 == 0 ? "]" : "}" }.joined()
        return open + "1" + close
    }
}
