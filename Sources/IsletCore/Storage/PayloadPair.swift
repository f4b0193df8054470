/// Two payloads that lie in one place of a ``PayloadStore``, the second behind the first, in eight bytes: for what is
/// stored together, and of which the second is often replaced. One place has one slack, and one miss of the cache.
package struct PayloadPair: Equatable, Sendable, BitwiseCopyable {
    fileprivate var place: UInt32 = 0
    fileprivate var firstCount: UInt16 = 0
    fileprivate var secondCount: UInt16 = 0

    /// The longest first one, and the longest second one: each is part of a frame, which has at most 64 KiB.
    package static let maximumCount = Int(UInt16.max)

    /// No bytes.
    package static let empty = PayloadPair()

    package var first: PayloadPart { PayloadPart(place: place, offset: 0, partCount: firstCount, total: total) }
    package var second: PayloadPart {
        PayloadPart(place: place, offset: firstCount, partCount: secondCount, total: total)
    }

    fileprivate var total: UInt32 { UInt32(firstCount) + UInt32(secondCount) }
}

/// One of the two payloads of a ``PayloadPair``, until that changes.
package struct PayloadPart: Sendable, BitwiseCopyable {
    fileprivate let place: UInt32
    fileprivate let offset: UInt16
    fileprivate let partCount: UInt16
    fileprivate let total: UInt32

    /// The number of bytes.
    package var count: Int { Int(partCount) }
}

extension PayloadStore {
    /// Stores two payloads in one place. `fill` writes exactly as many bytes, the second ones behind the first ones.
    ///
    /// - Parameter counts: each at most ``PayloadPair/maximumCount``.
    package mutating func insertPair(
        counts: (first: Int, second: Int), _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) -> PayloadPair {
        precondition(max(counts.first, counts.second) <= PayloadPair.maximumCount, "longer than a frame")
        let total = counts.first + counts.second
        return PayloadPair(
            place: total > 0 ? store(total, fill) : 0, firstCount: UInt16(counts.first),
            secondCount: UInt16(counts.second))
    }

    /// Replaces the second payload by a run of a frame, in place where the size class stays.
    package mutating func replaceSecond(of pair: inout PayloadPair, by range: FrameRange, of frame: Span<UInt8>) {
        precondition(range.count <= PayloadPair.maximumCount, "longer than a frame")
        let (first, old, count) = (Int(pair.firstCount), Int(pair.total), Int(pair.firstCount) + Int(range.count))
        if old > 0, count > 0, PayloadStore.sizeClass(of: old) == PayloadStore.sizeClass(of: count) {
            let second = start(of: pair.place, count: old) + first
            frame.copy(range, to: UnsafeMutableRawBufferPointer(start: second, count: Int(range.count)))
            resized(from: old, to: count)
            pair.secondCount = UInt16(truncatingIfNeeded: range.count)
        } else {
            // Chunks never move, so the first one's bytes stay where they are until their place is free.
            let kept = UnsafeRawBufferPointer(start: first > 0 ? start(of: pair.place, count: old) : nil, count: first)
            let moved = insertPair(counts: (first, Int(range.count))) { target in
                target.copyMemory(from: kept)
                frame.copy(range, to: UnsafeMutableRawBufferPointer(rebasing: target[first...]))
            }
            remove(pair)
            pair = moved
        }
    }

    /// Frees the second payload.
    package mutating func removeSecond(of pair: inout PayloadPair) {
        replaceSecond(of: &pair, by: FrameRange(offset: 0, count: 0), of: Span())
    }

    /// Frees both.
    package mutating func remove(_ pair: PayloadPair) {
        if pair.total > 0 { free(pair.place, count: Int(pair.total)) }
    }

    /// The bytes of one of a pair, for as long as the closure runs.
    @inline(__always)
    package func withBytes<Result>(_ part: PayloadPart, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard part.count > 0 else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        let start = start(of: part.place, count: Int(part.total)) + Int(part.offset)
        return body(UnsafeRawBufferPointer(start: start, count: part.count))
    }

    /// Reads each cache line of one of a pair (see ``Lookahead``).
    @inline(__always) func touch(_ part: PayloadPart) -> UInt64 {
        withBytes(part) { bytes in
            var trace: UInt64 = 0
            for offset in stride(from: 0, to: bytes.count, by: CacheLine.bytes) { trace &+= UInt64(bytes[offset]) }
            return trace
        }
    }
}
