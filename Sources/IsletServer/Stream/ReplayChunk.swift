import IsletCore

/// A run of one app's published events in one piece of memory: records from the front, their offsets from the back, and
/// before the records a small hash table by entity, so that an event is found by its sequence number in one step and
/// the events of an entity without looking at the others.
///
/// Everything that finds an event goes away together with its memory; nothing outside has to be corrected.
///
/// Unsafe pointer: the ``ReplayRing`` that makes a chunk owns it alone and frees it once. Offsets are only ever taken
/// from the chunk's own tables, which `append` fills with places inside the memory.
struct ReplayChunk: BitwiseCopyable {
    /// What precedes the bytes of topic and JSON.
    struct Header: BitwiseCopyable {
        var entity: EntityID
        /// The sequence number of the entity's event before.
        var previousSeq: UInt64
        var revision: UInt32
        var jsonCount: UInt32
        /// The offset of the record before it of the same bucket; 0 for none.
        var previous: UInt32
        var index: UInt16
        var topicCount: UInt16
    }

    /// A record in a chunk, as long as the chunk lives.
    struct Record: BitwiseCopyable {
        fileprivate let address: UnsafeMutableRawPointer

        var header: Header { address.load(as: Header.self) }

        var topic: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: address + ReplayChunk.headerBytes, count: Int(header.topicCount))
        }

        var json: UnsafeRawBufferPointer {
            let header = header
            return UnsafeRawBufferPointer(
                start: address + ReplayChunk.headerBytes + Int(header.topicCount), count: Int(header.jsonCount))
        }
    }

    static let headerBytes = MemoryLayout<Header>.stride
    private static let offsetBytes = MemoryLayout<UInt32>.stride
    /// One bucket for each of these bytes, about the size of a record.
    private static let bytesPerBucket = 512
    /// An index has sixteen bits.
    private static let maximumCount = 65_535

    private let memory: UnsafeMutableRawPointer
    let capacity: Int
    let firstSeq: UInt64
    private(set) var count = 0
    /// Where the next record goes.
    private var end: Int
    private let bucketShift: UInt64

    /// - Parameter capacity: A power of two of at least 1 024.
    init(capacity: Int, firstSeq: UInt64) {
        self.init(
            memory: .allocate(byteCount: capacity, alignment: MemoryLayout<Header>.alignment), capacity: capacity,
            firstSeq: firstSeq)
    }

    /// A chunk in the memory of one that is not used any more.
    init(reusing old: ReplayChunk, firstSeq: UInt64) {
        self.init(memory: old.memory, capacity: old.capacity, firstSeq: firstSeq)
    }

    private init(memory: UnsafeMutableRawPointer, capacity: Int, firstSeq: UInt64) {
        self.memory = memory
        self.capacity = capacity
        self.firstSeq = firstSeq
        let buckets = capacity / Self.bytesPerBucket
        bucketShift = UInt64(64 - buckets.trailingZeroBitCount)
        end = buckets * Self.offsetBytes
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: end)
    }

    /// The capacity that one event needs at least, in a chunk of its own.
    static func capacity(forEventOf bytes: Int) -> Int {
        let needed = space(forEventOf: bytes)
        return powerOfTwo(from: needed + needed / 64 + 1_024)
    }

    /// The least power of two that is not below a positive number.
    static func powerOfTwo(from number: Int) -> Int {
        1 << (Int.bitWidth - (number - 1).leadingZeroBitCount)
    }

    /// The sequence number after the last one in it.
    var endSeq: UInt64 { firstSeq + UInt64(count) }

    func deallocate() {
        memory.deallocate()
    }

    func hasRoom(forEventOf bytes: Int) -> Bool {
        count < Self.maximumCount && end + Self.space(forEventOf: bytes) <= capacity - count * Self.offsetBytes
    }

    /// Adds the event with the number ``endSeq``; there must be room.
    mutating func append(
        _ entity: EntityID, hash: UInt64, previousSeq: UInt64, revision: UInt32, topic: UnsafeRawBufferPointer,
        json: UnsafeRawBufferPointer
    ) {
        precondition(hasRoom(forEventOf: topic.count + json.count), "no room in the chunk")
        let bucket = memory + bucket(of: hash)
        let header = Header(
            entity: entity, previousSeq: previousSeq, revision: revision, jsonCount: UInt32(json.count),
            previous: bucket.load(as: UInt32.self), index: UInt16(count), topicCount: UInt16(topic.count))
        let record = memory + end
        record.storeBytes(of: header, as: Header.self)
        UnsafeMutableRawBufferPointer(start: record + Self.headerBytes, count: topic.count).copyMemory(from: topic)
        UnsafeMutableRawBufferPointer(start: record + Self.headerBytes + topic.count, count: json.count)
            .copyMemory(from: json)
        bucket.storeBytes(of: UInt32(end), as: UInt32.self)
        count += 1
        (memory + capacity - count * Self.offsetBytes).storeBytes(of: UInt32(end), as: UInt32.self)
        end += Self.space(forEventOf: topic.count + json.count) - Self.offsetBytes
    }

    /// The record of a sequence number that is in it.
    func record(ofSeq seq: UInt64) -> Record {
        precondition(seq >= firstSeq && seq < endSeq, "an event of another chunk")
        let index = Int(seq - firstSeq)
        let offset = (memory + capacity - (index + 1) * Self.offsetBytes).load(as: UInt32.self)
        return Record(address: memory + Int(offset))
    }

    /// Calls with the records of an entity, newest first, until `body` returns false.
    func forEachRecord(of entity: EntityID, hash: UInt64, _ body: (Record) -> Bool) -> Bool {
        var offset = (memory + bucket(of: hash)).load(as: UInt32.self)
        while offset != 0 {
            let record = Record(address: memory + Int(offset))
            let header = record.header
            if header.entity == entity, !body(record) { return false }
            offset = header.previous
        }
        return true
    }

    /// The bytes that an event takes, its offset included; records begin at multiples of eight.
    private static func space(forEventOf bytes: Int) -> Int {
        (headerBytes + bytes + 7) & ~7 + offsetBytes
    }

    private func bucket(of hash: UInt64) -> Int {
        Int(hash >> bucketShift) * Self.offsetBytes
    }
}
