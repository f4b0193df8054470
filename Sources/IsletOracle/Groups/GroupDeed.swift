/// A command about an app group, as the oracle understands it.
package struct GroupDeed: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case create(members: [String])
        case admit(String)
        case leave
        case remove
        case info
        case set(key: String, value: String)
        case get(key: String)
        case list(prefix: String?)
        case delete(key: String)
        case notify(String)
    }

    package var group: String
    package var kind: Kind

    package init(_ group: String, _ kind: Kind) {
        self.group = group
        self.kind = kind
    }

    /// Whether it can change anything.
    package var isChange: Bool {
        switch kind {
        case .create, .admit, .leave, .remove, .set, .delete, .notify: true
        case .info, .get, .list: false
        }
    }
}

/// What the answer to a command about a group must say, where it is accepted.
package struct GroupSay: Sendable {
    /// The app on whose stream `seq` is.
    package var owner: String
    /// How many events of groups the stream has had.
    package var events: Int
    /// All members but `req`, `ok` and `seq`.
    package var members: [String: JSON]
    /// Values that stand in it byte for byte.
    package var values: [String] = []
}

/// One event of a group, as it must be told.
package struct GroupTelling: Sendable {
    /// The app on whose stream it is.
    package var owner: String
    package var topic: String
    /// All members but `epoch` and `seq`.
    package var members: [String: JSON]
    /// The value that it carries, byte for byte.
    package var value: String?
    /// Of the key; 0 for a notification.
    package var revision: Int
    package var isListed: Bool
}
