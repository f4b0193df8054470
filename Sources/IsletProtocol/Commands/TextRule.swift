import IsletCore

/// What a text field of the contract may hold.
struct TextRule {
    let maximumCount: Int
    let minimumCount: Int
    /// One bit for each ASCII character that is allowed.
    private let low: UInt64
    private let high: UInt64

    private init(_ characters: [ClosedRange<UInt8>], minimumCount: Int = 1, maximumCount: Int) {
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        var masks: (low: UInt64, high: UInt64) = (0, 0)
        for character in characters.joined() {
            if character < 64 { masks.low |= 1 << UInt64(character) } else { masks.high |= 1 << UInt64(character - 64) }
        }
        (low, high) = masks
    }

    private static func one(_ character: Unicode.Scalar) -> ClosedRange<UInt8> {
        UInt8(ascii: character)...UInt8(ascii: character)
    }

    private static let alphanumeric: [ClosedRange<UInt8>] = [
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"),
    ]
    private static let printable: [ClosedRange<UInt8>] = [0x20...0x21, 0x23...0x5B, 0x5D...0x7E]

    /// `app`: a bundle identifier.
    static let app = TextRule(alphanumeric + [one("."), one("-")], maximumCount: 100)
    /// `type`, `kind`, `key` and `device`.
    static let name = TextRule(alphanumeric + [one("."), one("_"), one(":"), one("-")], maximumCount: 64)
    /// What a person calls an entity: a key, an id, a kind, or a kind, a slash and the end of an id.
    static let entityName = TextRule(
        alphanumeric + [one("."), one("_"), one(":"), one("-"), one("/")], maximumCount: 128)
    /// `req`: printable ASCII that needs no escapes.
    static let req = TextRule(printable, maximumCount: 64)
    /// `cursor`: what the service gave, which is opaque to everybody else.
    static let cursor = TextRule(printable, maximumCount: 512)
    /// `prefix`: the beginning of a topic, or nothing.
    static let prefix = TextRule(
        alphanumeric + [one("."), one("_"), one(":"), one("-"), one("/"), one("~")], minimumCount: 0, maximumCount: 240)

    /// Why a text is refused, or nil.
    @inline(__always) func refusal(of frame: Span<UInt8>, at range: FrameRange) -> Refusal.BadField? {
        guard Int(range.count) <= maximumCount else { return .tooLong }
        guard Int(range.count) >= minimumCount else { return .badCharacters }
        let part = frame.extracting(range.indices)
        let isAllowed = part.withUnsafeBytes { bytes in
            for byte in bytes {
                // Ended by the first that is not allowed: of a loop to the end the compiler makes vectors, which take 15
                // instructions a byte, and this takes 11.
                let mask = byte & 64 == 0 ? low : high
                guard byte < 128, mask >> UInt64(byte & 63) & 1 == 1 else { return false }
            }
            return true
        }
        return isAllowed ? nil : .badCharacters
    }
}
