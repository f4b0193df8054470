/// A value for each slot that has one: beside a slab, for what few of its records have. It costs nothing where no slot
/// of a chunk has a value.
package struct SlotColumn<Value: BitwiseCopyable & Sendable>: Sendable {
    private static var chunkBits: Int { 12 }

    /// An empty chunk has no values.
    private var chunks: [[Value]] = []
    private let unset: Value

    /// - Parameter unset: what a slot has that was never given a value.
    package init(unset: Value) {
        self.unset = unset
    }

    /// The value of a slot.
    package subscript(slot: Slot) -> Value {
        get {
            let chunk = Int(slot) >> Self.chunkBits
            guard chunk < chunks.count, !chunks[chunk].isEmpty else { return unset }
            return chunks[chunk][Int(slot) & (1 << Self.chunkBits - 1)]
        }
        set {
            let chunk = Int(slot) >> Self.chunkBits
            while chunks.count <= chunk { chunks.append([]) }
            if chunks[chunk].isEmpty { chunks[chunk] = Array(repeating: unset, count: 1 << Self.chunkBits) }
            chunks[chunk][Int(slot) & (1 << Self.chunkBits - 1)] = newValue
        }
    }

    /// The bytes that it holds.
    package var allocatedBytes: Int {
        chunks.count * MemoryLayout<[Value]>.stride + chunks.reduce(0) { $0 + $1.count } * MemoryLayout<Value>.stride
    }
}
