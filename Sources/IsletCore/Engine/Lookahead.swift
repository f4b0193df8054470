/// The activities that commands name which wait to be executed. ``Engine/fetch(_:)`` brings what they will touch into the
/// processor's caches.
///
/// A command touches an index entry, a record, a timer with its two neighbours and a payload, each of them somewhere in
/// memory and named by the one before: one after another they cost a third of the time of an update (measured with
/// 100 000 activities). Fetched for many commands at once, each kind in a loop that does nothing else, the waits overlap.
/// It changes nothing, and what it fetches may turn out not to be wanted.
package struct Lookahead: ~Copyable {
    /// At most so many activities at once: what is fetched must still be there when its command comes.
    package static let maximumCount = 256

    fileprivate var hashes: [UInt64] = []
    fileprivate var slots: [Slot] = []
    /// Made of what was fetched, so that the compiler does not leave the fetching out.
    fileprivate var trace: UInt64 = 0

    package init() {
        hashes.reserveCapacity(Self.maximumCount)
        slots.reserveCapacity(Self.maximumCount)
    }

    /// Whether no more activities can be added.
    package var isFull: Bool { hashes.count >= Self.maximumCount }

    /// How many were added.
    package var count: Int { hashes.count }

    /// Adds what may be the id of an activity.
    package mutating func add(_ id: EntityID) {
        guard !isFull else { return }
        hashes.append(id.keyedHash)
    }

    package mutating func removeAll() {
        hashes.removeAll(keepingCapacity: true)
    }
}

extension Engine {
    /// With fewer activities than these the caches hold all of them.
    private static let fewActivities = 4_096

    /// Whether there is anything to win by ``fetch(_:)``.
    package var isWorthFetching: Bool { activities.count >= Self.fewActivities }

    /// Touches what commands on these activities will touch.
    ///
    /// - Returns: how many activities were found, if no two share 32 bits of their hashes.
    @discardableResult
    package func fetch(_ wanted: inout Lookahead) -> Int {
        var trace: UInt64 = 0
        for hash in wanted.hashes { trace &+= byID.touch(hash) }
        wanted.slots.removeAll(keepingCapacity: true)
        for hash in wanted.hashes {
            if let slot = byID.find(hash, matches: { _ in true }) { wanted.slots.append(slot) }
        }
        for slot in wanted.slots {
            trace &+= activities.touch(slot)
            trace &+= wheel.nodes.touch(slot)
        }
        for slot in wanted.slots {
            trace &+= payloads.touch(activities[slot].content)
            trace &+= wheel.nodes.touchNeighbours(of: slot)
        }
        wanted.trace &+= trace
        return wanted.slots.count
    }
}
