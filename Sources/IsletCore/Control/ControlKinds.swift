/// The number of an (app, control kind) pair in the engine.
package typealias ControlKindID = UInt32

/// A control kind of an app, as a provider declared it last.
package struct ControlKindRecord: Sendable {
    package let app: AppID
    package let name: [UInt8]
    /// `<app>/control/<kind>/`.
    package let topicPrefix: [UInt8]
    package let topicHash: TopicHash
    /// nil: it was never declared, or its declaration is still to be read by recovery.
    package internal(set) var declaration: ControlKindDeclaration?
    /// How many controls of it are placed.
    package internal(set) var controls = 0
    var isChanged = false

    /// How many controls of it have a value to ask for.
    var reloadable: Int { declaration?.hasValue == false ? 0 : controls }
}

/// All control kinds. They are never forgotten, so their number is bounded.
package struct ControlKindTable: ~Copyable {
    /// At most this many (app, kind) pairs.
    package static let maximumKinds = 100_000

    package private(set) var records: [ControlKindRecord] = []
    /// Keyed by the app's four bytes and the kind.
    private var names = NameTable()

    init() {}

    package subscript(kind: ControlKindID) -> ControlKindRecord {
        get { records[Int(kind)] }
        _modify { yield &records[Int(kind)] }
    }

    package func find(_ app: AppID, _ name: [UInt8]) -> ControlKindID? {
        Self.key(app, name).withUnsafeBytes { names.find($0) }
    }

    /// The kind of an app and a name, made where it is new; nil where there is no room for another.
    mutating func kind(_ app: AppID, named appName: [UInt8], _ name: [UInt8]) -> ControlKindID? {
        if let known = find(app, name) { return known }
        guard records.count < Self.maximumKinds else { return nil }
        let number = Self.key(app, name).withUnsafeBytes { names.intern($0).number }
        let prefix = appName + Array("/control/".utf8) + name + [UInt8(ascii: "/")]
        var hash = TopicHash()
        for byte in prefix { hash.combine(byte) }
        records.append(ControlKindRecord(app: app, name: name, topicPrefix: prefix, topicHash: hash))
        return number
    }

    private static func key(_ app: AppID, _ name: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: app) { Array($0) } + name
    }
}
