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
///
/// Eight bytes a step: `elementsEqual` takes 30 instructions a byte, and each command's app is compared here. Every
/// load is below the count, which both runs have.
package func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    let count = left.count
    guard count == right.count else { return false }
    var index = 0
    while index + 8 <= count {
        let isSame =
            left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            == right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        guard isSame else { return false }
        index += 8
    }
    while index < count {
        guard left[index] == right[index] else { return false }
        index += 1
    }
    return true
}
