/// The number of a group in the engine.
package typealias GroupID = UInt32

/// All app groups of a partition with their keys: a part of the ``Engine``. Groups are never forgotten, so their number
/// is bounded.
package struct GroupTable: ~Copyable {
    /// At most this many groups.
    package static let maximumGroups = 10_000
    /// At most this many members of one group.
    package static let maximumMembers = 64

    package internal(set) var records: [GroupRecord] = []
    private var names = NameTable()
    var slab = Slab<GroupItem>()
    /// From (group, key) to the slot.
    var byKey = SlotIndex()
    /// The keys, free slots among them, that changed since a snapshot wrote them.
    package var changedSlots = ChangedSlots()
    /// The groups whose members, or highest deleted revision, did.
    package internal(set) var changedGroups: [GroupID] = []
    /// What happened since the last release, in order.
    package internal(set) var events: [GroupEvent] = []
    /// Those of which no member was known when they were taken back, so that their owner became the only one.
    package internal(set) var restoredWithoutMembers: [GroupID] = []

    init() {}

    /// One past the highest slot that was ever used.
    package var slotCount: Slot { slab.capacity }

    /// All groups, by their numbers.
    package var all: [GroupRecord] { records }

    /// How many keys there are.
    package var count: Int { slab.count }

    package subscript(group: GroupID) -> GroupRecord {
        get { records[Int(group)] }
        _modify { yield &records[Int(group)] }
    }

    /// The item in a slot, or nil where the slot is free.
    package func record(at slot: Slot) -> GroupItem? { slab.isUsed(slot) ? slab[slot] : nil }

    /// The group of a name, or nil.
    package func find(_ name: [UInt8]) -> GroupID? { name.withUnsafeBytes { names.find($0) } }

    /// Makes a group whose name is new.
    mutating func make(_ name: [UInt8], owner: AppID, named ownerName: [UInt8]) -> GroupID {
        let number = name.withUnsafeBytes { names.intern($0).number }
        records.append(GroupRecord(name: name, owner: owner, named: ownerName))
        return number
    }

    /// The next round of the snapshot writes this group.
    mutating func changed(_ group: GroupID) {
        guard !self[group].isChanged else { return }
        self[group].isChanged = true
        changedGroups.append(group)
    }

    /// The groups that changed since a snapshot wrote them; they count as written.
    package mutating func takeChangedGroups(_ count: Int) -> [GroupID] {
        let taken = Array(changedGroups.prefix(count))
        for group in taken { self[group].isChanged = false }
        changedGroups.removeFirst(taken.count)
        return taken
    }
}

/// One app group.
package struct GroupRecord: Sendable {
    package let name: [UInt8]
    /// The app that made it, on whose stream its events are.
    package let owner: AppID
    /// The owner and the others, in the order in which they were admitted; none while recovery does not know them yet.
    package internal(set) var members: [AppID] = []
    /// `<owner>/group/<name>/`.
    package let topicPrefix: [UInt8]
    package let topicHash: TopicHash
    /// The slots of its keys, in the order of the keys' bytes.
    package internal(set) var keys: [Slot] = []
    /// The bytes of all its values.
    package internal(set) var bytes = 0
    /// The highest revision that any key had when it was deleted: a key that is set anew begins above it.
    var highestDeleted: UInt32 = 0
    var isChanged = false

    init(name: [UInt8], owner: AppID, named ownerName: [UInt8]) {
        self.name = name
        self.owner = owner
        topicPrefix = ownerName + Array("/group/".utf8) + name + [UInt8(ascii: "/")]
        var hash = TopicHash()
        for byte in topicPrefix { hash.combine(byte) }
        topicHash = hash
    }
}

/// One key of a group, in the slab. Plain bits.
package struct GroupItem: Sendable, BitwiseCopyable {
    package let group: GroupID
    /// The app that set it last, or deleted it.
    package internal(set) var by: AppID
    package internal(set) var updatedAt: Instant
    package internal(set) var revision: UInt32
    /// The sequence number of its last event; 0 before the first.
    package internal(set) var lastSeq: UInt64
    package internal(set) var key: PayloadHandle
    /// The exact bytes of the JSON value.
    package internal(set) var value: PayloadHandle
    /// Whether it was deleted, and only its event is still to be written.
    package internal(set) var isRemoved = false
}

/// One event of a group.
package struct GroupEvent: Sendable, BitwiseCopyable {
    package enum Name: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        case set, deleted, notified
    }

    package var name: Name
    package var group: GroupID
    /// The item; nil for a notification.
    package var slot: Slot?
    /// What a notification is called, in the frame of its command.
    package var signal: FrameRange?
    /// The owner of the group, whose stream it is on.
    package var app: AppID
    /// The member whose command made it.
    package var by: AppID
    package var seq: UInt64
    /// The sequence number of the key's event before; 0 for its first.
    package var previous: UInt64
    package var at: Instant
    /// The key's, after it; 0 for a notification.
    package var revision: UInt32
    /// Whether the key was not there before.
    package var isFirst: Bool
    /// How many events of any family were made before it and are not released.
    package var position: Int
}
