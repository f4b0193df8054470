/// Something that changed without an event, and that must survive a crash nevertheless.
package enum EngineNote: Equatable, Sendable {
    /// An app's settings.
    case app(AppID)
    /// What a device reported or was set to, by its name, since it may be forgotten by now.
    case device([UInt8])
    /// The last sign of life of an activity.
    case activity(Slot)
    /// What a control kind is.
    case controlKind(ControlKindID)
    /// Whether a device is locked, by its name.
    case lock([UInt8])
    /// The members of a group.
    case group(GroupID)
    /// What a widget kind is, its relevance or its recommendations.
    case widgetKind(DeclaredKindID)
    /// What decides on a device whether reloads of widgets are charged, by its name.
    case conditions([UInt8])
    /// How many requests a widget's held reload stands for.
    case heldReload(Slot)
    /// Whether a reload of controls that a command asked for has not reached all of them.
    case controlReload(SweptKinds)
    /// The same of widgets.
    case widgetReload(SweptKinds)
}

/// What the engine knows beside its activities, as keys and values that recovery reads back: apps with their streams and
/// settings, devices with their own settings and background apps.
extension Engine {
    private static let appTag = UInt8(ascii: "a")
    private static let deviceTag = UInt8(ascii: "d")

    /// The key of an app's fact.
    package func factKey(app: AppID) -> [UInt8] { [Engine.appTag] + apps[app].name }

    /// The key of a device's fact.
    package func factKey(device name: [UInt8]) -> [UInt8] { [Engine.deviceTag] + name }

    /// An app: how far its stream is, and its settings.
    package func writeFact(app: AppID, to writer: inout ImageWriter) {
        let record = apps[app]
        let isSwept = sweep.isUnderway && record.sweepNumber == sweep.number
        // What an older release reads too, where there is nothing that it does not know.
        let hasFlip = isSwept && record.frequentPushesFlippedOn.isSet
        writer.write(byte: hasFlip ? AppFact.versionWithFlip : ActivityImage.version)
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

    /// A device's own settings and background apps; false where nothing is known that a fact would tell.
    package func writeFact(device name: [UInt8], to writer: inout ImageWriter) -> Bool {
        guard let device = devices.find(name), let record = devices.record(device),
            !record.settings.isEmpty || !record.backgroundApps.isEmpty || !record.departures.isEmpty
        else {
            return false
        }
        // What an older release reads too, where there is nothing that it does not know.
        writer.write(byte: record.departures.isEmpty ? ActivityImage.version : DeviceFact.versionWithDepartures)
        writer.write(UInt32(record.settings.count))
        for own in record.settings {
            writer.write(run: apps[own.app].name)
            write(own.activitiesEnabled, to: &writer)
            write(own.frequentPushesEnabled, to: &writer)
        }
        writer.write(UInt32(record.backgroundApps.count))
        // In the order of their numbers: the same state gives the same bytes.
        for app in record.backgroundApps.sorted() { writer.write(run: apps[app].name) }
        if record.departures.isEmpty { return true }
        writer.write(UInt32(record.departures.count))
        for departure in record.departures {
            writer.write(run: apps[departure.app].name)
            writer.write(departure.before)
            writer.write(departure.isUninstall)
        }
        return true
    }

    private func write(_ own: DeviceSettings.Switch?, to writer: inout ImageWriter) {
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
            try restore(device: device, value)
            if !isInSnapshot { changedDevices.insert(devices[device].name) }
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
            let name = key.bytes(FrameRange(1..<key.count))
            widgets.conditions[name] = nil
            widgets.changedConditions.insert(name)
            return true
        }
        guard key[0] == Engine.deviceTag else { return false }
        if let device = devices.find(FrameRange(1..<key.count), of: key) {
            changedDevices.insert(devices[device].name)
            devices[device].settings = []
            devices[device].backgroundApps = []
            devices[device].departures = []
        }
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

    private mutating func restore(device: DeviceID, _ value: Span<UInt8>) throws(ImageError) {
        let fact = try ImageReader.read(value) { reader throws(ImageError) in try DeviceFact(&reader) }
        var settings: [DeviceSettings] = []
        for own in fact.settings {
            settings.append(
                DeviceSettings(
                    app: try restoredApp(own.app, of: value), activitiesEnabled: own.activitiesEnabled,
                    frequentPushesEnabled: own.frequentPushesEnabled))
        }
        var background: Set<AppID> = []
        for name in fact.backgroundApps { background.insert(try restoredApp(name, of: value)) }
        var departures: [Departure] = []
        for departure in fact.departures {
            departures.append(
                Departure(
                    app: try restoredApp(departure.app, of: value), before: departure.before,
                    isUninstall: departure.isUninstall))
            startOrdinal = max(startOrdinal, departure.before)
        }
        devices[device].settings = settings
        devices[device].backgroundApps = background
        devices[device].departures = departures
        if !departures.isEmpty { sweep.devices.insert(device) }
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

    /// The layout with that behind the rest.
    static let versionWithFlip: UInt8 = 2

    init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == ActivityImage.version || version == AppFact.versionWithFlip else {
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

/// What is stored of a device; the apps' names are ranges of the stored bytes.
private struct DeviceFact {
    struct Own {
        var app: Range<Int>
        var activitiesEnabled: DeviceSettings.Switch?
        var frequentPushesEnabled: DeviceSettings.Switch?
    }

    /// The layout with departures behind the rest.
    static let versionWithDepartures: UInt8 = 2

    var settings: [Own] = []
    var backgroundApps: [Range<Int>] = []
    var departures: [(app: Range<Int>, before: UInt64, isUninstall: Bool)] = []

    init(_ reader: inout ImageReader) throws(ImageError) {
        let version = try reader.byte()
        guard version == ActivityImage.version || version == DeviceFact.versionWithDepartures else {
            throw .unknownVersion(version)
        }
        for _ in 0..<(try reader.integer(UInt32.self)) {
            let app = try reader.run()
            let activities = try DeviceFact.readSwitch(&reader)
            settings.append(
                Own(
                    app: app, activitiesEnabled: activities, frequentPushesEnabled: try DeviceFact.readSwitch(&reader)))
        }
        for _ in 0..<(try reader.integer(UInt32.self)) { backgroundApps.append(try reader.run()) }
        guard version == DeviceFact.versionWithDepartures else { return }
        for _ in 0..<(try reader.integer(UInt32.self)) {
            departures.append((try reader.run(), before: try reader.integer(), isUninstall: try reader.flag()))
        }
    }

    private static func readSwitch(_ reader: inout ImageReader) throws(ImageError) -> DeviceSettings.Switch? {
        guard try reader.flag() else { return nil }
        let isOn = try reader.flag()
        return DeviceSettings.Switch(isOn: isOn, version: try reader.integer())
    }
}
