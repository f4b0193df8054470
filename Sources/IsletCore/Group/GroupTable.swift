/// All app groups of a partition with their keys: a part of the ``Engine``.
package struct GroupTable: ~Copyable {
    /// At most this many groups.
    package static let maximumGroups = 10_000
    /// At most this many members of one group.
    package static let maximumMembers = 64

    var slab = Slab<GroupItem>()
    /// The keys, free slots among them, that changed since a snapshot wrote them.
    package var changedSlots = ChangedSlots()
    /// What happened since the last release, in order.
    package internal(set) var events: [GroupEvent] = []

    init() {}

    /// One past the highest slot that was ever used.
    package var slotCount: Slot { slab.capacity }

    /// The item in a slot, or nil where the slot is free.
    package func record(at slot: Slot) -> GroupItem? { slab.isUsed(slot) ? slab[slot] : nil }
}

/// The number of a group in the engine.
package typealias GroupID = UInt32

/// One key of a group, in the slab. Plain bits.
package struct GroupItem: Sendable, BitwiseCopyable {
    package let group: GroupID
    /// The app that set it last.
    package internal(set) var by: AppID
    package internal(set) var updatedAt: Instant
    package internal(set) var revision: UInt32
    /// The sequence number of its last event.
    package internal(set) var lastSeq: UInt64
    package internal(set) var key: PayloadHandle
    /// The exact bytes of the JSON value.
    package internal(set) var value: PayloadHandle
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
    /// The owner of the group, whose stream it is on.
    package var app: AppID
    package var seq: UInt64
    /// The sequence number of the key's event before; 0 for its first.
    package var previous: UInt64
    package var at: Instant
    package var revision: UInt32
    package var isFirst: Bool
    package var isByCommand: Bool
    /// How many events of any family were made before it and are not released.
    package var position: Int
}
