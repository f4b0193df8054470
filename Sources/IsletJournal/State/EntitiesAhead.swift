/// Reads the snapshot's entities on a thread of its own, ahead of the caller that takes them back.
///
/// SQLite takes about as long for a row as the engine: side by side, a start takes as long as the slower of them.
enum EntitiesAhead {
    /// So many packs are on the way between the two threads, beside the one that is filled.
    private static let packCount = 4

    private struct Belt {
        /// The oldest first.
        var filled: [EntityPack] = []
        var empty = (0..<packCount).map { _ in EntityPack() }
        var isWanted = true
        /// Set when the reader does not touch the database any more.
        var ending: Result<Void, any Error>?
    }

    /// Nobody takes any more.
    private struct Unwanted: Error {}

    /// Calls `visit` on this thread with each entity in the order of the slots.
    ///
    /// - Parameter state: is not used by anybody else until this returns or throws.
    /// - Throws: what `visit` throws, which ends the reading, and where reading fails `SQLiteError` or `StoreError`, after
    ///   the rows before.
    static func forEach(of state: StateDatabase, _ visit: (RecoveredEntity) throws -> Void) throws {
        let belt = Monitor(Belt())
        do throws(SystemError) {
            _ = try WorkerThread(name: "islet-snapshot") { read(state, onto: belt) }
        } catch {
            throw StoreError(error)
        }
        do {
            while let pack = nextFilled(of: belt) {
                try pack.forEach(visit)
                belt.change { $0.empty.append(pack) }
            }
        } catch {
            belt.change { $0.isWanted = false }
            _ = belt.wait { $0.ending }
            throw error
        }
        try belt.wait { $0.ending }.get()
    }

    /// nil: all were taken.
    private static func nextFilled(of belt: Monitor<Belt>) -> EntityPack? {
        belt.wait { belt -> EntityPack?? in
            if !belt.filled.isEmpty { return belt.filled.removeFirst() }
            return belt.ending == nil ? nil : .some(nil)
        }
    }

    private static func nextEmpty(of belt: Monitor<Belt>) throws(Unwanted) -> EntityPack {
        let pack = try belt.wait { belt -> Result<EntityPack, Unwanted>? in
            guard belt.isWanted else { return .failure(Unwanted()) }
            return belt.empty.popLast().map { .success($0) }
        }.get()
        pack.removeAll()
        return pack
    }

    private static func read(_ state: StateDatabase, onto belt: Monitor<Belt>) {
        var pack = EntityPack()
        let ending = Result {
            try SnapshotRows(database: state.database, path: state.path).forEachEntity { row in
                pack.append(row)
                guard pack.isFull else { return }
                belt.change { $0.filled.append(pack) }
                pack = try nextEmpty(of: belt)
            }
        }
        belt.change { belt in
            // The rows before a bad one come before it is told of.
            belt.filled.append(pack)
            belt.ending = ending
        }
    }
}
