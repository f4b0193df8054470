/// An app's number in the engine.
package typealias AppID = UInt32
/// The number of an (app, activity type) pair in the engine.
package typealias KindID = UInt32

/// The two switches of Apple's `ActivityAuthorizationInfo` (apple-semantics 2.3).
package struct ActivitySettings: Equatable, Sendable, BitwiseCopyable {
    package var activitiesEnabled = true
    package var frequentPushesEnabled = true
}

/// One app: its stream and its settings.
package struct AppRecord: Sendable {
    package let name: [UInt8]
    /// The last sequence number that was given: dense from 1.
    package internal(set) var seq: UInt64 = 0
    /// Its events until here were written before this start, maybe under other rules.
    package internal(set) var seqAtStart: UInt64 = 0
    /// How many listed entities it has.
    package internal(set) var entities: Int = 0
    package internal(set) var digest = Digest()
    /// What holds where a device says nothing of its own.
    var settings = ActivitySettings()
    /// Each rises with a setting of its switch for all devices, which overrides what devices said of it before.
    var enabledVersion: UInt64 = 0
    var frequentPushesVersion: UInt64 = 0
    /// Activities that started before this ordinal were switched off.
    var switchedOffAt: UInt64 = 0
    /// Activities that started before this ordinal had the frequent updates setting changed under them, and back again
    /// before the sweep had reached them.
    var frequentPushesFlippedAt: UInt64 = 0
    /// When the frequent updates setting was changed last during the present sweep; `never` where it was not.
    var frequentPushesFlippedOn = Instant.never
    /// When the latest of its settings was set that the present sweep carries.
    var setAt = Instant(0)
    /// The last sweep that carried settings of it.
    var sweepNumber: UInt64 = 0
    /// Whether it is among the changed apps already.
    var isChanged = false
    /// While it is being restored: what was written of its stream at its end.
    var restored: Restored?

    /// One of its entities took a step.
    ///
    /// - Parameters:
    ///   - from: the revision that was listed until now; nil where none was.
    ///   - to: the one that is listed from now on.
    /// - Returns: the event's sequence number.
    mutating func takeStep(_ topicHash: TopicHash, from: UInt32?, to: UInt32?) -> UInt64 {
        if let from {
            digest.toggle(topicHash: topicHash, revision: UInt64(from))
            entities -= 1
        }
        if let to {
            digest.toggle(topicHash: topicHash, revision: UInt64(to))
            entities += 1
        }
        seq += 1
        return seq
    }

    struct Restored: Sendable {
        var seq: UInt64
        var entities: Int
        var digest: UInt64
    }
}

/// An app's activity type: what its topics begin with.
package struct KindRecord: Sendable {
    package let app: AppID
    package let type: [UInt8]
    /// `<app>/activity/<type>/`.
    package let topicPrefix: [UInt8]
    package let topicHash: TopicHash
}

/// All apps and their kinds. They are never forgotten, so their number is bounded.
package struct AppTable: ~Copyable {
    /// At most this many apps.
    package static let maximumApps = 100_000
    /// At most this many (app, type) pairs.
    package static let maximumKinds = 1_000_000

    package private(set) var apps: [AppRecord] = []
    package private(set) var kinds: [KindRecord] = []
    private var appNames = NameTable()
    /// The app that was asked for last.
    private var recent: AppID = 0
    /// From an app and a type to the kind.
    private var kindIndex = SlotIndex()

    package init() {}

    package subscript(app: AppID) -> AppRecord {
        get { apps[Int(app)] }
        _modify { yield &apps[Int(app)] }
    }

    /// The app's name alone, which has the same number: to take it from the record, the whole of that was copied.
    package func name(of app: AppID) -> [UInt8] { appNames[app] }

    /// Until which sequence number its events were written before this start, as above.
    package func seqAtStart(of app: AppID) -> UInt64 { apps[Int(app)].seqAtStart }

    /// The app's last sequence number alone, as above.
    package func seq(of app: AppID) -> UInt64 { apps[Int(app)].seq }

    package func find(_ name: FrameRange, of frame: Span<UInt8>) -> AppID? { appNames.find(name, of: frame) }

    /// The same, remembering it: commands of one app come in runs, and to compare a name takes a fifth of its keyed hash.
    mutating func recall(_ name: FrameRange, of frame: Span<UInt8>) -> AppID? {
        if Int(recent) < apps.count {
            let isSame = apps[Int(recent)].name.withUnsafeBytes { frame.equals(name, $0) }
            if isSame { return recent }
        }
        guard let found = find(name, of: frame) else { return nil }
        recent = found
        return found
    }

    /// The app of a name, or nil.
    package func find(_ name: [UInt8]) -> AppID? { name.withUnsafeBytes { appNames.find($0) } }

    /// The app of a name, made where it is new; nil where there is no room for another.
    package mutating func app(_ name: FrameRange, of frame: Span<UInt8>) -> AppID? {
        if let known = find(name, of: frame) { return known }
        guard apps.count < AppTable.maximumApps else { return nil }
        let part = frame.extracting(name.indices)
        let number = part.withUnsafeBytes { appNames.intern($0).number }
        apps.append(AppRecord(name: appNames[number]))
        return number
    }

    package func findKind(_ app: AppID, _ type: FrameRange, of frame: Span<UInt8>) -> KindID? {
        let part = frame.extracting(type.indices)
        return part.withUnsafeBytes { bytes in
            kindIndex.find(AppTable.hash(app, bytes)) { kind in
                kinds[Int(kind)].app == app && kinds[Int(kind)].type.withUnsafeBytes { equal($0, bytes) }
            }
        }
    }

    /// The kind of an app and a type, made where it is new; nil where there is no room for another.
    package mutating func kind(_ app: AppID, _ type: FrameRange, of frame: Span<UInt8>) -> KindID? {
        if let known = findKind(app, type, of: frame) { return known }
        guard kinds.count < AppTable.maximumKinds else { return nil }
        let bytes = frame.bytes(type)
        let number = KindID(kinds.count)
        kindIndex.insert(bytes.withUnsafeBytes { AppTable.hash(app, $0) }, number)
        let prefix = apps[Int(app)].name + Array("/activity/".utf8) + bytes + [UInt8(ascii: "/")]
        var hash = TopicHash()
        for byte in prefix { hash.combine(byte) }
        kinds.append(KindRecord(app: app, type: bytes, topicPrefix: prefix, topicHash: hash))
        return number
    }

    /// Like ``NameTable``'s: keyed anew in each process.
    private static func hash(_ app: AppID, _ type: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(app)
        hasher.combine(bytes: type)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

extension Span<UInt8> {
    /// A copy of a run of this frame; for cold paths.
    package func bytes(_ range: FrameRange) -> [UInt8] {
        let part = extracting(range.indices)
        return part.withUnsafeBytes { [UInt8]($0) }
    }
}
