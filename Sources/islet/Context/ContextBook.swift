package import IsletClient

/// The contexts that a person has named: where services are, and what is meant where nothing else is said.
package struct ContextBook: Sendable, Equatable {
    /// One of them.
    package struct Context: Sendable, Equatable {
        /// The members as the file has them, also those that this version does not know.
        package var members: RawObject

        package init(_ members: RawObject = [:]) {
            self.members = members
        }

        /// What a setting is; nil where it is not there.
        package subscript(setting: Setting) -> String? {
            get { members[setting.rawValue]?.string }
            set { members[setting.rawValue] = newValue.map(RawJSON.string) }
        }
    }

    /// What a context can say.
    package enum Setting: String, CaseIterable, Sendable {
        case commands, events, bulk, app, timeout
    }

    /// Why bytes are no such book.
    package enum Problem: Error, Equatable {
        case notJSON
        /// A member is not what it should be.
        case member(String)
        case newer(format: Int64)
    }

    /// By name, in their order.
    package private(set) var contexts: [(name: String, context: Context)] = []
    /// The one that is used where none is named; nil: none.
    package private(set) var current: String?

    /// What stands for no context at all.
    package static let none = "default"
    /// How many there may be.
    package static let countMax = 256
    /// The form of the file.
    private static let format: Int64 = 1

    package init() {}

    /// Reads the file's bytes.
    package init(_ bytes: [UInt8]) throws(Problem) {
        guard let object = RawObject(bytes) else { throw .notJSON }
        let format = object["format"]?.integer ?? 0
        guard format <= Self.format else { throw .newer(format: format) }
        guard format == Self.format else { throw .member("format") }
        guard let named = object["contexts"]?.object else { throw .member("contexts") }
        for member in named.members {
            guard Self.isName(member.name), let members = member.value.object else {
                throw .member("contexts.\(member.name)")
            }
            for setting in Setting.allCases {
                guard let value = members[setting.rawValue] else { continue }
                guard value.string != nil else { throw .member("contexts.\(member.name).\(setting.rawValue)") }
            }
            contexts.append((member.name, Context(members)))
        }
        guard let current = object["current"], !current.isNull else { return }
        guard let name = current.string, self[name] != nil else { throw .member("current") }
        self.current = name
    }

    /// The file's bytes: one context a line, so that people can read it.
    package var bytes: [UInt8] {
        let lines = contexts.map { "    \(RawJSON.string($0.name)): \($0.context.members.json)" }
        let named = lines.isEmpty ? "{}" : "{\n\(lines.joined(separator: ",\n"))\n  }"
        let current = current.map(RawJSON.string) ?? .null
        return Array("{\n  \"format\": \(Self.format),\n  \"current\": \(current),\n  \"contexts\": \(named)\n}\n".utf8)
    }

    /// The context of a name; nil where there is none. Setting it adds, replaces or takes it out.
    package subscript(name: String) -> Context? {
        get { contexts.first { $0.name == name }?.context }
        set {
            let index = contexts.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let context?): contexts[index].context = context
            case (let index?, nil): contexts.remove(at: index)
            case (nil, let context?): contexts.append((name, context))
            case (nil, nil): break
            }
            if newValue == nil, current == name { current = nil }
        }
    }

    /// Says which one is used where none is named.
    ///
    /// - Returns: whether there is one of that name; nothing changes where there is not.
    package mutating func use(_ name: String?) -> Bool {
        guard let name else {
            current = nil
            return true
        }
        guard self[name] != nil else { return false }
        current = name
        return true
    }

    /// Whether a context may be called so: letters, digits, `.`, `-` and `_`, at most 64.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text != none
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                case _: false
                }
            }
    }

    /// Whether a service may be there: `tcp://HOST:PORT` or `ipc://PATH`.
    package static func isEndpoint(_ text: String) -> Bool {
        if text.hasPrefix("ipc://") { return text.utf8.count > "ipc://".utf8.count }
        guard text.hasPrefix("tcp://") else { return false }
        let address = text.dropFirst("tcp://".count)
        guard let colon = address.lastIndex(of: ":"), colon > address.startIndex else { return false }
        let port = address[address.index(after: colon)...]
        return port.allSatisfy { $0.isASCII && $0.isNumber } && UInt16(port).map { $0 > 0 } ?? false
    }

    /// Whether an app may be called so, by the contract.
    package static func isApp(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                case _: false
                }
            }
    }

    package static func == (left: ContextBook, right: ContextBook) -> Bool {
        left.current == right.current
            && left.contexts.elementsEqual(right.contexts) { $0.name == $1.name && $0.context == $1.context }
    }
}
