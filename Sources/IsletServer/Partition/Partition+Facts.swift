import IsletCore
import IsletJournal

/// Facts on their way into the journal: a note and a row of the snapshot write the same.
extension Partition {
    /// What is known under a key of its own.
    enum Fact {
        case app(AppID)
        case appOnDevice(AppOnDevice)
        /// All apps of a device, by its name, as releases have written it: it is only forgotten.
        case formerDevice([UInt8])
        case controlKind(ControlKindID)
        /// Whether a device is locked, by its name.
        case lock([UInt8])
        case group(GroupID)
        /// A group of this name, which was removed: it is only forgotten.
        case formerGroup([UInt8])
        /// How far the revisions of removed groups had come.
        case removedGroups
        case widgetKind(DeclaredKindID)
        /// What decides on a device whether reloads of widgets are charged, by its name.
        case conditions([UInt8])
        /// Whether a reload of controls has not reached all of them.
        case controlReload(SweptKinds)
        case widgetReload(SweptKinds)
        /// What is left of a client's forgotten answers.
        case trace(EntityID)
        /// Where the clock was to go that has not arrived.
        case travel
        /// How far a clock of another speed may have come.
        case lease
        /// Which answers are remembered for longer, because commits were held back.
        case retryHold
    }

    static let leaseKey = [UInt8(ascii: "u")]
    private static let travelKey = [UInt8(ascii: "t")]
    private static let retryHoldKey = [UInt8(ascii: "v")]

    /// Puts a fact's value into `image`.
    ///
    /// - Returns: its key, and whether anything is known of it; else it is forgotten under that key.
    func write(_ fact: Fact) -> (key: [UInt8], isKnown: Bool) {
        image.removeAll()
        switch fact {
        case .app(let app):
            engine.writeFact(app: app, to: &image)
            return (engine.factKey(app: app), true)
        case .appOnDevice(let place):
            return (engine.factKey(place), engine.writeFact(place, to: &image))
        case .formerDevice(let name):
            return (engine.factKey(formerDevice: name), false)
        case .controlKind(let kind):
            engine.writeFact(controlKind: kind, to: &image)
            return (engine.factKey(controlKind: kind), true)
        case .lock(let name):
            return (engine.factKey(lock: name), engine.writeFact(lock: name, to: &image))
        case .group(let group):
            engine.writeFact(group: group, to: &image)
            return (engine.factKey(group: group), true)
        case .formerGroup(let name): return (engine.factKey(group: name), false)
        case .removedGroups:
            engine.writeRemovedGroupsFact(to: &image)
            return (Engine.removedGroupsKey, true)
        case .widgetKind(let kind):
            engine.writeFact(widgetKind: kind, to: &image)
            return (engine.factKey(widgetKind: kind), true)
        case .conditions(let name):
            return (engine.factKey(conditions: name), engine.writeFact(conditions: name, to: &image))
        case .controlReload(let kinds):
            return (engine.factKey(controlReload: kinds), engine.writeFact(controlReload: kinds, to: &image))
        case .widgetReload(let kinds):
            return (engine.factKey(widgetReload: kinds), engine.writeFact(widgetReload: kinds, to: &image))
        case .trace(let client):
            // The snapshot goes on between batches: the one to come has nothing yet.
            let isKnown = retries.writeTrace(of: client, through: batch.number - 1, to: &image)
            return (RetryWindow.traceKey(client), isKnown)
        case .travel:
            unfinishedTravel?.write(to: &image)
            return (Self.travelKey, unfinishedTravel != nil)
        case .lease:
            lease?.write(to: &image)
            return (Self.leaseKey, lease != nil)
        case .retryHold:
            let hold = storedHold
            image.write(hold.after)
            image.write(hold.until)
            return (Self.retryHoldKey, hold != RetryHold())
        }
    }

    /// Takes back which answers are remembered for longer; false where the key is of another fact.
    func restoreRetryHold(_ key: Span<UInt8>, _ value: Span<UInt8>) throws(ImageError) -> Bool {
        guard key.count == 1, key[0] == Self.retryHoldKey[0] else { return false }
        retries.hold = try ImageReader.read(value) { reader throws(ImageError) in
            RetryHold(after: try reader.instant(), until: try reader.instant())
        }
        notedHold = retries.hold
        return true
    }

    /// Takes back where the clock was to go; false where the key is of another fact.
    ///
    /// - Parameter value: nil: it has arrived.
    func restoreTravel(_ key: Span<UInt8>, _ value: Span<UInt8>?) throws(ImageError) -> Bool {
        guard key.count == 1, key[0] == Self.travelKey[0] else { return false }
        guard let value else {
            unfinishedTravel = nil
            return true
        }
        unfinishedTravel = try ImageReader.read(value) { reader throws(ImageError) in try UnfinishedTravel(&reader) }
        return true
    }
}
