/// A device's number in the engine.
package typealias DeviceID = UInt32

/// What is known of one app on one device, beside what it has there.
struct DeviceApp: Equatable, Sendable {
    /// A switch that a person set there, and the app's version of it when it was set: an older one is overridden.
    struct Switch: Equatable, Sendable {
        var isOn: Bool
        var version: UInt64
    }

    var activitiesEnabled: Switch?
    var frequentPushesEnabled: Switch?
    /// Whether the device reported that it went to the background.
    var isInBackground = false
    /// Its activities there are on their way out, because there are too many for one turn.
    var departure: Departure?

    /// Whether it counts toward ``DeviceTable/maximumApps``.
    var isSet: Bool { activitiesEnabled != nil || frequentPushesEnabled != nil || isInBackground }
    /// Whether there is nothing to keep.
    var isEmpty: Bool { !isSet && departure == nil }

    /// Takes the switches away that say nothing of their own: those that were set for all devices since, and those that are
    /// as for all devices.
    mutating func dropWhatHoldsAnyway(_ app: AppRecord) {
        if let own = activitiesEnabled,
            own.version != app.enabledVersion || own.isOn == app.settings.activitiesEnabled
        {
            activitiesEnabled = nil
        }
        if let own = frequentPushesEnabled,
            own.version != app.frequentPushesVersion || own.isOn == app.settings.frequentPushesEnabled
        {
            frequentPushesEnabled = nil
        }
    }
}

/// An app on a device, under which what is known of both is remembered.
package struct AppOnDevice: Hashable, Sendable {
    package var app: AppID
    /// By its name, since it may be forgotten by now.
    package var device: [UInt8]

    package init(app: AppID, device: [UInt8]) {
        self.app = app
        self.device = device
    }
}

/// What one app had on a device goes, some in each turn.
struct Departure: Equatable, Sendable {
    /// Activities that started before this ordinal go.
    var before: UInt64
    /// Whether the app was uninstalled there; else it was switched off.
    var isUninstall: Bool
}

/// One device: the activities on it, and what it reported. It is forgotten when nothing is known of it any more.
package struct DeviceRecord: Sendable {
    package let name: [UInt8]
    /// The ends of the list of its listed activities: the open ones first, then the ended ones.
    var first: Slot = .max
    var last: Slot = .max
    /// How many count toward its maximum, and each app's share.
    var counted = 0
    var countedByApp: [AppID: Int] = [:]
    /// How many records point at it, listed or retained.
    var references = 0
    /// What is known of apps on it; none of them is empty.
    var apps: [AppID: DeviceApp] = [:]

    var isForgettable: Bool { references == 0 && apps.isEmpty }
}

/// All devices.
package struct DeviceTable: ~Copyable {
    /// At most this many devices are known at a time.
    package static let maximumDevices = 2_000_000
    /// At most this many widgets, and as many controls, are placed on one device: what it reports reaches all of them
    /// in one turn.
    package static let maximumPlaced = 4_096
    /// At most this many apps have settings of their own on one device, or are in the background there; beyond, only
    /// those that were in the foreground when there was no room: at most ``DeviceConditions/maximumApps``.
    package static let maximumApps = 256

    /// In pieces of ``pieceSize``, so that nothing moves when another device comes.
    private var pieces: [[DeviceRecord?]] = []
    private var free: [DeviceID] = []
    /// From a name to its number. Not a dictionary: to grow, one of a million names moves all of them at once, while
    /// everybody waits.
    private var index = SlotIndex()

    private static let pieceSize = 1_024

    package init() {}

    package var count: Int { index.count }
    /// One past the highest number that was ever given.
    package private(set) var capacity: DeviceID = 0

    private subscript(at device: DeviceID) -> DeviceRecord? {
        get { pieces[Int(device) / Self.pieceSize][Int(device) % Self.pieceSize] }
        _modify { yield &pieces[Int(device) / Self.pieceSize][Int(device) % Self.pieceSize] }
    }

    subscript(device: DeviceID) -> DeviceRecord {
        get {
            guard let record = self[at: device] else { preconditionFailure("a device that was forgotten") }
            return record
        }
        _modify {
            guard var record = self[at: device] else { preconditionFailure("a device that was forgotten") }
            self[at: device] = nil
            defer { self[at: device] = record }
            yield &record
        }
    }

    /// The device of a name, or nil.
    func find(_ name: [UInt8]) -> DeviceID? { name.withUnsafeBytes { find($0) } }

    private func find(_ name: UnsafeRawBufferPointer) -> DeviceID? {
        index.find(NameTable.hash(name)) { device in
            self[at: device]?.name.withUnsafeBytes { equal($0, name) } ?? false
        }
    }

    /// The record of a device, or nil where it was forgotten.
    func record(_ device: DeviceID) -> DeviceRecord? {
        device < capacity ? self[at: device] : nil
    }

    package func name(_ device: DeviceID) -> [UInt8] { self[device].name }

    package func find(_ name: FrameRange, of frame: Span<UInt8>) -> DeviceID? {
        let part = frame.extracting(name.indices)
        return part.withUnsafeBytes { find($0) }
    }

    /// The device of a name, made where it is new; nil where there is no room for another.
    mutating func device(_ name: FrameRange, of frame: Span<UInt8>) -> DeviceID? {
        if let known = find(name, of: frame) { return known }
        guard count < DeviceTable.maximumDevices else { return nil }
        let bytes = frame.bytes(name)
        let number: DeviceID
        if let reused = free.popLast() {
            number = reused
        } else {
            number = capacity
            capacity += 1
            if Int(number) == pieces.count * Self.pieceSize {
                pieces.append(Array(repeating: nil, count: Self.pieceSize))
            }
        }
        self[at: number] = DeviceRecord(name: bytes)
        index.insert(bytes.withUnsafeBytes { NameTable.hash($0) }, number)
        return number
    }

    /// Forgets a device of which nothing is known any more.
    mutating func forgetIfEmpty(_ device: DeviceID) {
        guard let record = self[at: device], record.isForgettable else { return }
        index.remove(record.name.withUnsafeBytes { NameTable.hash($0) }, device)
        self[at: device] = nil
        free.append(device)
    }
}
