import IsletCore

/// Builds the frame of a command: bytes one after another, each run known by its range.
struct FrameBuilder {
    private(set) var bytes: [UInt8] = []

    /// Adds a run; the byte before it belongs to nobody, so that a range that is off by one shows.
    mutating func run(_ text: String) -> FrameRange {
        bytes.append(UInt8(ascii: "|"))
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        return FrameRange(offset: start, count: bytes.count - start)
    }

    mutating func run(_ text: String?) -> FrameRange? {
        guard let text else { return nil }
        return run(text)
    }
}

extension EntityID {
    /// An id that is easy to read in a failure.
    init(_ number: UInt64) { self.init(high: 0x0198_0000_0000_7000, low: 0x8000_0000_0000_0000 | number) }
}
