/// The number of an (app, kind) pair of one family in the engine.
package typealias DeclaredKindID = UInt32

/// What a provider declares of a kind.
package protocol KindDeclaration: Sendable {
    /// The exact bytes of the declaration: what is stored and shown.
    var json: [UInt8] { get }
}

/// A kind of an app, as a provider declared it last.
package struct DeclaredKind<Declaration: KindDeclaration>: Sendable {
    package let app: AppID
    package let name: [UInt8]
    /// `<app>/<family>/<kind>/`.
    package let topicPrefix: [UInt8]
    package let topicHash: TopicHash
    /// nil: it was never declared, or its declaration is still to be read by recovery.
    package fileprivate(set) var declaration: Declaration?
    /// How many instances of it are placed.
    package internal(set) var placed = 0
    var isChanged = false
}

/// All kinds of one family. They are never forgotten, so their number is bounded.
package struct DeclaredKindTable<Declaration: KindDeclaration>: ~Copyable {
    /// At most this many (app, kind) pairs.
    package static var maximumKinds: Int { 100_000 }

    package private(set) var records: [DeclaredKind<Declaration>] = []
    /// The bytes of all declarations, as they were sent.
    package private(set) var declaredBytes = 0
    /// How many kinds of each app are declared.
    private var declaredOf: [AppID: Int] = [:]
    /// Keyed by the app's four bytes and the kind.
    private var names = NameTable()
    /// The kinds of each app, in the order of their names.
    private var sorted: [AppID: [DeclaredKindID]] = [:]
    /// With its slashes, such as `/control/`.
    private let family: [UInt8]

    init(family: StaticString) {
        self.family = Array("/\(family)/".utf8)
    }

    package subscript(kind: DeclaredKindID) -> DeclaredKind<Declaration> {
        get { records[Int(kind)] }
        _modify { yield &records[Int(kind)] }
    }

    /// The kind's app alone: to take it from the record, the whole of that was copied, for each entity that a walk
    /// looks at.
    package func app(of kind: DeclaredKindID) -> AppID { records[Int(kind)].app }

    package func find(_ app: AppID, _ name: [UInt8]) -> DeclaredKindID? {
        Self.key(app, name).withUnsafeBytes { names.find($0) }
    }

    /// The kinds of an app in the order of their names, from the first behind a name on.
    package func kinds(of app: AppID, after name: [UInt8]?) -> ArraySlice<DeclaredKindID> {
        guard let all = sorted[app] else { return [] }
        return all[(name.map { place(of: $0, in: all, isBehind: true) } ?? 0)...]
    }

    /// How many kinds of an app are declared.
    func declaredCount(of app: AppID) -> Int { declaredOf[app] ?? 0 }

    /// What all kinds of an app have of something.
    func sum(of app: AppID, _ share: (DeclaredKind<Declaration>) -> Int) -> Int {
        (sorted[app] ?? []).reduce(0) { $0 + share(records[Int($1)]) }
    }

    /// Where a name stands or would stand among kinds that are sorted; or where the first stands that is behind it.
    private func place(of name: [UInt8], in kinds: [DeclaredKindID], isBehind: Bool = false) -> Int {
        var range = 0..<kinds.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let other = records[Int(kinds[middle])].name
            let isBefore = isBehind ? !name.lexicographicallyPrecedes(other) : other.lexicographicallyPrecedes(name)
            range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// The kind of an app and a name, made where it is new; nil where there is no room for another.
    mutating func kind(_ app: AppID, named appName: [UInt8], _ name: [UInt8]) -> DeclaredKindID? {
        if let known = find(app, name) { return known }
        guard records.count < Self.maximumKinds else { return nil }
        let number = Self.key(app, name).withUnsafeBytes { names.intern($0).number }
        let prefix = appName + family + name + [UInt8(ascii: "/")]
        var hash = TopicHash()
        for byte in prefix { hash.combine(byte) }
        let place = sorted[app].map { self.place(of: name, in: $0) } ?? 0
        sorted[app, default: []].insert(number, at: place)
        records.append(DeclaredKind(app: app, name: name, topicPrefix: prefix, topicHash: hash))
        return number
    }

    /// Takes a declaration in the place of the one before.
    mutating func declare(_ kind: DeclaredKindID, _ declaration: Declaration) {
        let known = records[Int(kind)].declaration
        declaredBytes += declaration.json.count - (known?.json.count ?? 0)
        if known == nil { declaredOf[records[Int(kind)].app, default: 0] += 1 }
        records[Int(kind)].declaration = declaration
    }

    private static func key(_ app: AppID, _ name: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: app) { Array($0) } + name
    }
}
