/// Where an entity lives: an index into the slab. It stays for the entity's life; ``SlotRef`` outlives it safely.
package typealias Slot = UInt32

/// A slot and the generation it had: a handle that fails cleanly once the slot holds another entity.
package struct SlotRef: Hashable, Sendable, BitwiseCopyable {
    package var slot: Slot
    package var generation: UInt32

    package init(slot: Slot, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

/// Records in fixed chunks, addressed by slot, with a free list and generations.
///
/// Chunks never move, so growth copies nothing: at a million records a doubling array would stop the service for tens of
/// milliseconds. A record is one struct and not a column each, because an update touches most of its fields: two cache
/// lines instead of ten. What a record costs beside itself is four bytes: the free list goes through the records of
/// free slots, whose bits nobody reads.
///
/// Unsafe pointers: the struct is noncopyable and the single owner of its chunks; every access goes through `at(_:)`,
/// whose precondition bounds the slot; the element is plain bits, so that nothing has to be deinitialised, and at least
/// four bytes, so that a link fits into it.
package struct Slab<Record: BitwiseCopyable>: ~Copyable {
    /// Each chunk's last page is a piece of one more, which the allocator's header makes; so there are few of them.
    private static var chunkBits: Int { 14 }
    private static var chunkCount: Int { 1 << chunkBits }

    private struct Cell {
        var record: Record
        /// The generation, doubled, and 1 more while the slot holds a record. Behind the record, where it may stand in
        /// bytes that would only fill up.
        var life: UInt32

        var isUsed: Bool { life & 1 != 0 }
        /// For a used cell.
        var generation: UInt32 { life >> 1 }
    }

    private var chunks: [UnsafeMutablePointer<Cell>] = []
    private var firstFree: Slot = .max
    private let firstGeneration: UInt32
    /// The number of slots that were ever used: slots are 0..<capacity.
    package private(set) var capacity: Slot = 0
    /// The number of records in it.
    package private(set) var count: Int = 0

    /// - Parameter firstGeneration: of every slot; 31 bits, of which tests choose the last ones.
    package init(firstGeneration: UInt32 = 0) {
        precondition(MemoryLayout<Record>.size >= MemoryLayout<Slot>.size, "a link must fit into a record")
        self.firstGeneration = firstGeneration
    }

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// Takes a free slot for a record.
    package mutating func insert(_ record: Record) -> Slot {
        count += 1
        if firstFree != .max {
            let slot = firstFree
            let cell = at(slot)
            firstFree = Self.link(of: cell)
            cell.pointee.life |= 1
            cell.pointee.record = record
            return slot
        }
        let slot = capacity
        add(record, isUsed: true)
        return slot
    }

    /// Puts a record into a slot that is free; only before ``rebuildFreeList()``.
    package mutating func restore(_ record: Record, at slot: Slot) {
        // The record of a cell is never read before the cell is used.
        while capacity <= slot { add(record, isUsed: false) }
        let cell = at(slot)
        precondition(!cell.pointee.isUsed, "a slot holds one record")
        cell.pointee.life |= 1
        cell.pointee.record = record
        count += 1
    }

    /// Every slot without a record is free from now on, the lowest first.
    package mutating func rebuildFreeList() {
        firstFree = .max
        for slot in (0..<capacity).reversed() where !at(slot).pointee.isUsed { pushFree(slot) }
    }

    /// Frees a slot; handles to it fail from now on.
    package mutating func remove(_ slot: Slot) {
        let cell = at(slot)
        precondition(cell.pointee.isUsed, "a slot is freed once")
        cell.pointee.life &+= 1
        pushFree(slot)
        count -= 1
    }

    /// Adds a slot at the end.
    private mutating func add(_ record: Record, isUsed: Bool) {
        if Int(capacity) >> Self.chunkBits == chunks.count { chunks.append(.allocate(capacity: Self.chunkCount)) }
        capacity += 1
        at(capacity - 1).initialize(to: Cell(record: record, life: firstGeneration << 1 | (isUsed ? 1 : 0)))
    }

    private mutating func pushFree(_ slot: Slot) {
        UnsafeMutableRawPointer(at(slot)).storeBytes(of: firstFree, as: Slot.self)
        firstFree = slot
    }

    /// The next free slot, which stands in the record of a free one.
    private static func link(of cell: UnsafeMutablePointer<Cell>) -> Slot {
        UnsafeRawPointer(cell).load(as: Slot.self)
    }

    /// The record in a used slot.
    package subscript(slot: Slot) -> Record {
        @inline(__always) get {
            let cell = at(slot)
            precondition(cell.pointee.isUsed)
            return cell.pointee.record
        }
        @inline(__always) _modify {
            let cell = at(slot)
            precondition(cell.pointee.isUsed)
            yield &cell.pointee.record
        }
    }

    /// Reads each cache line of a record (see ``Lookahead``).
    @inline(__always) func touch(_ slot: Slot) -> UInt64 {
        let cell = UnsafeRawPointer(at(slot))
        var trace: UInt64 = 0
        var offset = 0
        while offset + 8 <= MemoryLayout<Cell>.size {
            trace &+= cell.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset += CacheLine.bytes
        }
        // It may begin within a line.
        return trace &+ cell.loadUnaligned(fromByteOffset: MemoryLayout<Cell>.size - 8, as: UInt64.self)
    }

    /// Whether the slot holds a record.
    @inline(__always) package func isUsed(_ slot: Slot) -> Bool { slot < capacity && at(slot).pointee.isUsed }

    /// The handle of a used slot.
    package func reference(to slot: Slot) -> SlotRef { SlotRef(slot: slot, generation: at(slot).pointee.generation) }

    /// Whether the handle still means the record that it was made for.
    package func isCurrent(_ reference: SlotRef) -> Bool {
        isUsed(reference.slot) && at(reference.slot).pointee.generation == reference.generation
    }

    /// The bytes that it holds.
    package var allocatedBytes: Int { chunks.count * Self.chunkCount * MemoryLayout<Cell>.stride }

    @inline(__always) private func at(_ slot: Slot) -> UnsafeMutablePointer<Cell> {
        precondition(slot < capacity || Int(slot) >> Self.chunkBits < chunks.count)
        return chunks[Int(slot) >> Self.chunkBits] + (Int(slot) & (Self.chunkCount - 1))
    }
}
