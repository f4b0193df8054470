import IsletCore
import IsletProtocol
import Testing

@Suite("Scanner under random input")
struct ScannerFuzzTests {
    static let seed: UInt64 = 0x15_1E7

    @Test("well-formed random documents are accepted, and their members come back byte for byte")
    func randomDocuments() throws {
        print("seed \(Self.seed)")
        var random = RandomJSON(seed: Self.seed)
        for _ in 0..<20_000 {
            var expected: [ScannedMember] = []
            var text = random.space() + "{"
            for index in 0..<Int.random(in: 0...6, using: &random.generator) {
                let value = random.value(depth: 4)
                let kind = try JSONScanner.scanValue(Array(value.utf8).span).kind
                expected.append(ScannedMember(name: "n\(index)", kind: kind, value: value))
                text += index > 0 ? "," : ""
                text += "\(random.space())\"n\(index)\"\(random.space()):\(random.space())\(value)\(random.space())"
            }
            text += "}" + random.space()
            #expect(try members(of: text) == expected, "\(text)")
        }
    }

    @Test("damaged documents never trap, and are accepted exactly where a naive reader accepts them")
    func mutations() {
        print("seed \(Self.seed)")
        var random = RandomJSON(seed: Self.seed &+ 1)
        var accepted = 0
        var refused = 0
        for _ in 0..<120_000 {
            var bytes = Array(random.object().utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random.generator) { mutate(&bytes, &random.generator) }
            let expected = ReferenceJSON.accepts(bytes)
            let actual = isValue(bytes)
            #expect(actual == expected, "\(bytes) \(String(decoding: bytes, as: UTF8.self))")
            if actual { accepted += 1 } else { refused += 1 }
        }
        // A test that only ever sees one of the two would prove nothing.
        #expect(accepted > 5_000)
        #expect(refused > 20_000)
    }

    @Test("every prefix of a document is refused, and the whole is accepted")
    func truncations() {
        var random = RandomJSON(seed: Self.seed &+ 2)
        for _ in 0..<400 {
            let bytes = Array(random.object().utf8)
            #expect(isValue(bytes))
            for length in 0..<bytes.count {
                #expect(!isValue(Array(bytes[..<length])))
            }
        }
    }

    @Test("an offset in an error is inside the frame or at its end")
    func offsets() {
        var random = RandomJSON(seed: Self.seed &+ 3)
        for _ in 0..<20_000 {
            var bytes = Array(random.object().utf8)
            mutate(&bytes, &random.generator)
            do {
                _ = try members(of: bytes)
            } catch {
                #expect((0...bytes.count).contains(error.offset))
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else {
            bytes = [UInt8(truncatingIfNeeded: generator.next())]
            return
        }
        let index = bytes.indices.randomElement(using: &generator)!
        let structural = Array("{}[]\",:\\ \n0123456789.eE+-truefalsn\u{01}".utf8)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        case 1: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(structural.randomElement(using: &generator)!, at: index)
        case 4: bytes[index] = structural.randomElement(using: &generator)!
        case 5: bytes.removeSubrange(index...)
        default:
            let other = bytes.indices.randomElement(using: &generator)!
            bytes.swapAt(index, other)
        }
    }
}
