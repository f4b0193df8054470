import Testing
import islet

@Suite("Keys of a terminal")
struct KeyDecoderTests {
    private func keys(_ text: String) -> [Key] {
        var decoder = KeyDecoder()
        return decoder.keys(of: Array(text.utf8)) + decoder.timeOut()
    }

    @Test("Letters, control keys and characters of UTF-8 are themselves")
    func characters() {
        #expect(keys("q/ü€😀") == ["q", "/", "ü", "€", "😀"].map { .character($0) })
        #expect(keys("\u{0C}\u{15}") == [.control("l"), .control("u")])
        #expect(keys("\r\n\t\u{7F}\u{08}") == [.enter, .enter, .tab, .backspace, .backspace])
    }

    @Test("Sequences of xterm, the console and VT220 are keys")
    func sequences() {
        #expect(keys("\u{1B}[A\u{1B}OB\u{1B}[1;5C\u{1B}[D") == [.up, .down, .right, .left])
        #expect(keys("\u{1B}[5~\u{1B}[6~\u{1B}[1~\u{1B}[4~\u{1B}[H\u{1B}OF") == [
            .pageUp, .pageDown, .home, .end, .home, .end,
        ])
        #expect(keys("\u{1B}[3~\u{1B}[Z") == [.delete, .backTab])
    }

    @Test("A sequence in pieces is one key, and an ESC alone is one after a while")
    func pieces() {
        var decoder = KeyDecoder()
        #expect(decoder.keys(of: [0x1B]) == [])
        #expect(decoder.isWaiting)
        #expect(decoder.keys(of: [0x5B]) == [])
        #expect(!decoder.isWaiting)
        #expect(decoder.keys(of: [0x41]) == [.up])
        #expect(decoder.keys(of: [0x1B]) == [])
        #expect(decoder.timeOut() == [.escape])
        #expect(decoder.timeOut() == [])
        #expect(decoder.keys(of: Array("\u{1B}q".utf8)) == [.escape, .character("q")])
    }

    @Test("What is not known is passed over, however long it is")
    func unknown() {
        #expect(keys("\u{1B}[200~a") == [.character("a")])
        let long = "\u{1B}[" + String(repeating: "1;", count: 100_000) + "~q"
        #expect(keys(long) == [.character("q")])
        var decoder = KeyDecoder()
        #expect(decoder.keys(of: [0xFF, 0xC3, 0x28, 0xE2, 0x82, 0x71]) == [.character("("), .character("q")])
    }

    @Test("No bytes bring it out of step: after any of them, a letter is a letter", arguments: 0..<200)
    func random(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        var decoder = KeyDecoder()
        for _ in 0..<500 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            _ = decoder.keys(of: [UInt8(truncatingIfNeeded: state >> 56)])
        }
        // The end of whatever was under way.
        _ = decoder.keys(of: Array("~~~".utf8))
        _ = decoder.timeOut()
        #expect(decoder.keys(of: [0x71]) == [.character("q")], "seed \(seed)")
    }
}
