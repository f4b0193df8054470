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
/// lines instead of ten.
///
/// Unsafe pointers: the struct is noncopyable and the single owner of its chunks; every access goes through `at(_:)`,
/// whose precondition bounds the slot; the element is plain bits, so that nothing has to be deinitialised.
package struct Slab<Record: BitwiseCopyable>: ~Copyable {
    private static var chunkBits: Int { 12 }
    private static var chunkCount: Int { 1 << chunkBits }

    private struct Cell {
        var generation: UInt32
        var nextFree: Slot
        var isUsed: Bool
        var record: Record
    }

    private var chunks: [UnsafeMutablePointer<Cell>] = []
    private var firstFree: Slot = .max
    /// The number of slots that were ever used: slots are 0..<capacity.
    package private(set) var capacity: Slot = 0
    /// The number of records in it.
    package private(set) var count: Int = 0

    package init() {}

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// Takes a free slot for a record.
    package mutating func insert(_ record: Record) -> Slot {
        count += 1
        if firstFree != .max {
            let slot = firstFree
            let cell = at(slot)
            firstFree = cell.pointee.nextFree
            cell.pointee.isUsed = true
            cell.pointee.record = record
            return slot
        }
        let slot = capacity
        if Int(slot) >> Self.chunkBits == chunks.count { chunks.append(.allocate(capacity: Self.chunkCount)) }
        capacity += 1
        at(slot).initialize(to: Cell(generation: 0, nextFree: .max, isUsed: true, record: record))
        return slot
    }

    /// Puts a record into a slot that is free; only before ``rebuildFreeList()``.
    package mutating func restore(_ record: Record, at slot: Slot) {
        while capacity <= slot {
            if Int(capacity) >> Self.chunkBits == chunks.count { chunks.append(.allocate(capacity: Self.chunkCount)) }
            capacity += 1
            // Its record is never read before the cell is used.
            at(capacity - 1).initialize(to: Cell(generation: 0, nextFree: .max, isUsed: false, record: record))
        }
        let cell = at(slot)
        precondition(!cell.pointee.isUsed, "a slot holds one record")
        cell.pointee.isUsed = true
        cell.pointee.record = record
        count += 1
    }

    /// Every slot without a record is free from now on, the lowest first.
    package mutating func rebuildFreeList() {
        firstFree = .max
        for slot in (0..<capacity).reversed() where !at(slot).pointee.isUsed {
            at(slot).pointee.nextFree = firstFree
            firstFree = slot
        }
    }

    /// Frees a slot; handles to it fail from now on.
    package mutating func remove(_ slot: Slot) {
        let cell = at(slot)
        precondition(cell.pointee.isUsed, "a slot is freed once")
        cell.pointee.isUsed = false
        cell.pointee.generation &+= 1
        cell.pointee.nextFree = firstFree
        firstFree = slot
        count -= 1
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
