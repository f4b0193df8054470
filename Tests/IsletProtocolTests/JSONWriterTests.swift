import IsletCore
import IsletProtocol
import Testing

@Suite("JSON writer")
struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(capacity: 64)
        body(&writer)
        return String(decoding: writer.copy(), as: UTF8.self)
    }

    @Test("numbers of every length are written as the standard library writes them")
    func numbers() {
        var numbers: [UInt64] = [0, .max, .max - 1]
        var power: UInt64 = 1
        for _ in 0..<20 {
            numbers += [power - 1, power, power + 1, power &* 5]
            power = power.multipliedReportingOverflow(by: 10).overflow ? power : power * 10
        }
        // All that fewer than five digits say, with others before and behind them.
        for few in UInt64(0)..<10_000 { numbers += [few, 90_000_000 + few, few * 10_000, few * 1_000_000_000_003] }
        for step in UInt64(1)...1_280 { numbers.append(step &* 0x9E37_79B9_7F4A_7C15 >> (step % 64)) }
        for number in numbers {
            #expect(written { $0.integer(number) } == String(number))
        }
        for number in [Int64.min, .min + 1, -1, -10, .max] { #expect(written { $0.integer(number) } == String(number)) }
    }

    @Test("members and elements are separated by commas, and by nothing else")
    func structure() {
        let text = written { writer in
            writer.beginObject()
            writer.field("a", 1)
            writer.key("b")
            writer.beginArray()
            writer.integer(1)
            writer.beginObject()
            writer.endObject()
            writer.beginArray()
            writer.endArray()
            writer.string("x")
            writer.null()
            writer.endArray()
            writer.key("c")
            writer.beginObject()
            writer.field("d", true)
            writer.field("e", false)
            writer.endObject()
            writer.field("f", raw: Array("{ \"as\" : \"it is\" }".utf8).span)
            writer.field("g", plain: Array("text".utf8).span)
            writer.field("h", Instant(1_763_700_600_000))
            writer.field("i", name: "name")
            writer.key(plain: Array("com.example".utf8).span)
            writer.double(0.5)
            writer.endObject()
        }
        #expect(
            text == """
                {"a":1,"b":[1,{},[],"x",null],"c":{"d":true,"e":false},"f":{ "as" : "it is" },"g":"text",\
                "h":1763700600000,"i":"name","com.example":0.5}
                """)
    }

    @Test(
        "integers of every size",
        arguments: [
            0, 1, 9, 10, 99, 100, 999, 1000, -1, -10, 1_763_700_600_000, Int64.max, Int64.min, 999_999_999_999_999_999,
            1_000_000_000_000_000_000,
        ] as [Int64])
    func integers(_ value: Int64) {
        #expect(written { $0.integer(value) } == String(value))
        #expect(written { $0.integer(value.magnitude) } == String(value.magnitude))
    }

    @Test("the largest integers without a sign")
    func largestIntegers() {
        #expect(written { $0.integer(UInt64.max) } == "18446744073709551615")
        #expect(written { $0.integer(10_000_000_000_000_000_000 as UInt64) } == "10000000000000000000")
        #expect(written { $0.integer(UInt8.max) } == "255")
        #expect(written { $0.integer(Int8.min) } == "-128")
    }

    @Test(
        "doubles in their shortest form",
        arguments: zip(
            [
                0, -0.0, 1, -1, 100, 0.5, -0.25, 0.1, 1e15, 9_007_199_254_740_991, 1e16, 1e300, .leastNonzeroMagnitude,
                1 / 3,
            ] as [Double],
            [
                "0", "0", "1", "-1", "100", "0.5", "-0.25", "0.1", "1000000000000000", "9007199254740991", "1e+16",
                "1e+300", "5e-324", "0.3333333333333333",
            ]))
    func doubles(_ value: Double, _ expected: String) {
        #expect(written { $0.double(value) } == expected)
    }

    @Test("what is no number in JSON is null", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(_ value: Double) {
        #expect(written { $0.double(value) } == "null")
    }

    @Test("random doubles read back as the same number")
    func doublesRoundTrip() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else { continue }
            let bytes = Array(written { $0.double(value) }.utf8)
            let scanned = try JSONScanner.scanValue(bytes.span)
            let read = JSONNumber.double(bytes.span, at: scanned.range)
            #expect(read == value)
        }
    }

    @Test("strings are escaped where they must be, and read back as they were")
    func strings() throws {
        #expect(
            written { $0.string("a\"b\\c\n\u{01}\u{1F}\u{7F}é😀/" as String) } == #""a\"b\\c\n\u0001\u001f"#
                + "\u{7F}é😀/\"")
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<5_000 {
            let scalars = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                Unicode.Scalar(UInt32.random(in: 0...(generator.chance(1, in: 4) ? 0xD7FF : 0x7F), using: &generator))!
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            let bytes = Array(written { $0.string(text) }.utf8)
            let viaBytes = written { $0.string(utf8: Array(text.utf8).span) }
            #expect(Array(viaBytes.utf8) == bytes)
            #expect(ReferenceJSON.accepts(bytes))
            let read = try JSONScanner.scanValue(bytes.span).text.string(in: bytes.span)
            #expect(read == text)
        }
    }

    @Test("an id is written in lower case")
    func ids() {
        let id = EntityID(high: 0x0198_0A1B_2C3D_7E4F, low: 0x8123_4567_89AB_CDEF)
        #expect(written { $0.id(id) } == "\"01980a1b-2c3d-7e4f-8123-456789abcdef\"")
        #expect(written { $0.id(id) } == "\"\(id)\"")
    }

    @Test("the buffer grows as needed, can be cut back, and holds several documents")
    func buffer() {
        var writer = JSONWriter(capacity: 1)
        writer.beginArray()
        for number in 0..<10_000 { writer.integer(number) }
        writer.endArray()
        let bytes = writer.copy()
        #expect(
            String(decoding: bytes, as: UTF8.self) == "[" + (0..<10_000).map(String.init).joined(separator: ",") + "]")
        #expect(writer.withBytes { Array($0) } == bytes)
        #expect(writer.withSpan { $0.count } == bytes.count)

        writer.removeAll()
        writer.beginObject()
        writer.endObject()
        let first = writer.count
        writer.beginDocument()
        writer.beginObject()
        writer.field("a", 1)
        writer.endObject()
        #expect(String(decoding: writer.copy(), as: UTF8.self) == "{}{\"a\":1}")
        writer.truncate(to: first)
        #expect(String(decoding: writer.copy(), as: UTF8.self) == "{}")
    }
}
