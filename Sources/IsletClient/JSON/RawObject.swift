/// A JSON object as it came: its members in their order, each with the exact bytes of its value.
public struct RawObject: Sendable, Hashable {
    /// A name and its value.
    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: RawJSON

        /// A member of these two.
        public init(_ name: String, _ value: RawJSON) {
            self.name = name
            self.value = value
        }
    }

    /// The members in their order; no name stands twice.
    public private(set) var members: [Member]

    /// An object without members.
    public init() {
        members = []
    }

    /// The members of `value`; nil where it is no object, or has a name twice.
    public init?(_ value: RawJSON) {
        guard let members = Scan.members(of: value.slice) else { return nil }
        self.members = members
    }

    /// The members of the object that these bytes are; nil where they are not well-formed, or no object.
    public init?(_ bytes: [UInt8]) {
        guard let members = Scan.members(of: bytes[...]) else { return nil }
        self.members = members
    }

    /// The value of a member, nil where it is absent. Setting replaces it in its place, appends, or takes it out.
    public subscript(name: String) -> RawJSON? {
        get { members.first { $0.name.hasSameBytes(as: name) }?.value }
        set {
            let index = members.firstIndex { $0.name.hasSameBytes(as: name) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name, value))
            case (nil, nil): break
            }
        }
    }

    /// Applies a merge patch over the top-level members: absent is unchanged, `null` clears, every other value replaces
    /// the whole member. What is new comes last.
    public mutating func merge(_ patch: RawObject) {
        for member in patch.members {
            self[member.name] = member.value.isNull ? nil : member.value
        }
    }

    /// The object as compact JSON.
    public var json: RawJSON { .object(members) }
}

extension RawObject: ExpressibleByDictionaryLiteral {
    /// An object of these members, in this order; of a name that stands twice the last value counts.
    public init(dictionaryLiteral elements: (String, RawJSON)...) {
        self.init()
        for (name, value) in elements { self[name] = value }
    }
}

extension RawObject: CustomStringConvertible {
    /// The JSON text.
    public var description: String { json.description }
}

extension String {
    /// Names of JSON are the same where their bytes are; to `==`, `é` is the same in one scalar and in two.
    func hasSameBytes(as other: String) -> Bool { self == other && utf8.elementsEqual(other.utf8) }
}
