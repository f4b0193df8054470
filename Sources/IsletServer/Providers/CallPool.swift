import IsletCore

/// One call, from when it is asked for until nothing may come of it any more.
struct Call: BitwiseCopyable {
    /// Which list it is in.
    enum Place: UInt8, BitwiseCopyable {
        case none
        /// Waits in its kind's queue.
        case actions, retries, values
        /// Its provider has it.
        case inFlight
        /// Over: its answer would be late, and nobody waits for it.
        case late
    }

    var purpose: ProviderTable.Purpose
    /// The place of its kind in the table.
    var kind: UInt32
    /// The owner's number of its kind, which holds when the kind has left its place.
    let kindNumber: UInt32
    /// Its whole time.
    let within: Milliseconds
    /// When it fails, or, of a read that waits, is looked at anew; of a late one when it is forgotten.
    var deadline: Milliseconds
    /// Of the last attempt.
    var id = CallID(0)
    var sentAt: Milliseconds = 0
    /// Who has it.
    var provider = ProviderRef.none
    /// Of one that is retried, who does not get it again.
    var excluded = ProviderRef.none
    var providerID = EntityID(high: 0, low: 0)
    /// How often it was sent, or will have been with the next time.
    var attempt: UInt8 = 1
    /// Whether the owner has sent the last attempt: until then its provider knows nothing of it.
    var isSent = false
    var place = Place.none
    /// Whether what it asks for failed the last time that it was asked for: that it fails again says nothing of others.
    var hasFailed = false
    /// Of a read or a question, whether somebody waits for it.
    var isAwaited = false
    /// Why the first attempt failed.
    var reason = CallFailure.none
    var next = CallList.end
    var previous = CallList.end

    init(
        _ purpose: ProviderTable.Purpose, kind: UInt32, numbered kindNumber: UInt32, within: Milliseconds,
        at now: Milliseconds
    ) {
        self.purpose = purpose
        self.kind = kind
        self.kindNumber = kindNumber
        self.within = within
        deadline = now + within
    }

    /// Whether any provider was sent it, now or the first time.
    var wasSent: Bool { isSent || attempt > 1 }

    /// Whether its time begins when it is sent: it is a read that no provider was sent yet.
    var hasTimeAhead: Bool { purpose.isRead && !wasSent }

    /// Whether it is a question for which somebody waits.
    var isAwaitedQuestion: Bool { isAwaited && purpose.aside == .question }

    /// Whether it is a read that tells something of its provider.
    var isFreshRead: Bool { purpose.isRead && !hasFailed }

    /// Whether its provider had the whole of its time for it.
    var hadItsTime: Bool { deadline - sentAt >= within }
}

/// The ends of a list of calls, which are linked through their records: taking one out of the middle costs nothing.
struct CallList: BitwiseCopyable {
    /// No slot.
    static let end = UInt32.max

    fileprivate(set) var first = end
    fileprivate(set) var last = end
    fileprivate(set) var count = 0

    var isEmpty: Bool { count == 0 }
}

/// The records of all calls, in chunks that never move, with a free list: once warm, a call allocates nothing.
///
/// Not `Slab`, because a generic type of another module is not specialised here. Unsafe pointers for speed, and safe for
/// the same reasons as there: the struct is noncopyable and the only owner of its chunks; a chunk is initialised whole;
/// every access goes through `at(_:)`, whose array access bounds the chunk and whose mask the place in it; a record is
/// plain bits. No pointer leaves this type.
struct CallPool: ~Copyable {
    private static let chunkBits: UInt32 = 11
    private static let chunkSize = 1 << Int(chunkBits)
    private static let chunkMask = UInt32(chunkSize - 1)

    private var chunks: [UnsafeMutablePointer<Call>] = []
    private var firstFree = CallList.end
    /// How many slots were ever used.
    private(set) var capacity: UInt32 = 0
    /// How many records there are.
    private(set) var count = 0

    init() {}

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// Takes a slot for a record that is in no list.
    mutating func insert(_ call: Call) -> UInt32 {
        count += 1
        let slot: UInt32
        if firstFree != CallList.end {
            slot = firstFree
            firstFree = at(slot).pointee.next
        } else {
            slot = capacity
            if Int(slot >> Self.chunkBits) == chunks.count {
                let chunk = UnsafeMutablePointer<Call>.allocate(capacity: Self.chunkSize)
                chunk.initialize(repeating: call, count: Self.chunkSize)
                chunks.append(chunk)
            }
            capacity += 1
        }
        at(slot).pointee = call
        return slot
    }

    /// Frees the slot of a record that is in no list.
    mutating func remove(_ slot: UInt32) {
        let cell = at(slot)
        precondition(cell.pointee.place == .none, "a call leaves its list before it is forgotten")
        cell.pointee.next = firstFree
        firstFree = slot
        count -= 1
    }

    /// Whether the slot was ever used: its record may be read.
    func contains(_ slot: UInt32) -> Bool { slot < capacity }

    subscript(slot: UInt32) -> Call {
        @inline(__always) get { at(slot).pointee }
        @inline(__always) _modify { yield &at(slot).pointee }
    }

    /// Puts a call that is in no list at the end of one.
    mutating func append(_ slot: UInt32, to list: inout CallList, as place: Call.Place) {
        let cell = at(slot)
        precondition(cell.pointee.place == .none && place != .none, "a call is in one list at a time")
        cell.pointee.place = place
        cell.pointee.previous = list.last
        cell.pointee.next = CallList.end
        if list.last == CallList.end { list.first = slot } else { at(list.last).pointee.next = slot }
        list.last = slot
        list.count += 1
    }

    /// Puts a call that is in no list at the beginning of one.
    mutating func prepend(_ slot: UInt32, to list: inout CallList, as place: Call.Place) {
        let cell = at(slot)
        precondition(cell.pointee.place == .none && place != .none, "a call is in one list at a time")
        cell.pointee.place = place
        cell.pointee.previous = CallList.end
        cell.pointee.next = list.first
        if list.first == CallList.end { list.last = slot } else { at(list.first).pointee.previous = slot }
        list.first = slot
        list.count += 1
    }

    /// Takes a call out of the list that it is in.
    mutating func unlink(_ slot: UInt32, from list: inout CallList) {
        let cell = at(slot)
        let (next, previous) = (cell.pointee.next, cell.pointee.previous)
        if previous == CallList.end { list.first = next } else { at(previous).pointee.next = next }
        if next == CallList.end { list.last = previous } else { at(next).pointee.previous = previous }
        list.count -= 1
        cell.pointee.place = .none
    }

    @inline(__always) private func at(_ slot: UInt32) -> UnsafeMutablePointer<Call> {
        chunks[Int(slot >> Self.chunkBits)] + Int(slot & Self.chunkMask)
    }
}
