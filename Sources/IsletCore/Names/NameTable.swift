/// Names that come from outside, each kept once and known by a small number from then on.
///
/// The hash is `Hasher`, which the standard library keys anew in each process, so nobody can aim at one bucket; numbers
/// are given in the order of arrival, so nothing depends on the hash.
package struct NameTable: ~Copyable {
    private var names: [[UInt8]] = []
    private var index = SlotIndex()

    package init() {}

    package var count: Int { names.count }

    /// The name's bytes.
    package subscript(number: UInt32) -> [UInt8] { names[Int(number)] }

    /// The number of a name that is known.
    package func find(_ range: FrameRange, of frame: Span<UInt8>) -> UInt32? {
        let part = frame.extracting(range.indices)
        return part.withUnsafeBytes { find($0) }
    }

    /// The number of a name that is known.
    package func find(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
        index.find(NameTable.hash(bytes)) { slot in names[Int(slot)].withUnsafeBytes { equal($0, bytes) } }
    }

    /// The number of a name, which is added where it is new.
    package mutating func intern(_ bytes: UnsafeRawBufferPointer) -> (number: UInt32, isNew: Bool) {
        if let known = find(bytes) { return (known, false) }
        let number = UInt32(names.count)
        names.append([UInt8](bytes))
        index.insert(NameTable.hash(bytes), number)
        return (number, true)
    }

    package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

/// Whether two runs of bytes are the same.
package func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.count == right.count && left.elementsEqual(right)
}
