/// Something that changed without an event, and that must survive a crash nevertheless.
package enum EngineNote: Equatable, Sendable {
    /// An app's settings.
    case app(AppID)
    /// What a device reported of an app, or was set to for it.
    case appOnDevice(AppOnDevice)
    /// The last sign of life of an activity.
    case activity(Slot)
    /// What a control kind is.
    case controlKind(ControlKindID)
    /// Whether a device is locked, by its name.
    case lock([UInt8])
    /// The members of a group.
    case group(GroupID)
    /// A group of this name was removed.
    case formerGroup([UInt8])
    /// What a widget kind is, its relevance or its recommendations.
    case widgetKind(DeclaredKindID)
    /// What changed of that by which reloads of widgets on a device are charged.
    case conditions(ConditionsChange)
    /// How many requests a widget's held reload stands for.
    case heldReload(Slot)
    /// Whether a reload of controls that a command asked for has not reached all of them.
    case controlReload(SweptKinds)
    /// The same of widgets.
    case widgetReload(SweptKinds)
}

/// What the engine knows beside its activities, as keys and values that recovery reads back: apps with their streams and
/// settings, and what is known of apps on single devices.
extension Engine {
    private static let appTag = UInt8(ascii: "a")
    /// All apps of a device in one, as releases have written it. It sorts before the facts that replace it: where the
    /// snapshot has both, since a process ended while it wrote them, these are read later and hold.
    private static let deviceTag = UInt8(ascii: "d")
    private static let appOnDeviceTag = UInt8(ascii: "e")

    /// The key of an app's fact.
    package func factKey(app: AppID) -> [UInt8] { [Engine.appTag] + apps[app].name }

    /// The key of the fact that had all apps of a device.
    package func factKey(formerDevice name: [UInt8]) -> [UInt8] { [Engine.deviceTag] + name }

    /// The key of what is known of an app on a device, with a slash between them, which an app's name may not hold.
    package func factKey(_ place: AppOnDevice) -> [UInt8] {
        [Engine.appOnDeviceTag] + apps[place.app].name + [UInt8(ascii: "/")] + place.device
    }

    /// An app: how far its stream is, and its settings.
    package func writeFact(app: AppID, to writer: inout ImageWriter) {
        let record = apps[app]
        let isSwept = sweep.isUnderway && record.sweepNumber == sweep.number
        // What an older release reads too, where there is nothing that it does not know.
        let hasFlip = isSwept && record.frequentPushesFlippedOn.isSet
        writer.write(byte: hasFlip ? AppFact.versionWithFlip : AppFact.version)
        writer.write(record.seq)
        writer.write(UInt64(record.entities))
        writer.write(record.digest.value)
        writer.write(record.settings.activitiesEnabled)
        writer.write(record.settings.frequentPushesEnabled)
        writer.write(record.enabledVersion)
        writer.write(record.frequentPushesVersion)
        writer.write(record.switchedOffAt)
        writer.write(record.frequentPushesFlippedAt)
        writer.write(isSwept ? record.setAt : .never)
        if hasFlip { writer.write(record.frequentPushesFlippedOn) }
    }

    /// What is known of an app on a device; false where there is nothing to tell.
    package func writeFact(_ place: AppOnDevice, to writer: inout ImageWriter) -> Bool {
        guard let device = devices.find(place.device), let known = devices[device].apps[place.app] else { return false }
        writer.write(byte: AppOnDeviceFact.version)
        write(known.activitiesEnabled, to: &writer)
        write(known.frequentPushesEnabled, to: &writer)
        writer.write(known.isInBackground)
        writer.write(known.departure != nil)
        guard let departure = known.departure else { return true }
        writer.write(departure.before)
        writer.write(departure.isUninstall)
        return true
    }

    private func write(_ own: DeviceApp.Switch?, to writer: inout ImageWriter) {
        writer.write(own != nil)
        guard let own else { return }
        writer.write(own.isOn)
        writer.write(own.version)
    }

    /// Takes a fact back; false where its key is none of the engine's.
    ///
    /// - Parameter isInSnapshot: whether the snapshot has it; else its next round writes it.
    package mutating func restoreFact(
        _ key: Span<UInt8>, _ value: Span<UInt8>, isInSnapshot: Bool
    ) throws(ImageError) -> Bool {
        guard key.count > 1 else { return false }
        let name = FrameRange(1..<key.count)
        switch key[0] {
        case Engine.appTag:
            guard let app = apps.app(name, of: key) else { throw .contradiction("more apps than there may be") }
            try restore(app, value)
            if !isInSnapshot { appChanged(app) }
        case Engine.deviceTag:
            guard let device = devices.device(name, of: key) else {
                throw .contradiction("more devices than there may be")
            }
            try restore(formerDevice: device, value)
        case Engine.appOnDeviceTag:
            guard let place = AppOnDeviceFact.place(in: key) else { throw .unknownValue }
            let app = try restoredApp(place.app.indices, of: key)
            guard let device = devices.device(place.device, of: key) else {
                throw .contradiction("more devices than there may be")
            }
            let known = try ImageReader.read(value) { reader throws(ImageError) in try DeviceApp(&reader) }
            restore(known, of: app, on: device)
            if !isInSnapshot {
                changedAppsOnDevices.insert(AppOnDevice(app: app, device: devices[device].name))
            }
        case Engine.conditionsTag:
            try restore(conditions: key.bytes(name), value, isInSnapshot: isInSnapshot)
        default: return false
        }
        return true
    }

    /// A fact is not known any more, and the snapshot may still have it; false where its key is none of the engine's.
    package mutating func forgetFact(_ key: Span<UInt8>) -> Bool {
        guard key.count > 1 else { return false }
        if key[0] == Engine.conditionsTag {
            widgets.conditions.set(nil, of: key.bytes(FrameRange(1..<key.count)))
            return true
        }
        if key[0] == Engine.appOnDeviceTag, let place = AppOnDeviceFact.place(in: key) {
            // What the snapshot may have of it has made both known.
            if let app = apps.find(place.app, of: key), let device = devices.find(place.device, of: key) {
                devices[device].apps[app] = nil
                changedAppsOnDevices.insert(AppOnDevice(app: app, device: devices[device].name))
            }
            return true
        }
        guard key[0] == Engine.deviceTag else { return false }
        if let device = devices.find(FrameRange(1..<key.count), of: key) { replaceFormer(device, by: [:]) }
        return true
    }

    private mutating func restore(_ app: AppID, _ value: Span<UInt8>) throws(ImageError) {
        let fact = try ImageReader.read(value) { reader throws(ImageError) in try AppFact(&reader) }
        restoreStream(app, seq: fact.seq, entities: fact.entities, digest: fact.digest)
        apps[app].settings = fact.settings
        apps[app].enabledVersion = fact.enabledVersion
        apps[app].frequentPushesVersion = fact.frequentPushesVersion
        apps[app].switchedOffAt = fact.switchedOffAt
        // Where no sweep is underway, it has reached all whom it concerns.
        apps[app].frequentPushesFlippedAt = fact.sweptSince.isSet ? fact.frequentPushesFlippedAt : 0
        apps[app].frequentPushesFlippedOn = fact.flippedOn
        apps[app].sweepNumber = fact.sweptSince.isSet ? 1 : 0
        if fact.sweptSince.isSet { apps[app].setAt = fact.sweptSince }
        startOrdinal = max(startOrdinal, fact.switchedOffAt, fact.frequentPushesFlippedAt)
    }

    /// Takes all apps of a device back, as releases have written them.
    private mutating func restore(formerDevice device: DeviceID, _ value: Span<UInt8>) throws(ImageError) {
        let fact = try ImageReader.read(value) { reader throws(ImageError) in try FormerDeviceFact(&reader) }
        var known: [AppID: DeviceApp] = [:]
        for own in fact.settings {
            let app = try restoredApp(own.app, of: value)
            known[app, default: DeviceApp()].activitiesEnabled = own.activitiesEnabled
            known[app, default: DeviceApp()].frequentPushesEnabled = own.frequentPushesEnabled
        }
        for name in fact.backgroundApps {
            known[try restoredApp(name, of: value), default: DeviceApp()].isInBackground = true
        }
        for departure in fact.departures {
            known[try restoredApp(departure.app, of: value), default: DeviceApp()].departure = Departure(
                before: departure.before, isUninstall: departure.isUninstall)
        }
        replaceFormer(device, by: known)
    }

    /// All that is known of apps on a device is this. The snapshot gets it app by app, and then loses what had all of them.
    private mutating func replaceFormer(_ device: DeviceID, by known: [AppID: DeviceApp]) {
        let name = devices[device].name
        formerDevices.insert(name)
        for app in devices[device].apps.keys { changedAppsOnDevices.insert(AppOnDevice(app: app, device: name)) }
        devices[device].apps = [:]
        for (app, known) in known {
            restore(known, of: app, on: device)
            changedAppsOnDevices.insert(AppOnDevice(app: app, device: name))
        }
    }

    private mutating func restore(_ known: DeviceApp, of app: AppID, on device: DeviceID) {
        devices[device].apps[app] = known.isEmpty ? nil : known
        guard let departure = known.departure else { return }
        startOrdinal = max(startOrdinal, departure.before)
        sweep.devices.insert(device)
    }

    private mutating func restoredApp(_ name: Range<Int>, of bytes: Span<UInt8>) throws(ImageError) -> AppID {
        guard let app = apps.app(FrameRange(name), of: bytes) else {
            throw .contradiction("more apps than there may be")
        }
        return app
    }
}

/// What is stored of an app.
private struct AppFact {
    var seq: UInt64
    var entities: Int
    var digest: UInt64
    var settings: ActivitySettings
    var enabledVersion: UInt64
    var frequentPushesVersion: UInt64
    var switchedOffAt: UInt64
    var frequentPushesFlippedAt: UInt64
    /// When settings were set that have not reached all of its activities yet; `never` where all have.
    var sweptSince: Instant
    /// When the frequent updates setting was changed last meanwhile; `never` where it was not.
    var flippedOn = Instant.never

    /// The layout.
    static let version: UInt8 = 1
    /// The layout with that behind the rest.
    static let versionWithFlip: UInt8 = 2

    init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == AppFact.version || version == AppFact.versionWithFlip else {
            throw .unknownVersion(version)
        }
        seq = try reader.integer()
        entities = Int(clamping: try reader.integer(UInt64.self))
        digest = try reader.integer()
        settings = ActivitySettings()
        settings.activitiesEnabled = try reader.flag()
        settings.frequentPushesEnabled = try reader.flag()
        enabledVersion = try reader.integer()
        frequentPushesVersion = try reader.integer()
        switchedOffAt = try reader.integer()
        frequentPushesFlippedAt = try reader.integer()
        sweptSince = try reader.instant()
        if version == AppFact.versionWithFlip { flippedOn = try reader.instant() }
    }
}

/// What is stored of an app on a device.
private enum AppOnDeviceFact {
    /// The layout.
    static let version: UInt8 = 1

    /// The names of the app and of the device in a key; nil where it has none.
    static func place(in key: Span<UInt8>) -> (app: FrameRange, device: FrameRange)? {
        guard let slash = (1..<key.count).first(where: { key[$0] == UInt8(ascii: "/") }), slash > 1,
            slash + 1 < key.count
        else { return nil }
        return (FrameRange(1..<slash), FrameRange(slash + 1..<key.count))
    }
}

extension DeviceApp {
    fileprivate init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == AppOnDeviceFact.version else { throw .unknownVersion(version) }
        activitiesEnabled = try Switch(ifThereIn: &reader)
        frequentPushesEnabled = try Switch(ifThereIn: &reader)
        isInBackground = try reader.flag()
        guard try reader.flag() else { return }
        departure = Departure(before: try reader.integer(), isUninstall: try reader.flag())
    }
}

extension DeviceApp.Switch {
    fileprivate init?(ifThereIn reader: inout ImageReader) throws(ImageError) {
        guard try reader.flag() else { return nil }
        isOn = try reader.flag()
        version = try reader.integer()
    }
}

/// What releases have stored of a device; the apps' names are ranges of the stored bytes.
private struct FormerDeviceFact {
    struct Own {
        var app: Range<Int>
        var activitiesEnabled: DeviceApp.Switch?
        var frequentPushesEnabled: DeviceApp.Switch?
    }

    /// The layout.
    private static let version: UInt8 = 1
    /// The layout with departures behind the rest.
    static let versionWithDepartures: UInt8 = 2

    var settings: [Own] = []
    var backgroundApps: [Range<Int>] = []
    var departures: [(app: Range<Int>, before: UInt64, isUninstall: Bool)] = []

    init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == Self.version || version == Self.versionWithDepartures else {
            throw .unknownVersion(version)
        }
        for _ in 0..<(try reader.integer(UInt32.self)) {
            settings.append(
                Own(
                    app: try reader.run(), activitiesEnabled: try DeviceApp.Switch(ifThereIn: &reader),
                    frequentPushesEnabled: try DeviceApp.Switch(ifThereIn: &reader)))
        }
        for _ in 0..<(try reader.integer(UInt32.self)) { backgroundApps.append(try reader.run()) }
        guard version == Self.versionWithDepartures else { return }
        for _ in 0..<(try reader.integer(UInt32.self)) {
            departures.append((try reader.run(), before: try reader.integer(), isUninstall: try reader.flag()))
        }
    }
}
