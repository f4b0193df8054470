/// Who had an activity's key before and after it, while they are retained: where the newest is forgotten first, the key
/// leads to the one before it (contract: "the newest retained one").
struct KeyNeighbours: Equatable, Sendable {
    var older: Slot?
    var newer: Slot?
}

extension Engine {
    /// An activity is forgotten: its key leads to the one before it, if it led here.
    mutating func releaseKey(of slot: Slot) {
        let record = activities[slot]
        let app = app(of: record)
        let hash = payloads.withBytes(record.cold) {
            Engine.hash(app: app, device: record.device, key: UnsafeRawBufferPointer(rebasing: $0[record.keyRange]))
        }
        let neighbours = keyNeighbours.removeValue(forKey: slot) ?? KeyNeighbours()
        if let older = neighbours.older {
            setNeighbours(of: older) { $0.newer = neighbours.newer }
            if neighbours.newer == nil { byKey.replace(hash, slot, by: older) }
        } else if neighbours.newer == nil {
            byKey.remove(hash, slot)
        }
        if let newer = neighbours.newer { setNeighbours(of: newer) { $0.older = neighbours.older } }
    }

    private mutating func setNeighbours(of slot: Slot, _ change: (inout KeyNeighbours) -> Void) {
        var neighbours = keyNeighbours[slot] ?? KeyNeighbours()
        change(&neighbours)
        keyNeighbours[slot] = neighbours == KeyNeighbours() ? nil : neighbours
    }
}
