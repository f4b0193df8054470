import IsletCore
import IsletProtocol
import Testing

@Suite("Guessed ids")
struct GuessedIDTests {
    private static let text = "0198c0de-1c00-7a3e-9f21-3b5c8d7e0a11"
    private static let id = EntityID(high: 0x0198_c0de_1c00_7a3e, low: 0x9f21_3b5c_8d7e_0a11)

    private func guess(_ frame: String, near place: Int = 0) -> EntityID? {
        guess(bytes: Array(frame.utf8), near: place)
    }

    private func guess(bytes: [UInt8], near place: Int) -> EntityID? {
        var place = place
        return EntityID(guessedFrom: bytes.span, near: &place)
    }

    @Test(
        "are read wherever a command has them",
        arguments: [
            #"{"op":"activity.update","id":"\#(text)","contentState":{}}"#,
            #"{"op": "activity.update", "id": "\#(text)", "contentState": {}}"#,
            #"{"id":"\#(text)"}"#,
            #"{"op":"activity.update","req":"1","app":"com.example","staleDate":1780000000000,"id":"\#(text)"}"#,
            // A wrong one, which does no harm: the real id stands behind the content.
            #"{"contentState":{"id":"\#(text)"},"id":"00000000-0000-7000-8000-000000000001"}"#,
        ])
    func read(frame: String) { #expect(guess(frame) == Self.id) }

    @Test("are looked for where the one before was, and anywhere else after that", arguments: [-1, 0, 23, 24, 25, 200, .max])
    func place(first: Int) {
        var place = first
        let frame = #"{"op":"activity.update","id":"\#(Self.text)","contentState":{}}"#
        #expect(EntityID(guessedFrom: Array(frame.utf8).span, near: &place) == Self.id)
        #expect(place == 24)
        // Another one before it is not seen.
        let other = frame.replacing("{\"op\":\"activity.", with: "{\"id\":\"activity.")
        #expect(EntityID(guessedFrom: Array(other.utf8).span, near: &place) == Self.id)
    }

    @Test(
        "are none where there is no text of an id",
        arguments: [
            "", "{", #""id":"#, #"{"id":"#, #"{"id":""#, #"{"id":1}"#, #"{"id":"\#(text.dropLast())"}"#,
            #"{"id":"\#(text.dropLast())"#, #"{"ID":"\#(text)"}"#, #"{"id":  "\#(text)"}"#,
            #"{"id":"0198c0de-1c00-7a3e-9f21-3b5c8d7e0a1g"}"#, #"{"key":"home","app":"com.example"}"#,
            // Too far behind to be looked for.
            #"{"contentState":"\#(String(repeating: "x", count: 300))","id":"\#(text)"}"#,
        ])
    func none(frame: String) { #expect(guess(frame) == nil) }

    @Test("never trap, whatever the bytes are, and wherever a frame ends", arguments: [UInt64.random(in: .min ... .max)])
    func anyBytes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let whole = Array(#"{"op":"activity.update","id":"\#(Self.text)","contentState":{}}"#.utf8)
        for end in 0...whole.count {
            let guess = guess(bytes: Array(whole[..<end]), near: .random(in: -1...80, using: &random))
            let isThere = end >= #"{"op":"activity.update","id":""#.utf8.count + 36
            #expect((guess != nil) == isThere, "the first \(end) bytes")
        }
        for _ in 0..<2_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            bytes.removeLast(Int.random(in: bytes.indices, using: &random))
            _ = guess(bytes: bytes, near: .random(in: -1...80, using: &random))
        }
    }
}
