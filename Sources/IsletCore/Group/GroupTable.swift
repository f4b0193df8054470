/// The number of a group in the engine.
package typealias GroupID = UInt32

/// All app groups of a partition with their keys: a part of the ``Engine``. Their number is bounded, since
/// only their owners remove them.
package struct GroupTable: ~Copyable {
    /// At most this many groups.
    package static let maximumGroups = 10_000
    /// At most this many members of one group.
    package static let maximumMembers = 64

    package private(set) var records: [GroupRecord] = []
    /// The numbers of removed groups: the next ones get them.
    private var vacant: [GroupID] = []
    private var byName = SlotIndex()
    /// The highest revision that a key of a removed group had: those of a group that is made later begin above it, as whoever
    /// still holds the value of such a key must see that a new one is newer.
    package private(set) var highestRemoved: UInt32 = 0
    /// The names of groups that were removed since a snapshot wrote them, and not made anew.
    package private(set) var formerNames: Set<[UInt8]> = []
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

    /// All groups by their numbers, and those removed ones whose numbers no other has yet (``GroupRecord/isRemoved``).
    package var all: [GroupRecord] { records }

    /// How many groups there are.
    package var groupCount: Int { records.count - vacant.count }

    /// How many keys there are.
    package var count: Int { slab.count }

    package subscript(group: GroupID) -> GroupRecord {
        get { records[Int(group)] }
        _modify { yield &records[Int(group)] }
    }

    /// The item in a slot, or nil where the slot is free.
    package func record(at slot: Slot) -> GroupItem? { slab.isUsed(slot) ? slab[slot] : nil }

    /// The group of a name, or nil.
    package func find(_ name: [UInt8]) -> GroupID? {
        byName.find(GroupTable.hash(name)) { records[Int($0)].name == name }
    }

    /// Makes a group whose name is new.
    ///
    /// - Parameter isRestored: whether recovery makes it. It gives no number twice, so that the keys of a group that was
    ///   removed meanwhile are those of none.
    mutating func make(_ name: [UInt8], owner: AppID, named ownerName: [UInt8], isRestored: Bool) -> GroupID {
        var record = GroupRecord(name: name, owner: owner, named: ownerName)
        // What is taken back says itself above which revision it began.
        record.highestDeleted = isRestored ? 0 : highestRemoved
        let number: GroupID
        if !isRestored, let free = vacant.popLast() {
            number = free
            records[Int(number)] = record
        } else {
            number = GroupID(records.count)
            records.append(record)
        }
        byName.insert(GroupTable.hash(name), number)
        formerNames.remove(name)
        return number
    }

    /// Removes a group. The snapshot forgets it with its next round.
    mutating func remove(_ group: GroupID) {
        let record = self[group]
        byName.remove(GroupTable.hash(record.name), group)
        highestRemoved = max(highestRemoved, record.highestDeleted)
        formerNames.insert(record.name)
        if record.isChanged { changedGroups.removeAll { $0 == group } }
        self[group].isChanged = false
        self[group].isRemoved = true
        self[group].members = []
        vacant.append(group)
    }

    /// The snapshot may have a group that is not there any more.
    mutating func forget(_ name: [UInt8]) { formerNames.insert(name) }

    /// What is known of groups that were removed before the service started anew.
    mutating func raise(highestRemoved revision: UInt32) { highestRemoved = max(highestRemoved, revision) }

    /// The names of removed groups that the snapshot is to forget; they count as forgotten.
    package mutating func takeFormerNames() -> [[UInt8]] {
        defer { formerNames = [] }
        return Array(formerNames)
    }

    private static func hash(_ name: [UInt8]) -> UInt64 { name.withUnsafeBytes { NameTable.hash($0) } }

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
    /// Whether it was removed, and its number is no other's yet.
    package internal(set) var isRemoved = false

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
