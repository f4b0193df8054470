/// What a command about an app group does.
package enum GroupOperation: Equatable, Sendable, BitwiseCopyable {
    /// With the exact bytes of a JSON array of apps, where it is not the creator alone.
    case create(GroupAddress, members: FrameRange?)
    case admit(GroupAddress, member: FrameRange)
    case leave(GroupAddress)
    /// The owner gives the group up, which has no key any more.
    case remove(GroupAddress)
    case set(GroupKeyAddress, value: FrameRange)
    case delete(GroupKeyAddress)
    /// A signal of this name, without data.
    case notify(GroupAddress, name: FrameRange)
    case get(GroupKeyAddress)
    case list(GroupList)
    case info(GroupAddress)

    /// The group, and the app that asks.
    package var address: GroupAddress {
        switch self {
        case .create(let address, _), .admit(let address, _), .leave(let address), .remove(let address),
            .notify(let address, _), .info(let address):
            address
        case .set(let key, _), .delete(let key), .get(let key): key.group
        case .list(let list): list.group
        }
    }
}

/// A group, and the app that asks, which must be a member.
package struct GroupAddress: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    package var group: FrameRange

    package init(app: FrameRange, group: FrameRange) {
        self.app = app
        self.group = group
    }
}

/// A key of a group.
package struct GroupKeyAddress: Equatable, Sendable, BitwiseCopyable {
    package var group: GroupAddress
    package var key: FrameRange

    package init(group: GroupAddress, key: FrameRange) {
        self.group = group
        self.key = key
    }
}

/// `group.list`.
package struct GroupList: Equatable, Sendable, BitwiseCopyable {
    package var group: GroupAddress
    package var prefix: FrameRange?
    /// 1...1 000.
    package var limit: Int = 50
    package var cursor: FrameRange?

    package init(group: GroupAddress) {
        self.group = group
    }
}
