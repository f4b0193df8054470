import IsletCore
import IsletProtocol
import Testing

@Suite("Scanned fields")
struct ScannerFieldTests {
    @Test("names, kinds and exact value bytes of each member, in order")
    func findsMembers() throws {
        let text = """
             {"op":"a","n": 12 ,"x":1.5e3, "t":true,"f":false,"z":null,"o":{"b" : [1, 2]},"l":[ {} ],"s":"q\\u0041"} \n
            """
        #expect(
            try members(of: text) == [
                ScannedMember(name: "op", kind: .string, value: "\"a\""),
                ScannedMember(name: "n", kind: .integer, value: "12"),
                ScannedMember(name: "x", kind: .number, value: "1.5e3"),
                ScannedMember(name: "t", kind: .true, value: "true"),
                ScannedMember(name: "f", kind: .false, value: "false"),
                ScannedMember(name: "z", kind: .null, value: "null"),
                ScannedMember(name: "o", kind: .object, value: "{\"b\" : [1, 2]}"),
                ScannedMember(name: "l", kind: .array, value: "[ {} ]"),
                ScannedMember(name: "s", kind: .string, value: "\"q\\u0041\""),
            ])
    }

    @Test("equal names are both shown, and names are compared with their escapes read")
    func equalNames() throws {
        #expect(try members(of: #"{"a":1,"\u0061":2}"#).map(\.name) == ["a", "a"])
    }

    @Test(
        "an integer is one that has no fraction and no exponent and fits 64 bits",
        arguments: zip(
            [
                "0", "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
                "-9223372036854775809", "123456789012345678901234567890", "1.0", "1e2", "99999999999999999999",
                "9007199254740993",
            ],
            [
                0, 0, Int64.max, Int64.min, nil, nil, nil, nil, nil, nil, 9_007_199_254_740_993,
            ] as [Int64?]))
    func integers(_ text: String, _ expected: Int64?) throws {
        let bytes = Array(text.utf8)
        let value = try JSONScanner.scanValue(bytes.span)
        #expect(value.kind == (expected == nil ? .number : .integer))
        let integer = JSONNumber.integer(bytes.span, at: value.range)
        if expected != nil { #expect(integer == expected) }
    }

    @Test(
        "a number is the nearest double, as the standard library reads it",
        arguments: [
            "0", "-0.0", "0.1", "0.2", "0.30000000000000004", "3.14", "100", "-2.5", "1e10", "1.5e-7", "5e-324",
            "2e-324",
            "1.7976931348623157e308", "9007199254740993", "123456789012345678", "0.000001", "1234567.125",
            "2.2250738585072011e-308", "0.1234567890123456789", "1.00000000000000011102230246251565",
        ])
    func doubles(_ text: String) throws {
        let bytes = Array(text.utf8)
        let value = try JSONScanner.scanValue(bytes.span)
        let double = JSONNumber.double(bytes.span, at: value.range)
        #expect(double?.bitPattern == Double(text)?.bitPattern)
    }

    @Test("a number that is too large for a double has no value", arguments: ["1e309", "-1e999", "2e308"])
    func infinite(_ text: String) throws {
        let bytes = Array(text.utf8)
        let value = try JSONScanner.scanValue(bytes.span)
        let double = JSONNumber.double(bytes.span, at: value.range)
        #expect(double == nil)
    }

    @Test(
        "escapes are read",
        arguments: zip(
            [
                #""plain""#, #""a\"b\\c\/d""#, #""\b\f\n\r\t""#, #""\u0041\u00e9\u65E5""#, #""\uD83D\uDE00""#,
                #""\u0000""#,
                #""日\u672c""#,
            ],
            ["plain", "a\"b\\c/d", "\u{08}\u{0C}\n\r\t", "Aé日", "😀", "\u{00}", "日本"]))
    func escapes(_ json: String, _ expected: String) throws {
        let bytes = Array(json.utf8)
        let text = try JSONScanner.scanValue(bytes.span).text
        var unescaped: [UInt8] = []
        let isText = text.unescape(in: bytes.span, into: &unescaped)
        let string = text.string(in: bytes.span)
        #expect(isText)
        #expect(unescaped == Array(expected.utf8))
        #expect(string == expected)
    }

    @Test(
        "a lone surrogate is JSON but no text",
        arguments: zip(
            [#""\uD800""#, #""a\uDFFFb""#, #""\uD83D\n""#, #""\uD83D\uD83D\uDE00""#, #""\uDE00\uD83D""#],
            ["\u{FFFD}", "a\u{FFFD}b", "\u{FFFD}\n", "\u{FFFD}😀", "\u{FFFD}\u{FFFD}"]))
    func loneSurrogates(_ json: String, _ repaired: String) throws {
        let bytes = Array(json.utf8)
        let text = try JSONScanner.scanValue(bytes.span).text
        var unescaped: [UInt8] = []
        let isText = text.unescape(in: bytes.span, into: &unescaped)
        let string = text.string(in: bytes.span)
        #expect(!isText)
        #expect(string == repaired)
    }

    @Test("a text is compared with its escapes read")
    func compares() throws {
        for json in [#""app""#, #""\u0061pp""#, #""\u0061\u0070\u0070""#, #""ap\u0070""#] {
            let bytes = Array(json.utf8)
            let text = try JSONScanner.scanValue(bytes.span).text
            let candidates: [StaticString] = ["app", "apps", "ap", "aqp", ""]
            let equal = candidates.map { text.equals($0, in: bytes.span) }
            #expect(equal == [true, false, false, false, false])
        }
    }

    @Test("nested members and elements can be read where they stand")
    func nested() throws {
        let bytes = Array(#"{"a":{"x":1,"y":[ 1, "two" ,{}]},"b":2}"#.utf8)
        var inner: FrameRange?
        try JSONScanner.scanObject(bytes.span) { field in
            if field.name.equals("a", in: bytes.span) { inner = field.value.range }
        }
        var names: [String] = []
        var list: FrameRange?
        let object = try #require(inner)
        try JSONScanner.scanObject(bytes.span, at: object) { field in
            names.append(field.name.string(in: bytes.span))
            if field.value.kind == .array { list = field.value.range }
        }
        #expect(names == ["x", "y"])
        var kinds: [JSONKind] = []
        let array = try #require(list)
        try JSONScanner.scanArray(bytes.span, at: array) { kinds.append($0.kind) }
        #expect(kinds == [.integer, .string, .object])
    }

    @Test(
        "the error says what is wrong and where",
        arguments: zip(
            [
                "", "[]", " 1", "{", "{\"a\"", "{\"a\":1}x", "{\"a\":tru}", "{\"a\":01}", "{\"a\":1.}",
                "{\"a\":\"\\q\"}",
                "{\"a\":\"\u{01}\"}", "{\"a\":\"", "{a:1}", "{\"a\":\(GrammarCases.nested(65))}", "[}",
            ],
            [
                ScanError(.unexpectedEnd, at: 0), ScanError(.notAnObject, at: 0), ScanError(.notAnObject, at: 1),
                ScanError(.unexpectedEnd, at: 1), ScanError(.unexpectedEnd, at: 4), ScanError(.trailingBytes, at: 7),
                ScanError(.unexpectedByte, at: 8), ScanError(.invalidNumber, at: 6), ScanError(.invalidNumber, at: 7),
                ScanError(.invalidEscape, at: 6), ScanError(.controlCharacter, at: 6), ScanError(.unexpectedEnd, at: 6),
                ScanError(.unexpectedByte, at: 1), ScanError(.tooDeep, at: 69), ScanError(.unexpectedByte, at: 1),
            ]))
    func errors(_ text: String, _ expected: ScanError) {
        #expect(throws: expected) { try members(of: text) }
    }

    @Test("a payload may nest 64 deep inside the frame's object, and no deeper")
    func depth() throws {
        #expect(try members(of: "{\"p\":\(GrammarCases.nestedMixed(64))}").count == 1)
        #expect(throws: ScanError.self) { try members(of: "{\"p\":\(GrammarCases.nestedMixed(65))}") }
    }

    @Test("a UUID is read in any case, in its one form")
    func uuids() throws {
        func read(_ text: String) -> EntityID? {
            let bytes = Array(text.utf8)
            return EntityID(text: bytes.span, at: FrameRange(0..<bytes.count))
        }
        let id = EntityID(high: 0x0198_0a1b_2c3d_7e4f, low: 0x8123_4567_89ab_cdef)
        #expect(read("01980a1b-2c3d-7e4f-8123-456789abcdef") == id)
        #expect(read("01980A1B-2C3D-7E4F-8123-456789ABCDEF") == id)
        #expect(read(id.description) == id)
        for bad in [
            "", "01980a1b2c3d7e4f8123456789abcdef", "{01980a1b-2c3d-7e4f-8123-456789abcdef}",
            "01980a1b-2c3d-7e4f-8123-456789abcde", "01980a1b-2c3d-7e4f-8123-456789abcdeg",
            "01980a1b-2c3d-7e4f-8123-456789abcdef0", "01980a1b02c3d-7e4f-8123-456789abcdef",
            "-1980a1b-2c3d-7e4f-8123-456789abcdef", "01980a1b-2c3d-7e4f-81234-56789abcdef",
        ] {
            #expect(read(bad) == nil, "\(bad)")
        }
    }
}
