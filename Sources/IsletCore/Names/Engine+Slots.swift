/// The slots of a device that its activities hold, as the maxima count them.
package struct HeldSlots: Sendable {
    package var device: [UInt8]
    package var held: Int
    /// Who holds them, the app with most first, and by name among equals.
    package var apps: [(app: AppID, held: Int)]
}

extension Engine {
    /// How many slots of a device are held: by an app or, with nil, by all. 0 where the device is not known any more.
    package func heldSlots(on device: DeviceID, by app: AppID? = nil) -> Int {
        guard let record = devices.record(device) else { return 0 }
        return app.map { record.countedByApp[$0] ?? 0 } ?? record.counted
    }

    /// Who holds the slots of a device; nil where it is not known any more.
    package func slotHolders(on device: DeviceID) -> HeldSlots? {
        guard let record = devices.record(device) else { return nil }
        let apps = record.countedByApp.map { (app: $0.key, held: $0.value) }.sorted { one, other in
            guard one.held == other.held else { return one.held > other.held }
            return self.apps[one.app].name.lexicographicallyPrecedes(self.apps[other.app].name)
        }
        return HeldSlots(device: record.name, held: record.counted, apps: apps)
    }
}
