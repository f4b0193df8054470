/// Random numbers from a seed: SplitMix64.
struct Dice: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    /// A number in 0..<limit; 0 for a limit of 0.
    mutating func below(_ limit: Int) -> Int { limit <= 0 ? 0 : Int(next() % UInt64(limit)) }

    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    /// Small numbers as often as large ones, from 1 to about 2 to the power of `bits`.
    mutating func spread(bits: Int) -> Int {
        let top = 1 << below(bits)
        return top + below(top)
    }

    /// Printable bytes that begin with `text`.
    mutating func padded(_ text: String, to count: Int) -> String {
        var padded = text
        while padded.utf8.count < count { padded += String(next(), radix: 36) }
        return padded
    }
}
