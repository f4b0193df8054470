/// A run of bytes inside the frame that a command came in.
///
/// Commands hold ranges, not copies: a command is plain bits, and nothing is allocated between the socket and the slab.
/// A range means something only together with its frame.
///
/// `@usableFromInline`: without it, other modules call the members of a package type, `@inlinable` or not.
@usableFromInline package struct FrameRange: Hashable, Sendable, BitwiseCopyable {
    /// The first byte's index in the frame.
    @usableFromInline package var offset: UInt32
    /// The number of bytes.
    @usableFromInline package var count: UInt32

    @inlinable package init(offset: Int, count: Int) {
        self.offset = UInt32(truncatingIfNeeded: offset)
        self.count = UInt32(truncatingIfNeeded: count)
    }

    @inlinable package init(_ range: Range<Int>) {
        self.init(offset: range.lowerBound, count: range.count)
    }

    /// The same range as indices of the frame.
    @inlinable package var indices: Range<Int> { Int(offset)..<(Int(offset) + Int(count)) }
}
