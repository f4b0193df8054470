extension [DeviceID: [Slot]] {
    /// Those that left the slab leave the list of their device too: all of them at once, since thousands may go
    /// together.
    mutating func removeFreed<Record>(of device: DeviceID, from slab: borrowing Slab<Record>) {
        var slots = removeValue(forKey: device) ?? []
        slots.removeAll { !slab.isUsed($0) }
        if !slots.isEmpty { self[device] = slots }
    }
}
